# SPDX-License-Identifier: MIT
"""What the study of clients reads from what their programs say."""

import sys
import unittest

import harness

sys.path.insert(0, str(harness.RUN_PY.parent))
from runner.studies import clients  # pylint: disable=wrong-import-position


class TimesOf(unittest.TestCase):
    def test_phases_are_kept_apart_and_the_longest_counts(self):
        said = ("Time: build: 0.0002\nTime: sweep: 0.0301\nmax degree   = 129\n"
                "Time: build: 0.0001\nTime: sweep: 0.0290\nSampled Error: 4.953e-07\n")
        self.assertEqual(clients.times_of("parlaylib", "nbody_fmm", said), {"nbody_fmm": 0.0290})

    def test_other_numbers_are_no_times(self):
        self.assertEqual(clients.times_of("parlaylib", "bellman_ford", "average: 54.07\n"), {})

    def test_lines_with_names_are_measurements_of_their_own(self):
        said = "dgemm of 512: 3.50 ms\ndgemm of 1024: 28.00 ms\ndgemm of 512: 3.25 ms\n"
        self.assertEqual(clients.times_of("openblas", "openblas", said),
                         {"dgemm of 512": 0.00325, "dgemm of 1024": 0.028})


if __name__ == "__main__":
    unittest.main()
