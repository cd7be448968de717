# SPDX-License-Identifier: MIT
"""The constant of the time bound T_P <= T1/P + c * Tinf, from measured points."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Point:
    """One computation with P workers. Times in seconds."""

    number: int
    t1: float
    tp: float
    # T1 over the number of workers, or over what the machine makes of them.
    ideal: float
    # Tinf: units and forks of the longest path, with what each takes.
    span: float
    # Forks on that path.
    elements: int

    @property
    def excess(self):
        """What the span must account for."""
        return self.tp - self.ideal

    def slow_down(self, workers):
        """1 where P workers are P times as fast as one."""
        return self.tp * workers / self.t1

    def over_bound(self, c):
        """Above 1: the bound does not hold with this c."""
        return self.tp / (self.ideal + c * self.span)


def fitted(points, measure):
    """Least squares for excess = c * measure(point), c not negative."""
    square = sum(measure(p) ** 2 for p in points)
    return max(0.0, sum(measure(p) * p.excess for p in points) / square) if square else 0.0


def smallest(points, measure, allowed=0.0):
    """(the smallest c with which every point obeys, the point that needs it or None).

    `allowed` is the part of the work term that a point may exceed the bound by.
    """
    needs = [((p.excess - allowed * p.ideal) / measure(p), p) for p in points if measure(p) > 0]
    c, point = max(needs, key=lambda need: need[0], default=(0.0, None))
    return (c, point) if c > 0 else (0.0, None)


def two_terms(points):
    """Least squares of the relative errors of T_P = c1 * ideal + c * Tinf: (c1, c), c >= 0."""
    a = [(p.ideal / p.tp, p.span / p.tp) for p in points]
    ii = sum(i * i for i, _ in a)
    ss = sum(s * s for _, s in a)
    both = sum(i * s for i, s in a)
    sum_i, sum_s = sum(i for i, _ in a), sum(s for _, s in a)
    determinant = ii * ss - both * both
    # Two programs of the same parallelism do not tell the terms apart.
    if determinant <= 1e-12 * ii * ss:
        return sum_i / ii, 0.0
    c = (ii * sum_s - both * sum_i) / determinant
    if c < 0:
        return sum_i / ii, 0.0
    return (ss * sum_i - both * sum_s) / determinant, c


def by_seconds(point):
    return point.span


def by_elements(point):
    return point.elements
