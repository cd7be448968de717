# SPDX-License-Identifier: MIT
"""Questions to a measurement that are answered round by round.

A round gives one value: the quotient (or difference) of its own runs, which followed each other
closely. What is compared is the median of these values.
"""

from __future__ import annotations

import dataclasses
import math
import statistics

from runner.summary import percentile

# A ratio of times is judged only over so many rounds.
PAIRED_ROUNDS_MIN = 15


class NotMeasured(Exception):
    """What a check lacks."""


class TooFew(Exception):
    """Values that are too few to be judged."""

    def __init__(self, values):
        super().__init__(f"needs -n {PAIRED_ROUNDS_MIN}")
        self.values = values


class Bounded(Exception):
    """Of a value is only known that it lies beyond `value`, in the direction of `side`."""

    def __init__(self, side, value, why):
        super().__init__(why)
        self.side = side
        self.value = value


class Rounds:
    """Answers questions about one measurement, round by round."""

    def __init__(self, measurement):
        self.measurement = measurement

    def column(self, problem, runtime, workers, field="time_s"):
        """Round -> field, of a configuration that ran through."""
        configuration = (problem, runtime, workers)
        if configuration in self.measurement.stopped:
            raise NotMeasured(f"{runtime} was stopped, -t {workers}")
        lines = self.measurement.samples.get(configuration, {})
        if not lines or configuration in self.measurement.failures:
            raise NotMeasured(f"needs {problem} on {runtime}, -t {workers}")
        known = {r: line[field] for r, line in lines.items() if line[field] is not None}
        if not known:
            raise NotMeasured(f"{runtime} does not tell {field}")
        return known

    def stopped_at(self, problem, runtime, workers):
        """The limit that ended a run of this configuration, or None."""
        return self.measurement.stopped.get((problem, runtime, workers))

    def at_least(self, problem, runtime, workers):
        """A lower bound of the time of a configuration that was stopped: the limit, or the
        least time of the rounds in which it ended."""
        configuration = (problem, runtime, workers)
        return min([self.measurement.stopped[configuration],
                    *self.measurement.times(configuration).values()])

    def ns_per_fork(self, problem, runtime):
        """Round -> (T1 - T_serial not inlined) / forks."""
        forks = self.forks(problem, runtime)
        if forks == 0:
            raise NotMeasured(f"{runtime} does not count its forks")
        rows = paired(self.column(problem, runtime, 1), self.column(problem, "serial_call", 1))
        return {r: (time - base) * 1e9 / forks for r, (time, base) in rows.items()}

    def forks(self, problem, runtime):
        return next(iter(self.column(problem, runtime, 1, "forks").values()))


def paired(*columns):
    """Round -> the values of all columns, for each round that all have."""
    shared = set(columns[0]).intersection(*columns[1:])
    if not shared:
        raise NotMeasured("no round has all of its runs")
    return {r: tuple(column[r] for column in columns) for r in sorted(shared)}


def ratios(above, below):
    return [a / b for a, b in paired(above, below).values()]


@dataclasses.dataclass(frozen=True)
class Value:
    """A median with its spread; where `side` is < or >, a bound that has no spread."""

    median: float
    p10: float | None = None
    p90: float | None = None
    side: str = ""


def value(compute, *arguments):
    """The Value of the numbers that compute(*arguments) returns, a number for each round; None if
    it raises NotMeasured."""
    try:
        values = compute(*arguments)
    except Bounded as known:
        return Value(known.value, side=known.side)
    except NotMeasured:
        return None
    return Value(statistics.median(values), percentile(values, 0.1), percentile(values, 0.9))


def speed(rounds, problem, first, second):
    """Speed of `first` over that of `second`, both (runtime, workers): a quotient of times."""
    limits = [rounds.stopped_at(problem, *each) for each in (first, second)]
    if limits[0] is not None and limits[1] is not None:
        raise NotMeasured(f"{first[0]} and {second[0]} were both stopped")
    if limits[0] is not None:
        least = rounds.at_least(problem, *first)
        times = rounds.column(problem, *second)
        raise Bounded("<", statistics.median(t / least for t in times.values()),
                      f"{first[0]} was stopped at {limits[0]:g} s")
    if limits[1] is not None:
        least = rounds.at_least(problem, *second)
        times = rounds.column(problem, *first)
        raise Bounded(">", statistics.median(least / t for t in times.values()),
                      f"{second[0]} was stopped at {limits[1]:g} s")
    return ratios(rounds.column(problem, *second), rounds.column(problem, *first))


def speed_up(rounds, problem, runtime, workers):
    """Over the serial elision."""
    return speed(rounds, problem, (runtime, workers), ("serial", 1))


def geometric_mean(rounds, problems, first, second):
    """Of speed() over all these problems, round by round."""
    if not problems:
        raise NotMeasured("no problem has both")
    columns = []
    bounds = []
    for problem in problems:
        try:
            speed(rounds, problem, first, second)
            rows = paired(rounds.column(problem, *second), rounds.column(problem, *first))
            columns.append({r: math.log(a / b) for r, (a, b) in rows.items()})
        except Bounded as known:
            bounds.append(known)
    if not bounds:
        return [math.exp(statistics.mean(logs)) for logs in paired(*columns).values()]
    sides = {known.side for known in bounds}
    if len(sides) > 1:
        raise NotMeasured("some of both were stopped")
    logs = [statistics.median(column.values()) for column in columns]
    logs += [math.log(known.value) for known in bounds]
    raise Bounded(sides.pop(), math.exp(statistics.mean(logs)),
                  f"stopped on {len(bounds)} of {len(problems)} problems")


def enough(values):
    """The same values, if there are as many as a ratio of times needs to be judged."""
    if len(values) < PAIRED_ROUNDS_MIN:
        raise TooFew(values)
    return values
