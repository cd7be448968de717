# SPDX-License-Identifier: MIT
"""A measurement asked round by round.

A round gives one value: the quotient (or difference) of its own runs, which followed each other
closely. What is compared is the median of these values.
"""

import math
import statistics


class NotMeasured(Exception):
    """What a check lacks."""


class Bounded(Exception):
    """All that is known of a value: it lies beyond `value`, in the direction of `side`."""

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
        return {r: line[field] for r, line in lines.items()}

    def stopped_at(self, problem, runtime, workers):
        """The limit that ended a run of this configuration, or None."""
        return self.measurement.stopped.get((problem, runtime, workers))

    def at_least(self, problem, runtime, workers):
        """What a configuration that was stopped takes at least: once it may have been faster."""
        configuration = (problem, runtime, workers)
        return min([self.measurement.stopped[configuration],
                    *self.measurement.times(configuration).values()])

    def ns_per_fork(self, problem, runtime):
        """Round -> (T1 - T_serial not inlined) / forks."""
        forks = self.forks(problem, runtime)
        rows = paired(self.column(problem, runtime, 1), self.column(problem, "serial_call", 1))
        return {r: (one - base) * 1e9 / forks for r, (one, base) in rows.items()}

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
