# SPDX-License-Identifier: MIT
"""Counts against the number of workers, and the power with which they grow."""

import math
import statistics

from runner.rounds import NotMeasured
from runner.studies._common import metric

# A count grows if it is at least proportional to this power of the number of workers.
GROWS = 0.25
# The power is that of the larger half of the numbers of workers: where they are few, what a steal
# needs in any case hides what grows. It takes so many with a count above zero.
POINTS_MIN = 3


def over(rounds, problem, runtime, count, names):
    """One of these numbers over the other, of each round in which the other is not zero."""
    above, below = (metric(rounds, problem, runtime, count, name) for name in names)
    known = {r: above[r] / below[r] for r in above if below[r] > 0}
    if not known:
        raise NotMeasured(f"{problem} of {runtime} had no {names[1]}, -t {count}")
    return known


def larger_half(counts):
    return counts[-max(POINTS_MIN, (len(counts) + 1) // 2):]


class Series:
    """A count against the number of workers: what it is counted in, and what it is divided by."""

    def __init__(self, title, problem, name, by):
        self.title = title
        self.problem = problem
        self.name = name
        self.by = by

    def column(self, rounds, runtime, count, what):
        return over(rounds, self.problem, runtime, count, (self.name(what), self.by))

    def exponents(self, rounds, runtime, counts, what):
        """The slope of the logarithms, round by round; 0 where nothing is counted at all."""
        columns = {}
        for count in larger_half(counts):
            try:
                columns[count] = self.column(rounds, runtime, count, what)
            except NotMeasured:
                continue
        found = []
        for number in sorted(set().union(*columns.values())):
            points = [(count, column[number]) for count, column in columns.items()
                      if number in column]
            if len(points) >= POINTS_MIN and not any(y for _, y in points):
                found.append(0.0)
            points = [(math.log(x), math.log(y)) for x, y in points if y > 0]
            if len(points) >= POINTS_MIN:
                found.append(statistics.linear_regression(*zip(*points)).slope)
        if not found:
            raise NotMeasured(f"needs {POINTS_MIN} numbers of workers with {what}")
        return found
