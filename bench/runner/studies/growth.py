# SPDX-License-Identifier: MIT
"""What a steal, and a call that gives pages back, cost other threads: what grows with their number.

Each steal of three programs is charged with the cache lines that it took from other threads, and
with the swaps that failed, in the deque, the join and the pool of stacks with its budget
(counted/directory.h): questions of nowa-ipdps21, V-A. The program `unmapping` measures what an
unmap costs the threads beside it, from which follows what it costs a program of many threads
(nowa-ipdps21, V-B; fibril-spaa16, 4.3).
"""

import json
import statistics
import subprocess

from runner import checks as checking
from runner import draw, study_text
from runner.rounds import value
from runner.studies import Figure, Table
from runner.studies._common import every
from runner.studies._series import GROWS, Series

ABOUT = "lines and failed swaps per steal in deque, join and pool, 2 to 256 workers; unmaps"
PROBLEMS = ["fib@24", "cholesky@500", "lu_tiny@128"]
PROGRAMS = ["unmapping"]
ROUNDS = 5
SIZE = "quick"
OURS, NOWA, FIBRIL = "nopal-counted", "nopal-nowa-counted", "nopal-fibril-counted"
RUNTIMES = [OURS, NOWA, FIBRIL]
PARTS = {"deque": "-", "join": "--", "stacks": ":"}
# What a thread without work looks at; how much that is depends on how many there are.
SEARCH = "search"
FEW = 0.1  # a steal
COUNTS = {"lines": "remote lines", "failed": "failed swaps"}
# Of nowa-ipdps21 at 256 threads: Table III (seconds), Figure 8 (speed with unmaps over that
# without), and how often fibril-spaa16, Table 2, unmaps with 72 threads.
THREADS = 256
PAPER = {"cholesky": (0.37, 0.18, 2795e3), "lu": (0.26, 0.39, 1384e3)}


def workers(_cores):
    return [2, 4, 8, 16, 32, 64, 128, 256]


def counts_of(wish):
    return [count for count in wish.workers if count > 1]


def configurations(wish):
    return every(wish.problems, RUNTIMES, counts_of(wish))


def extra(build, _wish):
    """What calls cost that give pages back, from the program `unmapping`."""
    try:
        done = subprocess.run([str(build.bench / "unmapping")], capture_output=True, text=True,
                              check=True, stdin=subprocess.DEVNULL, timeout=300)
        return {"unmapping": json.loads(done.stdout)["cases"]}
    except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        return {"unmapping": [], "failures": [f"The program unmapping gave nothing: {why}."]}


def series(problem):
    return Series(f"{problem}, per steal", problem, lambda what: what, "steals")


def exponents_of(rounds, problem, runtime, counts, what):
    """Swaps fail so seldom that their logarithms say nothing; what stays few does not grow."""
    known = series(problem)
    if what.endswith("failed"):
        columns = [known.column(rounds, runtime, count, what).values() for count in counts]
        if all(statistics.median(column) < FEW for column in columns):
            return [0.0]
    return known.exponents(rounds, runtime, counts, what)


def exponents(result, problem, runtime, what):
    return value(exponents_of, result.rounds, problem, runtime, counts_of(result.wish), what)


def checks(result):
    listed = [(f"{problem} on {runtime}: {COUNTS[count]} of the {part} per steal, exponent of the "
               "number of workers", "<=", GROWS,
               lambda rounds, p=problem, r=runtime, w=f"{part}_{count}":
               exponents_of(rounds, p, r, counts_of(result.wish), w))
              for problem in result.wish.problems for runtime in RUNTIMES
              for count in COUNTS for part in PARTS]
    return checking.evaluate(result.measurement, listed)


def of_rounds(result, problem, runtime, count, what):
    return value(lambda r: list(series(problem).column(r, runtime, count, what).values()),
                 result.rounds)


def short(runtime):
    return runtime.removesuffix("-counted")


def growth_table(result, problem):
    columns = [(runtime, f"{part}_{count}") for runtime in RUNTIMES
               for part, count in [*((p, "lines") for p in [*PARTS, SEARCH]),
                                   *((p, "failed") for p in PARTS)]]
    head = [f"{short(runtime)}: {what.partition('_')[0]}, {COUNTS[what.partition('_')[2]]}"
            for runtime, what in columns]
    rows = [[count, *(of_rounds(result, problem, runtime, count, what)
                      for runtime, what in columns)] for count in counts_of(result.wish)]
    rows.append(["exponent", *(exponents(result, problem, *column) for column in columns)])
    return Table(f"{problem}, per steal", ["workers", *head], rows,
                 "A line is remote if another thread has it, as if each thread had a processor of "
                 "its own. Search is what threads without work look at in others' deques, and "
                 "grows with their number. The last row is the slope of the logarithms over the "
                 "larger half of the numbers of workers. Swaps fail only where two threads run at "
                 "the same time, and this machine runs as many as it has processors.")


def found(result, name, threads):
    for case in result.extra["unmapping"]:
        if (case["case"], case["threads"]) == (name, threads):
            return case
    return None


def unmapping_table(result):
    numbers = sorted({case["threads"] for case in result.extra["unmapping"]})
    rows = []
    for threads in numbers:
        row = [threads]
        for name in ("beside", "madvise", "mmap"):
            case = found(result, name, threads)
            row += [case["ns"], case["interrupts"]] if case else [None, None]
            row += [case["lost_ns"]] if case and name == "beside" else []
        rows.append(row)
    return Table("Calls that give two pages back",
                 ["threads", "one by madvise, others compute: ns", "interrupts a call",
                  "lost by each other, ns", "all by madvise: ns", "interrupts", "all by mmap: ns",
                  "interrupts"], rows,
                 "The median call, without the touch that brings the pages. Interrupts are TLB "
                 "shootdowns of the whole machine.")


def cost_of_an_unmap(result, threads=THREADS):
    """What one call takes of all threads together, in ns: its own, and what the others lose."""
    alone, two = found(result, "beside", 1), found(result, "beside", 2)
    if alone is None or two is None:
        return None
    return max(alone["ns"], two["ns"]) + max(0.0, two["lost_ns"]) * (threads - 1)


def model_table(result):
    cost = cost_of_an_unmap(result)
    rows = []
    for problem, (seconds, paper, unmaps) in PAPER.items():
        needed = (1 / paper - 1) * seconds * THREADS / unmaps * 1e9
        speed = None if cost is None else seconds / (seconds + unmaps * cost * 1e-9 / THREADS)
        rows.append([problem, seconds, unmaps, paper, needed, cost, speed])
    return Table(f"What unmaps cost a program of {THREADS} threads",
                 ["problem", "Nowa's seconds", "Fibril's unmaps", "Nowa's speed with madvise",
                  "thread-ns an unmap that this needs", "measured here", "speed that follows"],
                 rows,
                 "A call costs its thread a + b, and each thread beside it one interrupt c: "
                 f"a + b + c ({THREADS} - 1) thread-ns, of which {THREADS} threads pay each a "
                 "part. Interrupts of a virtual machine are dearer than those of the paper's. "
                 "With a budget, threads that find no work unmap, and they alone, as long as they "
                 "keep up (nopal/stack/pages.cc).")


def tables(result):
    return [*(growth_table(result, problem) for problem in result.wish.problems),
            unmapping_table(result), model_table(result)]


def lines(result):
    return study_text.blocks(tables(result))


def draw_panel(ax, result, problem):
    """False if nothing was measured."""
    drawn = False
    for runtime in RUNTIMES:
        for part, style in PARTS.items():
            known = {count: of_rounds(result, problem, runtime, count, f"{part}_lines")
                     for count in counts_of(result.wish)}
            points = {n: v.median for n, v in known.items() if v and v.median > 0}
            if points:
                ax.plot(list(points), list(points.values()), linestyle=style, marker="o", ms=3,
                        lw=1.2, color=draw.colour(runtime), label=f"{short(runtime)}, {part}")
                drawn = True
    if drawn:
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ticks = counts_of(result.wish)
        ax.set_xticks(ticks, [str(count) for count in ticks])
        ax.minorticks_off()
    ax.set_title(problem)
    ax.set_xlabel("workers")
    return drawn


def figures(result):
    plots = draw.pyplot()
    title = "Remote lines per steal against the number of workers"
    figure, grid = plots.subplots(1, len(result.wish.problems), squeeze=False, figsize=(10, 4.2),
                                  layout="constrained")
    axes = list(grid[0])
    drawn = [draw_panel(ax, result, p) for ax, p in zip(axes, result.wish.problems)]
    if not any(drawn):
        plots.close(figure)
        return [Figure(title, None)]
    draw.legend(figure, axes)
    return [Figure(title, draw.svg(figure),
                   "Both axes are logarithmic. Medians of the rounds.", spreads=False)]
