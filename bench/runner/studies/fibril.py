# SPDX-License-Identifier: MIT
"""The evaluation of fibril-spaa16 (section 5), with our presets beside the original."""

from runner import checks as checking
from runner import panels
from runner.rounds import paired, speed_up, value
from runner.studies import Figure, Table
from runner.studies import _fibril_paper as paper
from runner.studies._common import (TWELVE, every, ratio, speed_ups, straw_man_checks, straw_men,
                                    typical, up_to)

ABOUT = "Fibril's evaluation: cost of a fork, speed-up, unmaps, stack space"
PROBLEMS = TWELVE
ROUNDS = 15
SIZE = "quick"
OURS, BOUNDED, PLAIN = "nopal-fibril", "nopal-cilkplus", "nopal"
ONE_WORKER = [PLAIN, OURS, BOUNDED, "tbb", "fibril"]
# The same, but dead pages are kept.
KEEPS = f"{OURS}:budget:unlimited"
SPEED_UP = [PLAIN, OURS, KEEPS, BOUNDED, "tbb", "fibril"]
# A stack is 1 MiB unless asked otherwise, as in the paper.
PAGES_RESERVED = 256


def workers(cores):
    return up_to(cores)


def configurations(wish):
    return (every(wish.problems, ["serial", "profile"], [1]) +
            every(wish.problems, ONE_WORKER, [1]) + every(wish.problems, SPEED_UP, wish.workers))


def judged(wish):
    return straw_men(OURS, "fibril", wish.problems)


def most(result):
    return max(result.wish.workers)


def pages_over_bound(rounds, problem, count):
    """Stack pages over P (S1 + D). One worker is the main thread, whose own stack the counter does
    not have: it is taken for as large as that of the serial run."""
    rows = paired(rounds.column(problem, OURS, count, "stack_pages"),
                  rounds.column(problem, "profile", 1, "serial_pages"),
                  rounds.column(problem, "profile", 1, "depth"))
    return [(pages + s1) / (count * (s1 + d)) for pages, s1, d in rows.values()]


def virtual_over_bound(rounds, problem, count):
    """Stacks, each as large as S1, over D P S1."""
    rows = paired(rounds.column(problem, OURS, count, "stacks"),
                  rounds.column(problem, "profile", 1, "serial_pages"),
                  rounds.column(problem, "profile", 1, "depth"))
    return [stacks * s1 / (d * count * s1) for stacks, s1, d in rows.values()]


def checks(result):
    count = most(result)
    many = f"{count} workers" if count > 1 else "1 worker"
    listed = []
    for problem in result.wish.problems:
        listed.append((f"{problem}: stack pages over P (S1 + D), {many}", "<=", 1.0,
                       lambda r, p=problem: pages_over_bound(r, p, count)))
    for problem in result.wish.problems:
        listed.append((f"{problem}: stacks x S1 over D P S1 pages, {many}", "<=", 1.0,
                       lambda r, p=problem: virtual_over_bound(r, p, count)))
    listed += straw_man_checks(OURS, "fibril", result.wish.problems)
    return checking.evaluate(result.measurement, listed)


def figures(result):
    problems = result.wish.problems
    relative = {}
    for problem in problems:
        bars = {runtime: value(speed_up, result.rounds, problem, runtime, 1)
                for runtime in ONE_WORKER}
        relative[problem] = {runtime: known for runtime, known in bars.items() if known}
    return [
        Figure("Figure 3: relative performance with one worker",
               panels.bars(relative, "T_serial / T1", line_at=1),
               "Below one: slower than the serial elision. The compiler inlines the elision's "
               "recursion, which it cannot do for one that forks."),
        Figure("Figure 4: speed-up", panels.curves(
            speed_ups(result, problems, SPEED_UP, result.wish.workers), "T_serial / T_P",
            line_at=1), f"The paper draws 1 to {paper.THREADS} threads. {KEEPS} is "
            "Fibril without unmap. By path, Fibril starts no more workers than there are "
            "processors."),
    ]


def ratios_table(result):
    count = most(result)
    rows = []
    for problem in result.wish.problems:
        theirs = paper.RATIOS.get(problem, (None,) * 4)
        ours = [ratio(result, problem, OURS, other, n) for n in (1, count)
                for other in (BOUNDED, "tbb")]
        rows.append([problem, *(cell for pair in zip(theirs, ours) for cell in pair)])
    head = ["problem"]
    for threads, n in ((1, 1), (paper.THREADS, count)):
        for other in ("Cilk Plus", "TBB"):
            head += [f"paper: over {other}, {threads}", f"here, {n}"]
    return Table("Speed of Fibril over the others", head, rows,
                 "The paper's are those that its text states; here: "
                 f"{OURS} over {BOUNDED} and over oneTBB, paired medians. The number is that of "
                 "the threads or workers.")


def table_2(result):
    count = most(result)
    rows = []
    for problem in result.wish.problems:
        ours = [typical(result, problem, OURS, count, "steals"),
                typical(result, problem, OURS, count, "unmaps")]
        ours += [typical(result, problem, runtime, count, "minor_faults")
                 for runtime in (OURS, BOUNDED, "tbb")]
        theirs = paper.OPERATIONS.get(problem, (None,) * 5)
        rows.append([problem, *(cell for pair in zip(theirs, ours) for cell in pair)])
    head = ["problem"]
    for what in ("steals", "unmaps", "faults, Fibril", "faults, Cilk Plus", "faults, TBB"):
        head += [f"paper: {what}", "here"]
    return Table(f"Table 2: steals, unmaps, page faults with {count} workers", head, rows,
                 f"Here: {OURS}, {BOUNDED}, oneTBB; page faults are those during the "
                 f"computation. The paper's are with {paper.THREADS} threads.")


def table_3(result):
    count = most(result)
    rows = []
    for problem in result.wish.problems:
        d = typical(result, problem, "profile", 1, "depth")
        s1 = typical(result, problem, "profile", 1, "serial_pages")
        bound = None if d is None or s1 is None else s1 + d
        pages = [typical(result, problem, runtime, count, "stack_pages")
                 for runtime in (OURS, PLAIN)]
        ours = [d, s1, bound] + [None if p is None or s1 is None else (p + s1) / count
                                 for p in pages]
        theirs = paper.STACK_SPACE.get(problem, (None,) * 4)
        rows.append([problem, *(cell for pair in zip(theirs, ours) for cell in pair), ours[4]])
    return Table(f"Table 3: stack pages for each of {count} workers",
                 ["problem", "paper: D", "here", "paper: S1", "here", "paper: S1 + D", "here",
                  f"paper: S{paper.THREADS} / {paper.THREADS}", f"here: S{count} / {count}",
                  f"here, {PLAIN}"], rows,
                 "D and S1 are those of the serial elision at this size, on a stack of its own. "
                 f"Stack pages are those of {OURS} when the computation ends, and S1 more for the "
                 "main thread's own stack, which is not counted.")


def table_4(result):
    count = most(result)

    def memory(problem, runtime):
        peak = typical(result, problem, runtime, count, "max_rss_kib")
        before = typical(result, problem, runtime, count, "rss_before_kib")
        if peak is None or before is None:
            return None
        return f"{(peak - before) / 1024:.1f}/{peak / 1024:.1f}"
    rows = []
    for problem in result.wish.problems:
        ours = [memory(problem, runtime) for runtime in (OURS, BOUNDED, "tbb")]
        ours += [typical(result, problem, runtime, count, "stacks") for runtime in (OURS, BOUNDED)]
        theirs = paper.MEMORY.get(problem, (None,) * 5)
        rows.append([problem, *(cell for pair in zip(theirs, ours) for cell in pair)])
    head = ["problem"]
    for what in ("Fibril", "Cilk Plus", "TBB", "stacks, Fibril", "stacks, Cilk Plus"):
        head += [f"paper: {what}", "here"]
    return Table(f"Table 4: increase of RSS / peak RSS in MB, and stacks, with {count} workers",
                 head, rows, "The increase is over what was resident before the computation. "
                 f"The paper's are with {paper.THREADS} threads.")


def virtual_table(result):
    count = most(result)
    rows = []
    for problem in result.wish.problems:
        d = typical(result, problem, "profile", 1, "depth")
        s1 = typical(result, problem, "profile", 1, "serial_pages")
        stacks = typical(result, problem, OURS, count, "stacks")
        reserved = None if stacks is None else stacks * PAGES_RESERVED
        used = None if stacks is None or s1 is None else stacks * s1
        bound = None if d is None or s1 is None else d * count * s1
        rows.append([problem, stacks, reserved, used, bound])
    return Table("Virtual space of the stacks, in pages",
                 ["problem", "stacks", f"stacks x {PAGES_RESERVED} (reserved)", "stacks x S1",
                  f"D P S1, P = {count}"], rows,
                 "Theorem 4.1 lets each of at most D P stacks grow as large as S1; a real stack "
                 "reserves 1 MiB, whatever S1 is. The check compares stacks x S1.")


def tables(result):
    return [ratios_table(result), table_2(result), table_3(result), table_4(result),
            virtual_table(result)]
