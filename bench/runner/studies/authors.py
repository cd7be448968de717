# SPDX-License-Identifier: MIT
"""The C programs of Fibril's and Nowa's authors, unchanged: on their runtime, and on <fibril.h>."""

import math
import statistics

from runner import checks as checking
from runner import panels
from runner.rounds import NotMeasured, enough, paired, ratios, value
from runner.studies import Figure, Table
from runner.studies._common import TWELVE, every

ABOUT = "the authors' twelve C programs with our fibril.h, over their own runtimes"
PROBLEMS = TWELVE
ROUNDS = 15
SIZE = "quick"
# Ours over theirs.
PAIRS = {"nopal-c-fibril": "fibril-own", "nopal-c-nowa": "nowa-own"}
FIB_MOST, EACH_MOST, MEAN_MOST = 0.85, 1.05, 1.0


def workers(_cores):
    return [1, 2]


def configurations(wish):
    return every(wish.problems, [*PAIRS, *PAIRS.values()], wish.workers)


def over(rounds, problem, ours, count):
    return ratios(rounds.column(problem, ours, count), rounds.column(problem, PAIRS[ours], count))


def mean(rounds, problems, ours, count):
    """Of each round the geometric mean of all problems that both have."""
    columns = []
    for problem in problems:
        both = paired(rounds.column(problem, ours, count),
                      rounds.column(problem, PAIRS[ours], count))
        columns.append({r: a / b for r, (a, b) in both.items()})
    if not columns:
        raise NotMeasured("needs problems")
    return [math.exp(statistics.mean(map(math.log, row))) for row in paired(*columns).values()]


def listed(result):
    rows = []
    for ours, theirs in PAIRS.items():
        for count in result.wish.workers:
            for problem in result.wish.problems:
                rows.append((f"{problem}: T{count} of {ours} over {theirs}", "<=",
                             FIB_MOST if problem == "fib" else EACH_MOST,
                             lambda r, p=problem, o=ours, n=count: enough(over(r, p, o, n))))
            rows.append((f"geometric mean of T{count} of {ours} over {theirs}", "<=", MEAN_MOST,
                         lambda r, o=ours, n=count: enough(mean(r, result.wish.problems, o, n))))
    return rows


def checks(result):
    return checking.evaluate(result.measurement, listed(result))


def tables(result):
    rows = [[problem, *(value(over, result.rounds, problem, ours, count)
                        for ours in PAIRS for count in result.wish.workers)]
            for problem in result.wish.problems]
    head = [f"T{count}, {ours} / {theirs}" for ours, theirs in PAIRS.items()
            for count in result.wish.workers]
    return [Table("Time of ours over that of the authors' runtime", ["problem", *head], rows,
                  "Medians of paired rounds; the same source and compiler.")]


def figures(result):
    groups = {}
    for problem in result.wish.problems:
        known = {theirs: value(over, result.rounds, problem, ours, 1)
                 for ours, theirs in PAIRS.items()}
        groups[problem] = {theirs: ratio for theirs, ratio in known.items() if ratio}
    return [Figure("Time of ours over that of the authors' runtime, one worker",
                   panels.bars(groups, "ours / theirs", line_at=1))]
