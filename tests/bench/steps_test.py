# SPDX-License-Identifier: MIT
"""The program `steps`: that it prints what the study scaling reads, and what it refuses.

usage: steps_test.py BUILD
"""

import os
import pathlib
import subprocess
import sys
import unittest

import harness

sys.path.insert(0, str(harness.RUN_PY.parent))

from runner.programs import Build  # pylint: disable=wrong-import-position
from runner.studies import _steps  # pylint: disable=wrong-import-position


class Steps(unittest.TestCase):
    def steps(self, *words, **variables):
        return subprocess.run([str(BUILD.bench / "steps"), *words], capture_output=True, text=True,
                              check=False, env={**os.environ, **variables})

    def test_every_step_has_samples_of_some_time(self):
        for count in (1, 2, 3):
            taken = _steps.one_run(BUILD, count)
            for step in _steps.WITH_MORE if count > 1 else []:
                self.assertGreater(min(taken[step]), 0, (count, step))
            if count == 1:
                self.assertEqual(len(taken["fork"]), 100)

    def test_the_cpus_are_those_that_nopal_would_use(self):
        self.assertLessEqual(_steps.cpus(BUILD), len(os.sched_getaffinity(0)))
        self.assertEqual(self.steps("--cpus", NOPAL_NUM_WORKERS="3").stdout, "3\n")

    def test_what_it_does_not_accept(self):
        for text, *words in (
                ("--workers needs a number from 1 to 1024, not '0'", "--workers", "0"),
                ("--workers needs a number from 1 to 1024, not ''", "--workers"),
                ("--samples needs a number from 1 to 10000, not '9x'", "--samples", "9x"),
                ("'--fast' is not known; accepted are --workers N, --samples N, and --cpus alone",
                 "--fast")):
            done = self.steps(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr, f"steps: {text}\n")


if __name__ == "__main__":
    BUILD = Build(pathlib.Path(sys.argv.pop(1)))
    unittest.main()
