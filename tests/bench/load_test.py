# SPDX-License-Identifier: MIT
"""Runs beside other programs are left out, and the result says so."""

import os
import pathlib
import tempfile
import types
import unittest

import harness  # finds the folder bench
from runner import load, measure

TICK = 1 / os.sysconf("SC_CLK_TCK")


class Load(unittest.TestCase):
    def measured(self, busy, seconds, ours):
        """What others had, where these ticks of processors have passed in so many seconds."""
        with tempfile.TemporaryDirectory() as folder:
            stat = pathlib.Path(folder, "stat")
            stat.write_text("cpu 10 0 0 5 5 0 0 0 0 0\ncpu0 1\n", encoding="ascii")
            times = iter([0.0, 0.0, seconds])
            used = iter([0.0, 0.0, ours])
            own = lambda: types.SimpleNamespace(user=next(used), system=0, children_user=0,
                                                children_system=0)
            measured = load.Load(stat, lambda: next(times), own)
            measured.begin()
            stat.write_text(f"cpu {10 + busy} 0 0 900 77 0 0 0 0 0\n", encoding="ascii")
            return measured.others()

    def test_what_others_have_is_what_we_have_not(self):
        self.assertAlmostEqual(self.measured(1000, 1000 * TICK, 0), 1.0, 2)
        self.assertAlmostEqual(self.measured(2000, 1000 * TICK, 1000 * TICK), 1.0, 2)
        self.assertEqual(self.measured(1000, 1000 * TICK, 1000 * TICK), 0)
        self.assertEqual(self.measured(0, 1000 * TICK, 5 * TICK), 0)

    def left(self, *loads):
        """The rounds that are left of one configuration, and what is said."""
        one = ("fib", "nopal", 2)
        result = measure.Measurement([one], "test", len(loads))
        result.samples[one] = {i: {"time_s": i} for i in range(len(loads))}
        result.others[one] = dict(enumerate(loads))
        said = load.keep_quiet(result)
        return list(result.samples[one]), said

    def test_quiet_rounds_are_taken(self):
        self.assertEqual(self.left(0, 0.05, 0.1), ([0, 1, 2], None))
        rounds, said = self.left(0, 1.5, 0, 1.5)
        self.assertEqual(rounds, [0, 2])
        self.assertRegex(said, r"took 0\.8 of \d+ processors: 2 of 4 runs were left out")

    def test_without_any_all_are_taken_and_it_is_said(self):
        rounds, said = self.left(1, 2)
        self.assertEqual(rounds, [0, 1])
        self.assertRegex(said, "1 of 1 configurations had no quiet run, so their speed-ups are too")
        self.assertEqual(self.left(), ([], None))


if __name__ == "__main__":
    unittest.main()
