# SPDX-License-Identifier: MIT
"""The figures and tables of the study of Nowa."""

from runner import panels
from runner.rounds import geometric_mean, paired, value
from runner.rounds import speed_up as rounds_speed_up
from runner.studies import Figure, Table
from runner.studies import _nowa_paper as paper
from runner.studies import _nowa_parts as parts
from runner.studies._common import ratio, speed_ups, typical

MEAN = "mean without knapsack"


def most(result):
    return max(result.wish.workers)


def picture(result):
    """Less than a figure of the paper has: one number of workers, and of OpenMP one library."""
    count = most(result)
    speeds = {problem: {runtime: known for runtime in parts.PICTURED if (
        known := value(rounds_speed_up, result.rounds, problem, runtime, count))}
              for problem in result.wish.problems}
    return Figure(f"Speed-up over the serial program, {count} workers",
                  panels.bars(speeds, "T_serial / T_P", line_at=1))


def figures(result):
    problems = result.wish.problems
    workers = result.wish.workers
    many = result.wish.narrow(parts.MANY)
    speed_up = "T_serial / T_P"
    both = [("lock against wait-free join", "Locked and wait-free join, both with THE",
             [p for p in parts.JOIN_PROBLEMS if p in problems], parts.JOINS),
            ("pool", "The pool of stacks under stress",
             [p for p in [parts.STRESS_PROBLEM] if p in problems], parts.STRESS)]
    return [
        Figure("Figure 7: speed-up", panels.curves(
            speed_ups(result, problems, parts.FIGURE_7, workers), speed_up, line_at=1),
            f"The paper draws 1 to {paper.THREADS} threads. As there, Fibril does not unmap "
            f"here ({parts.LOCKED}); the original by path always does."),
        Figure("Figure 8: what madvise() costs", panels.curves(
            speed_ups(result, problems, parts.FIGURE_8, workers), speed_up, line_at=1),
            f"{parts.OURS} keeps its pages; {parts.ADVISING} gives them back at each suspension, "
            "with MADV_DONTNEED."),
        Figure("Figure 9: Chase-Lev deque against THE", panels.curves(
            speed_ups(result, problems, parts.FIGURE_9, workers), speed_up, line_at=1),
            f"Both with the wait-free join; {parts.LOCKED} has THE and the locked join."),
        *(Figure(f"{title}, {many[0]} to {many[-1]} workers" if many else title, panels.curves(
            speed_ups(result, chosen, runtimes, many), speed_up, line_at=1),
            f"On {result.wish.cores} cores.") for _, title, chosen, runtimes in both),
        Figure("Figure 10: OpenMP tasks", panels.curves(
            speed_ups(result, problems, parts.FIGURE_10, workers), speed_up, line_at=1, log=True),
            "A hollow mark that points down: at most so fast, the run was stopped. openmp-llvm is "
            "compiled by Clang, which makes other code of the base cases; so its lu is faster than "
            "the serial program, which GCC compiled."),
    ]


def mean(result, problems, first, second, workers):
    """Over the problems that both have, less the unsteady one."""
    steady = [problem for problem in problems if problem != parts.UNSTEADY
              and ratio(result, problem, first, second, workers)]
    return value(geometric_mean, result.rounds, steady, (first, workers), (second, workers))


def ratios(result, title, columns, note):
    """A line for each problem and their mean; columns are (name, paper's numbers, first, second).

    The paper's numbers stand beside ours where it gives any.
    """
    count = most(result)
    problems = result.wish.problems
    rows = []
    for problem in [*problems, "mean"]:
        row = [MEAN if problem == "mean" else problem]
        for _, theirs, first, second in columns:
            ours = (mean(result, problems, first, second, count) if problem == "mean" else
                    ratio(result, problem, first, second, count))
            row += [theirs.get(problem), ours] if theirs else [ours]
        rows.append(row)
    head = ["problem"]
    for name, theirs, *_ in columns:
        head += [f"paper: {name}", "here"] if theirs else [name]
    note += f" Paired medians with {count} workers"
    if any(theirs for _, theirs, *_ in columns):
        note += (f"; the paper's are with {paper.THREADS} threads, its means over twelve problems "
                 "less knapsack")
    return Table(title, head, rows,
                 f"{note.strip()}. Our means are over all that is measured but knapsack.")


def comparison(result):
    return ratios(result, "Speed of Nowa over the others", [
        ("Fibril", paper.OVER_FIBRIL, parts.OURS, parts.LOCKED),
        ("Cilk Plus", paper.OVER_CILKPLUS, parts.OURS, "nopal-cilkplus"),
        ("TBB", paper.OVER_TBB, parts.OURS, "tbb"),
        ("child stealing", {}, parts.OURS, parts.CHILD_STEALING)],
        f"Here: {parts.OURS} over {parts.LOCKED}, nopal-cilkplus, oneTBB, and child stealing with "
        "the same deque.")


def orders(result):
    """knapsack as it is and with its forks swapped, each runtime over oneTBB."""
    count = most(result)
    rows = [[runtime, *(ratio(result, problem, runtime, "tbb", count)
                        for problem in (parts.UNSTEADY, parts.SWAPPED))]
            for runtime in parts.FIGURE_7 if runtime != "tbb"]
    return Table(f"knapsack in both orders of its forks: speed over oneTBB, {count} workers",
                 ["runtime", "as it is", "swapped"], rows,
                 "In the paper Nowa is slower than TBB as it is (0.21) and faster when swapped: "
                 "child stealing tries the branches in the reverse order.")


def child_stealing(result):
    """Section II.B: what each fork costs where the child is offered, and each steal where the
    continuation is."""
    count = most(result)
    rows = []
    for problem in result.wish.problems:
        closures = value(closures_per_fork, result.rounds, problem, count)
        steals = [typical(result, problem, runtime, count, "steals")
                  for runtime in (parts.CHILD_STEALING, parts.OURS)]
        changes = typical(result, problem, parts.OURS, count, "suspensions")
        rows.append([problem, closures, *steals,
                     None if None in (steals[1], changes) else steals[1] + changes])
    return Table(f"Child and continuation stealing, {count} workers",
                 ["problem", "closures per fork", "steals of children", "steals of continuations",
                  "changes of stack"], rows,
                 f"{parts.CHILD_STEALING} allocates a closure for each fork, of which knapsack has "
                 f"more in the reverse order, and never changes a stack; {parts.OURS} allocates "
                 "nothing for a fork, and changes the stack at each steal and each suspension.")


def closures_per_fork(rounds, problem, count):
    lines = rounds.column(problem, parts.CHILD_STEALING, count, "told")
    forks = rounds.column(problem, parts.CHILD_STEALING, count, "forks")
    return [line["closures"] / n for line, n in paired(lines, forks).values()]


def presets(result):
    return ratios(result, "Speed of nopal over its presets and oneTBB", [
        (runtime, {}, parts.PLAIN, runtime) for runtime in [*parts.PRESETS, "tbb"]], "")


def madvise(result):
    return ratios(result, "Speed with madvise() over that without", [
        ("Nowa", paper.MADVISE, parts.ADVISING, parts.OURS),
        ("Fibril", paper.MADVISE_FIBRIL, "nopal-fibril", parts.LOCKED)],
        f"Here: {parts.ADVISING} over {parts.OURS}, nopal-fibril over {parts.LOCKED}. The paper's "
        "Nowa advises MADV_FREE, ours MADV_DONTNEED.")


def deques(result):
    return ratios(result, "Speed with the Chase-Lev deque over that with THE", [
        ("Nowa", paper.CHASE_LEV, parts.OURS, parts.THE)],
        f"Here: {parts.OURS} over {parts.THE}.")


def rss_table(result):
    count = most(result)
    rows = []
    for problem in result.wish.problems:
        ours = [typical(result, problem, runtime, count, "max_rss_kib")
                for runtime in (parts.OURS, parts.ADVISING)]
        theirs = paper.RSS.get(problem, (None, None))
        rows.append([problem, *theirs, *(None if kib is None else f"{kib / 1024:.1f}"
                                         for kib in ours)])
    return Table(f"Table II: peak RSS in MiB with {count} workers",
                 ["problem", "paper: without madvise()", "paper: with", "here: without",
                  "here: with"], rows,
                 "The paper's last line names fft a second time, for fib it seems; it is left out. "
                 "The paper advises MADV_FREE: such pages stay resident until memory is short. "
                 "Here it is MADV_DONTNEED.")


def joins(result):
    """Wait-free over locked, at each number of workers."""
    many = result.wish.narrow(parts.MANY)
    rows = [[problem, *(ratio(result, problem, parts.THE, parts.LOCKED, count)
                        for count in many)]
            for problem in parts.JOIN_PROBLEMS if problem in result.wish.problems]
    return Table("Speed with the wait-free join over that with the lock, both with THE",
                 ["problem", *(f"{count} workers" for count in many)], rows,
                 f"{parts.THE} over {parts.LOCKED}, on {result.wish.cores} cores.")


def stress(result):
    many = result.wish.narrow(parts.MANY)
    rows = []
    if parts.STRESS_PROBLEM in result.wish.problems:
        for runtime in parts.STRESS:
            for what, field in (("seconds", "time_s"), ("stacks", "stacks")):
                rows.append([f"{runtime}, {what}",
                             *(typical(result, parts.STRESS_PROBLEM, runtime, count, field)
                               for count in many)])
    return Table(f"The pool of stacks under stress ({parts.STRESS_PROBLEM})",
                 ["", *(f"{count} workers" for count in many)], rows,
                 f"On {result.wish.cores} cores. In the paper Nowa's speed-up falls from 28 with "
                 f"128 threads to 20 with {paper.THREADS}, which it lays to the pool.")


def openmp_times(result):
    count = most(result)

    def time(problem, runtime):
        limit = result.rounds.stopped_at(problem, runtime, count)
        if limit is not None:
            return f"> {limit:g}"
        return typical(result, problem, runtime, count, "time_s")
    rows = []
    ours = [parts.OURS, "openmp-llvm-untied", "openmp-llvm", "openmp-gcc-untied", "openmp-gcc"]
    for problem in result.wish.problems:
        theirs = paper.OPENMP.get(problem, (None,) * 3)
        rows.append([problem, *theirs, *(time(problem, runtime) for runtime in ours)])
    return Table(f"Table III: seconds, {count} workers here, {paper.THREADS} threads in the paper",
                 ["problem", "paper: Nowa", "paper: libomp untied", "paper: libomp tied",
                  *(f"here: {runtime}" for runtime in ours)], rows,
                 f"> : stopped. The paper ran its own sizes; this run's size is "
                 f"{result.wish.size}.")


def openmp(result):
    return ratios(result, "Speed of Nowa over OpenMP tasks", [
        ("libgomp untied", paper.OVER_LIBGOMP, parts.OURS, "openmp-gcc-untied"),
        ("libgomp tied", {}, parts.OURS, "openmp-gcc"),
        ("libomp untied", paper.OVER_LIBOMP_UNTIED, parts.OURS, "openmp-llvm-untied"),
        ("libomp tied", paper.OVER_LIBOMP_TIED, parts.OURS, "openmp-llvm")],
        f"Here: {parts.OURS}.")


def openmp_nopal(result):
    return ratios(result, "Speed of nopal over OpenMP tasks", [
        (runtime, {}, parts.PLAIN, runtime) for runtime in parts.OPENMP], "")


def tables(result):
    return [comparison(result), orders(result), child_stealing(result), presets(result),
            madvise(result), rss_table(result), deques(result), joins(result), stress(result),
            openmp_times(result), openmp(result), openmp_nopal(result)]
