# SPDX-License-Identifier: MIT
"""What the studies of the papers share."""

import statistics

from runner.rounds import NotMeasured, enough, paired, ratios, speed, speed_up, value

# The problems of fibril-spaa16, Table 1, and nowa-ipdps21, Table I.
TWELVE = ["cholesky", "fft", "fib", "heat", "integrate", "knapsack", "lu", "matmul", "nqueens",
          "quicksort", "rectmul", "strassen"]
# Where the papers' own code is compared with our preset of the same name.
STRAW_MEN = ["fib", "integrate", "nqueens"]
STRAW_MAN_LIMIT = 1.1


def up_to(cores):
    """1, 2, 4, ... and all cores, but always 2."""
    counts = {1, 2, cores}
    count = 4
    while count < cores:
        counts.add(count)
        count *= 2
    return sorted(counts)


def every(problems, runtimes, workers):
    return [(problem, runtime, count) for problem in problems for runtime in runtimes
            for count in workers]


def metric(rounds, problem, runtime, count, name):
    """Round -> the number of this name; files that were kept may lack what came later."""
    lines_of = rounds.column(problem, runtime, count, "told")
    known = {r: line[name] for r, line in lines_of.items() if name in line}
    if not known:
        raise NotMeasured(f"{problem} of {runtime} does not tell {name}")
    return known


def of_serial(rounds, problem):
    """S1 in pages, and D in frames that fork, of the serial elision."""
    return next(iter(paired(rounds.column(problem, "profile", 1, "serial_pages"),
                            rounds.column(problem, "profile", 1, "depth")).values()))


def typical(result, problem, runtime, workers, field):
    """The median of a count, or None."""
    try:
        return statistics.median_low(result.rounds.column(problem, runtime, workers,
                                                          field).values())
    except NotMeasured:
        return None


def speed_ups(result, problems, runtimes, workers):
    """For panels.curves."""
    panels = {}
    for problem in problems:
        panel = panels[problem] = {}
        for runtime in runtimes:
            points = {count: value(speed_up, result.rounds, problem, runtime, count)
                      for count in workers}
            panel[runtime] = {count: known for count, known in points.items() if known}
    return panels


def ratio(result, problem, first, second, workers):
    """Speed of the runtime `first` over `second`, both with so many workers."""
    return value(speed, result.rounds, problem, (first, workers), (second, workers))


def straw_men(ours, theirs, problems):
    """What straw_man_checks judges."""
    return every([p for p in STRAW_MEN if p in problems], [ours, theirs], [1])


def straw_man_checks(ours, theirs, problems):
    """Our preset must not be slower than the code of the paper that it stands for."""
    def compute(rounds, problem):
        return enough(ratios(rounds.column(problem, ours, 1), rounds.column(problem, theirs, 1)))
    return [(f"{problem}: T1 of {ours} over that of {theirs} by path", "<=", STRAW_MAN_LIMIT,
             lambda rounds, p=problem: compute(rounds, p))
            for problem in STRAW_MEN if problem in problems]


def that_say_something(rows):
    """Rows of a table that have a value behind their name."""
    return [row for row in rows if any(row[1:])]
