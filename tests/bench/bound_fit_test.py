# SPDX-License-Identifier: MIT
"""The constant of the time bound, from points whose constant is known."""

import random
import sys
import unittest

import harness

sys.path.insert(0, str(harness.RUN_PY.parent))
# pylint: disable=wrong-import-position
from runner.studies._bound_fit import (Point, by_elements, by_seconds, fitted, smallest,
                                       two_terms)

WORKERS = 4
PARALLELISMS = [2, 5, 17, 130, 2500, 40000, 1000000]


def point(parallelism, excess_of, t1=0.2, slower=1.0, number=1):
    span = t1 / parallelism
    ideal = t1 / WORKERS
    elements = max(1, int(span * 1e6))
    return Point(number, t1, ideal * slower + excess_of(span, elements), ideal, span, elements)


def points(excess_of, **more):
    return [point(p, excess_of, number=n, **more) for n, p in enumerate(PARALLELISMS)]


class Fit(unittest.TestCase):
    def test_the_constant_of_exact_points_is_found(self):
        for c in (0.0, 0.3, 1.0, 25.0):
            exact = points(lambda span, _, c=c: c * span)
            self.assertAlmostEqual(fitted(exact, by_seconds), c)
            self.assertAlmostEqual(smallest(exact, by_seconds)[0], c)
            self.assertAlmostEqual(two_terms(exact)[0], 1)
            self.assertAlmostEqual(two_terms(exact)[1], c)
            for p in exact:
                self.assertAlmostEqual(p.over_bound(c), 1)

    def test_it_is_found_for_each_element_of_the_path(self):
        exact = points(lambda _, elements: 3e-6 * elements)
        self.assertAlmostEqual(fitted(exact, by_elements) * 1e6, 3)
        self.assertAlmostEqual(smallest(exact, by_elements)[0] * 1e6, 3)

    def test_it_is_found_amid_noise(self):
        noise = random.Random(7)
        noisy = points(lambda span, _: 0.7 * span * (1 + 0.05 * noise.uniform(-1, 1)))
        self.assertAlmostEqual(fitted(noisy, by_seconds), 0.7, delta=0.05)

    def test_it_is_never_negative(self):
        fast = points(lambda span, _: -0.1 * span)
        self.assertEqual(fitted(fast, by_seconds), 0)
        self.assertEqual(smallest(fast, by_seconds), (0, None))
        self.assertEqual(two_terms(fast)[1], 0)

    def test_the_smallest_constant_is_that_of_the_point_that_needs_most(self):
        mixed = points(lambda span, _: 0.5 * span)
        mixed[3] = point(130, lambda span, _: 9 * span, number=33)
        c, worst = smallest(mixed, by_seconds)
        self.assertAlmostEqual(c, 9)
        self.assertEqual(worst.number, 33)
        for p in mixed:
            self.assertLessEqual(p.over_bound(c), 1 + 1e-12)
        self.assertGreater(worst.over_bound(c * 0.99), 1)

    def test_noise_within_the_tolerance_asks_for_no_constant(self):
        slow = points(lambda span, _: 0.0, slower=1.05)
        self.assertGreater(smallest(slow, by_seconds)[0], 1000)
        self.assertEqual(smallest(slow, by_seconds, 0.10), (0, None))
        self.assertGreater(smallest(slow, by_seconds, 0.04)[0], 0)

    def test_two_terms_tell_a_slow_machine_from_a_long_span(self):
        c1, c = two_terms(points(lambda span, _: 0.8 * span, slower=1.25))
        self.assertAlmostEqual(c1, 1.25)
        self.assertAlmostEqual(c, 0.8)

    def test_two_terms_of_one_parallelism_are_the_first_alone(self):
        same = [point(100, lambda span, _: 0.0, slower=1.5)] * 3
        self.assertAlmostEqual(two_terms(same)[0], 1.5)
        self.assertEqual(two_terms(same)[1], 0)

    def test_no_points_need_nothing(self):
        self.assertEqual(fitted([], by_seconds), 0)
        self.assertEqual(smallest([], by_seconds), (0, None))


if __name__ == "__main__":
    unittest.main()
