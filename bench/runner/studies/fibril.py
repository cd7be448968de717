# SPDX-License-Identifier: MIT
"""The times of fibril-spaa16 (section 5), with our presets beside the original."""

from runner import checks as checking
from runner import panels
from runner.rounds import speed_up, value
from runner.studies import Figure, Table
from runner.studies import _fibril_paper as paper
from runner.studies._common import (every, ratio, speed_ups, straw_man_checks, straw_men, up_to)

ABOUT = "Fibril's evaluation: cost of a fork, speed-up (the study counts has its counts)"
PROBLEMS = paper.TWELVE
ROUNDS = 15
SIZE = "quick"
OURS, BOUNDED, PLAIN = "nopal-fibril", "nopal-cilkplus", "nopal"
# The runtime that came after Cilk Plus.
CILK = "cheetah"
ONE_WORKER = [PLAIN, OURS, BOUNDED, "tbb", "fibril", CILK]
# The same, but dead pages are kept.
KEEPS = f"{OURS}:budget:unlimited"
SPEED_UP = [PLAIN, OURS, KEEPS, BOUNDED, "tbb", "fibril", CILK]


def workers(cores):
    return up_to(cores)


def configurations(wish):
    return (every(wish.problems, ["serial"], [1]) +
            every(wish.problems, ONE_WORKER, [1]) + every(wish.problems, SPEED_UP, wish.workers))


def judged(wish):
    return straw_men(OURS, "fibril", wish.problems)


def most(result):
    return max(result.wish.workers)


def checks(result):
    listed = straw_man_checks(OURS, "fibril", result.wish.problems)
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
        theirs = paper.row(paper.RATIOS, problem) or [None] * 4
        ours = [ratio(result, problem, OURS, other, n) for n in (1, count)
                for other in (BOUNDED, "tbb")]
        rows.append([problem, *(cell for pair in zip(theirs, ours) for cell in pair),
                     *(ratio(result, problem, OURS, CILK, n) for n in (1, count))])
    head = ["problem"]
    for threads, n in ((1, 1), (paper.THREADS, count)):
        for other in ("Cilk Plus", "TBB"):
            head += [f"paper: over {other}, {threads}", f"here, {n}"]
    head += [f"over OpenCilk, {n}" for n in (1, count)]
    return Table("Speed of Fibril over the others", head, rows,
                 "The paper's are those that its text states; here: "
                 f"{OURS} over {BOUNDED}, which is Nopal with the parts of Cilk Plus, over oneTBB, "
                 "and over OpenCilk's runtime, paired medians. The number is that of the threads "
                 "or workers.")


def tables(result):
    return [ratios_table(result)]
