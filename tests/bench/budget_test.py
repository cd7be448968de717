# SPDX-License-Identifier: MIT
"""The time that a measurement may take in all: how many runs fit into it."""

import io
import json
import pathlib
import subprocess
import sys
import unittest
from contextlib import redirect_stderr
from unittest import mock

import harness

sys.path.insert(0, str(harness.RUN_PY.parent))

from runner import measure  # pylint: disable=wrong-import-position
from runner.budget import Budget  # pylint: disable=wrong-import-position


class FakeClock:
    """A second goes by where the test says so."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class TimeBudget(unittest.TestCase):
    """A run takes 10 seconds of a clock of the test's own; what counts is how many there are."""

    CONFIGURATIONS = [("fib", "nopal", 1), ("fib", "nopal", 2), ("lu", "nopal", 1)]

    def measured(self, within, rounds=5):
        clock = FakeClock()
        self.runs = 0

        def run(command, **options):
            self.runs += 1
            clock.now += min(10, options["timeout"])
            if options["timeout"] < 10:
                raise subprocess.TimeoutExpired(command, options["timeout"])
            problem = pathlib.Path(command[0]).name.partition("-")[0]
            workers = int(command[command.index("--workers") + 1])
            line = {**dict.fromkeys(measure.FIELDS), "problem": problem, "runtime": "nopal",
                    "workers": workers, "size": "test", "verified": True, "time_s": 1.0}
            return subprocess.CompletedProcess(command, 0, json.dumps(line), "")

        class Build:
            def program(self, problem, runtime):
                return pathlib.Path(f"{problem}-{runtime}")

            def launcher(self, _runtime, _workers):
                return []

        with mock.patch.object(measure.subprocess, "run", run), redirect_stderr(io.StringIO()):
            result = measure.measure(Build(), self.CONFIGURATIONS, "test", rounds, 1, 600, None,
                                     budget=Budget(within, clock))
        self.spent = clock.now
        return result

    def test_without_a_budget_every_round_runs(self):
        result = self.measured(None)
        self.assertEqual((self.runs, result.rounds, result.notes()), (15, 5, []))

    def test_a_round_that_would_end_too_late_is_not_begun(self):
        result = self.measured(89)
        self.assertEqual((self.runs, result.rounds), (6, 2))
        self.assertEqual(result.notes(), ["2 of 5 rounds were run: one more would not have ended "
                                          "within 89 s."])

    def test_a_round_that_just_fits_runs(self):
        self.measured(90)
        self.assertEqual(self.runs, 9)

    def test_what_the_first_round_has_no_time_for_is_left_out_and_said(self):
        result = self.measured(15)
        self.assertEqual(self.spent, 15)
        self.assertEqual(sum(map(len, result.samples.values())), 1)
        self.assertEqual(list(result.refused.values()),
                         ["the 15 s that --within gives were used up"] * 2)
        self.assertEqual(result.failures, {})


if __name__ == "__main__":
    unittest.main()
