# SPDX-License-Identifier: MIT
"""Stopping early: what it costs where nothing is stopped, and how soon all have stopped.

Section 7.4 of manticore-icfp08 measures the cost in its Figure 11, the time until all have stopped
in Figures 12 and 13. Its machine had eight processors. Where there are more vprocs than processors,
that time depends on when the kernel runs the threads that are to stop.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from runner import checks as checking
from runner import draw, panels, study_text
from runner.programs import AGAIN, BEFORE
from runner.rounds import NotMeasured, enough, paired, ratios, value
from runner.studies import Figure, Table, _counted
from runner.studies._common import every, metric

ABOUT = "stopping early: its cost where unused, how soon all stop, beside oneTBB and OpenMP"
PROGRAMS = ["shapes"]
COMPARES_BUILDS = True
OURS, TBB = "nopal", "tbb"
PEERS = [TBB, "openmp-gcc", "openmp-llvm"]
FIB, CANCEL, ANSWER, LOOP, TREE, THROW = (f"cancelling@{n}" for n in range(1, 7))
STOPS = {CANCEL: "cancel", ANSWER: "answer"}
SEARCHES = {LOOP: "loop", TREE: "tree"}
MOMENTS = {"first_us": "time to the first answer", "all_us": "time until all have stopped"}
LEAVES = ["first", "last"]
FIB_29 = "fib@29"
PROBLEMS = ["cancelling"]
ROUNDS = 15
SIZE = "quick"
JUDGED_WORKERS = 2
INSIDE_MOST, ADDED_MOST, P99_MOST_US = 1.02, 1.5, 100.0
# Of the paper: O_c / O_ws in Figure 11, whatever the number of processors. Its text gives no other
# number of the three figures.
PAPER_OVERHEADS = 2.5


def workers(_cores):
    """Those of the paper's Figures 11 to 13, less six."""
    return [1, 2, 4, 8]


def side_by_side(wish):
    """The numbers of workers with which runtimes are compared."""
    return [count for count in wish.workers if count <= max(wish.cores, JUDGED_WORKERS)]


def judged(wish):
    both = [count for count in wish.workers if count == JUDGED_WORKERS]
    return (every([FIB], [OURS], [1]) + every([CANCEL], [OURS], both) +
            every(SEARCHES, [OURS, *PEERS], both) + every([THROW], [OURS, TBB], both))


def configurations(wish):
    older = every([FIB_29], [OURS, BEFORE, AGAIN], [1]) if wish.before else []
    return (judged(wish) + older + every([FIB, *STOPS], [OURS], wish.workers) +
            every(SEARCHES, [OURS, *PEERS], side_by_side(wish)) +
            every([THROW], [OURS, TBB], side_by_side(wish)))


def extra(build, wish):
    """Instructions per fork of fib, by today's library and by that of the older build."""
    counts, failures = {}, []
    if wish.before:
        print("counting instructions", file=sys.stderr)
        for name, folder in ((OURS, build.bench), (BEFORE, build.folders[BEFORE])):
            try:
                counts[name] = instructions(folder / "shapes")
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                failures.append(f"The instructions of {name} were not counted: {error}.")
    return {"instructions": counts, "failures": failures}


def instructions(program):
    if shutil.which("valgrind") is None:
        raise ValueError("valgrind was not found (valgrind)")
    with tempfile.TemporaryDirectory() as scratch:
        bare = pathlib.Path(scratch) / program.name
        _counted.strip(program, bare)
        return round(_counted.of_shape(str(bare), "fib")["instructions"], 1)


def numbers(rounds, *which):
    return list(metric(rounds, *which).values())


def over(rounds, problem, count, name, theirs):
    return ratios(metric(rounds, problem, OURS, count, name),
                  metric(rounds, problem, theirs, count, name))


def fib_times(rounds, count, *names):
    """Of each round, the seconds that fib(29) took in each of these ways."""
    return list(paired(*(metric(rounds, FIB, OURS, count, name) for name in names)).values())


def inside(rounds, count):
    return [scope / plain for scope, plain in fib_times(rounds, count, "inside", "plain")]


def overheads(rounds, count, cores):
    """O_c / O_ws of the paper: processor time above the serial program's, with a cancel scope for
    each fork and without."""
    busy = min(count, cores)
    return [(busy * each - serial) / (busy * plain - serial)
            for each, plain, serial in fib_times(rounds, count, "each", "plain", "serial")]


def added(rounds, count, cores):
    """What the scopes add, in overheads of forks without."""
    return [ratio - 1 for ratio in overheads(rounds, count, cores)]


def more_instructions(result):
    counts = result.extra["instructions"]
    if not {OURS, BEFORE} <= counts.keys():
        raise NotMeasured("needs a build without cancellation, --before DIR")
    return [counts[OURS] - counts[BEFORE]]


def listed(result):
    cores = result.wish.cores
    rows = [
        ("fib: instructions per fork more than in the older build, without cancellation", "<=",
         0.5, lambda _: more_instructions(result)),
        ("fib(29) in a cancel scope over the same without, one vproc", "<=", INSIDE_MOST,
         lambda rounds: enough(inside(rounds, 1))),
        ("fib(29) with a cancel scope for each fork, one vproc: what that adds, over the overhead "
         "of the forks", "<=", ADDED_MOST, lambda rounds: enough(added(rounds, 1, cores))),
        ("the same: overhead with the scopes over that without", "<=", ADDED_MOST,
         lambda rounds: enough(overheads(rounds, 1, cores))),
        ("20 queens, two vprocs: 99th percentile of the time of `cancel`, us", "<=", P99_MOST_US,
         lambda rounds: numbers(rounds, CANCEL, OURS, JUDGED_WORKERS, "p99_us"))]
    for problem, what in SEARCHES.items():
        for moment, words in MOMENTS.items():
            for peer in PEERS:
                rows.append((f"{what}, two workers: {words} over that of {peer}", "<=", 1.0,
                             lambda rounds, p=problem, m=moment, other=peer:
                             enough(over(rounds, p, JUDGED_WORKERS, m, other))))
    for leaf in LEAVES:
        rows.append((f"the {leaf} of 2^20 leaves throws, two workers: time over that of {TBB}",
                     "<=", 1.0, lambda rounds, name=leaf:
                     enough(over(rounds, THROW, JUDGED_WORKERS, name, TBB))))
    return rows


def checks(result):
    return checking.evaluate(result.measurement, listed(result))


def cell(result, compute, *arguments):
    return value(compute, result.rounds, *arguments)


def scaled(rounds, factor, *which):
    return [factor * number for number in numbers(rounds, *which)]


def shared(result, count):
    """The number of vprocs as text, marked where they share processors."""
    return f"{count}" + ("" if count <= result.wish.cores else ", shared")


def older_table(result):
    counts = result.extra["instructions"]
    rows = [["instructions per fork", counts.get(BEFORE), counts.get(OURS), None],
            ["fib(29), ms", *(cell(result, lambda rounds, who=runtime:
                                   [1e3 * s for s in rounds.column(FIB_29, who, 1).values()])
                              for runtime in (BEFORE, OURS, AGAIN))]]
    said = "" if result.wish.before else \
        "No older build was given (--before DIR), so today's is compared with none."
    return Table("Compiled in and unused: an older build without cancellation, and today's, one "
                 "vproc", ["", "without", "with", "with, once more"], rows, said)


def fib_table(result):
    cores = result.wish.cores
    rows = [[shared(result, count),
             *(cell(result, scaled, 1e3, FIB, OURS, count, name)
               for name in ("serial", "plain", "inside", "each")),
             cell(result, inside, count), cell(result, overheads, count, cores), PAPER_OVERHEADS,
             cell(result, added, count, cores)] for count in result.wish.workers]
    return Table("fib(29), after the paper's Figure 11: milliseconds, and ratios",
                 ["vprocs", "serial", "forks", "in a cancel scope", "a scope for each fork",
                  "in a scope / forks", "overhead with scopes / without", "the paper's",
                  "scopes add"],
                 rows, "The least of 9 runs in each process. The overhead is the processor time "
                 "above that of the serial program, whose calls are not inlined. The paper plots "
                 "the overhead with a cancelable for each fork over that without, 2.5: it counts "
                 "what the forks cost by themselves, which is 1, and what cancelables add, 1.5. "
                 "`scopes add` is the second part alone. Both are judged by 1.5.")


def stop_table(result):
    names = ["p10_us", "p50_us", "p90_us", "p99_us", "most_us", "strands", "forks",
             "us_per_strand", "us_per_fork"]
    rows = [[f"{what}, {shared(result, count)}",
             *(cell(result, numbers, problem, OURS, count, name) for name in names)]
            for problem, what in STOPS.items() for count in result.wish.workers]
    return Table("20 queens by `either`, after the paper's Figures 12 and 13: microseconds",
                 ["vprocs", "p10", "p50", "p90", "p99", "most", "strands stopped", "open forks",
                  "per strand", "per open fork"], rows,
                 "cancel: from the call of cancelable::cancel until it returns, when all strands "
                 "have stopped and their destructors have run. The strand that calls keeps one "
                 "vproc; the others search. With one vproc the two take turns, and ticks let many "
                 "alternatives begin before the turn of the one that cancels. answer: from the "
                 "first answer until the outermost `either` returns; all vprocs search. Open "
                 "forks: those whose second alternative had not begun. Medians, over "
                 "all cancellations of a process, of these numbers and of the quotients. Where "
                 "vprocs share processors, a thread that is to stop may first wait for one.")


def search_table(result):
    rows = [[f"{what}, {count}", peer,
             *(cell(result, numbers, problem, peer, count, name) for name in MOMENTS),
             *(cell(result, over, problem, count, name, peer) if peer != OURS else None
               for name in MOMENTS)]
            for problem, what in SEARCHES.items() for count in side_by_side(result.wish)
            for peer in [OURS, *PEERS]]
    return Table("Searches that stop early: microseconds",
                 ["problem, workers", "runtime", "first answer", "all stopped",
                  "nopal / it, first", "nopal / it, all"], rows,
                 "loop: a million numbers in 512 pieces, one of which is sought, by a cancel_scope "
                 "around for_index, parallel_for with a context, and `omp for` (LLVM's: static, "
                 "since its dynamic loops fail when they are cancelled) with OMP_CANCELLATION. "
                 "tree: 16,384 leaves of 64 steps of arithmetic. Piece and leaf are the same "
                 "function for all. Medians of 200 searches in each process.")


def throw_table(result):
    rows = [[f"{leaf}, {count}",
             *(cell(result, scaled, 1e6, THROW, who, count, leaf) for who in (OURS, TBB)),
             cell(result, over, THROW, count, leaf, TBB)]
            for leaf in LEAVES for count in side_by_side(result.wish)]
    return Table("A leaf of 2^20 throws: microseconds until the exception arrives",
                 ["leaf, workers", OURS, TBB, "ratio"], rows,
                 "invoke of two halves, and parallel_invoke. The first leaf is the one that a "
                 "thread reaches first which is alone: oneTBB begins with the last function.")


def tables(result):
    return [older_table(result), fib_table(result), stop_table(result), search_table(result),
            throw_table(result)]


def lines(result):
    return study_text.blocks(tables(result))


def draw_lines(ax, result, wanted):
    """{label: (colour, how to compute for a number of vprocs)}; False if nothing was measured."""
    drawn = False
    for place, (label, (colour, compute)) in enumerate(wanted.items()):
        beside = 1.03 ** (place - (len(wanted) - 1) / 2)  # so that spreads do not hide each other
        known = {count * beside: value(compute, result.rounds, count)
                 for count in result.wish.workers}
        known = {at: number for at, number in known.items() if number}
        if not known:
            continue
        ax.plot(list(known), [number.median for number in known.values()], "o-", ms=4, lw=1.3,
                color=colour, label=label)
        ax.vlines(list(known), [number.p10 for number in known.values()],
                  [number.p90 for number in known.values()], color=colour, lw=0.8)
        drawn = True
    if drawn:
        ax.set_xscale("log", base=2)
        ax.set_xticks(result.wish.workers, [str(count) for count in result.wish.workers])
        ax.minorticks_off()
    ax.set_xlabel("vprocs")
    return drawn


def after_the_paper(result):
    """Figures 11 to 13 in a row."""
    cores = result.wish.cores
    green, blue, red, grey = (draw.COLOURS[name] for name in (OURS, TBB, "boost", "serial"))
    def of_stops(problem, name):
        return lambda rounds, count: numbers(rounds, problem, OURS, count, name)
    wanted = [
        ("11: fib(29), ratio", {
            "overhead with scopes / without": (
                green, lambda rounds, count: overheads(rounds, count, cores)),
            "in a scope / without": (blue, inside)}),
        ("12: time of cancel, us", {
            name: (colour, of_stops(CANCEL, f"{field}_us")) for name, field, colour in
            (("median", "p50", green), ("90th percentile", "p90", blue),
             ("99th", "p99", red), ("longest", "most", grey))}),
        ("13: time of cancel for each, us", {
            "strand stopped": (green, of_stops(CANCEL, "us_per_strand")),
            "open fork": (blue, of_stops(CANCEL, "us_per_fork"))})]
    plots = draw.pyplot()
    figure, axes = plots.subplots(1, 3, layout="constrained", figsize=(10.5, 3.4))
    drawn = [draw_lines(ax, result, of_panel) for ax, (_, of_panel) in zip(axes, wanted)]
    axes[0].axhline(PAPER_OVERHEADS, color=grey, lw=0.8, ls=":", label="the paper's overheads")
    for ax, any_line, (title, _) in zip(axes, drawn, wanted):
        ax.set_title(title)
        if any_line and ax is axes[1]:
            panels.logarithmic(ax)
            ax.set_ylim(top=4 * ax.get_ylim()[1])  # room for the legend
            ax.legend(frameon=False, fontsize=7.5, loc="upper center", ncols=2)
        elif any_line:
            ax.set_ylim(bottom=0)
            ax.legend(frameon=False, fontsize=7.5, loc="lower right")
    if not any(drawn):
        plots.close(figure)
        return None
    return draw.svg(figure)


def search_groups(result):
    groups = {}
    for problem, what in SEARCHES.items():
        for moment, words in zip(MOMENTS, ("first", "all")):
            bars = {who: cell(result, numbers, problem, who, JUDGED_WORKERS, moment)
                    for who in (OURS, *PEERS)}
            groups[f"{what}, {words}"] = {who: known for who, known in bars.items() if known}
    return groups


def throw_groups(result):
    groups = {}
    for leaf in LEAVES:
        bars = {who: cell(result, scaled, 1e6, THROW, who, JUDGED_WORKERS, leaf)
                for who in (OURS, TBB)}
        groups[f"the {leaf} leaf"] = {who: known for who, known in bars.items() if known}
    return groups


def figures(result):
    return [Figure("After the paper's Figures 11, 12 and 13", after_the_paper(result),
                   "The dotted line is the paper's 2.5. Of more vprocs than the "
                   f"{result.wish.cores} processors some wait for one."),
            Figure("Searches that stop early, two workers: microseconds",
                   panels.bars(search_groups(result), "us", log=True)),
            Figure("A leaf throws, two workers: microseconds",
                   panels.bars(throw_groups(result), "us", log=True))]
