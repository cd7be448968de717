# SPDX-License-Identifier: MIT
"""The bounds on stack pages, exactly counted (BENCH_CENSUS=1), with 1 to 64 workers.

Live pages of stacks that nobody runs on: at most P (S1 + D), S1 and D as the serial elision tells
them (fibril-spaa16, Theorem 4.2). Dead ones: at most the budget.

usage: space_test.py BUILD_DIRECTORY
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from patience import SECONDS  # pylint: disable=wrong-import-position

BENCH = pathlib.Path(sys.argv.pop(1)) / "bench"
BUILT = json.loads((BENCH / "programs.json").read_text())["built"]
# known_span and reciprocity have inputs of their own, and what has no profile has no S1 and D; the
# others of a study are here.
PROBLEMS = [p for p in BUILT["profile"]["problems"] if p not in ("known_span", "reciprocity")]
HOARDERS = ["suspended", "deep_leaves", "alternating"]
WORKERS = [1, 2, 5, 16, 64]
PAGE = 4096


def run(problem, runtime, workers=1, budget=None, n=None):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NOPAL_")}
    environment["BENCH_CENSUS"] = "1"
    if budget is not None:
        environment["NOPAL_STACK_BUDGET"] = str(budget)
    words = [BENCH / f"{problem}-{runtime}", "--size", "test", "--workers", str(workers)]
    done = subprocess.run(words + (["--n", str(n)] if n else []), capture_output=True, text=True,
                          check=False, timeout=SECONDS, env=environment)
    if done.returncode != 0:
        raise AssertionError(f"{problem} on {runtime}, {workers} workers, {budget}: {done.stderr}")
    return json.loads(done.stdout)


class Space(unittest.TestCase):
    def bounded(self, problem, runtime, workers, budget, n=None):
        line = run(problem, runtime, workers, budget, n)
        what = (problem, runtime, workers, budget)
        self.assertLessEqual(line["dead_pages"] * PAGE, budget, what)
        serial = self.serial(problem, n)
        self.assertLessEqual(line["live_pages"],
                             workers * (serial["serial_pages"] + serial["depth"]), what)
        return line

    def serial(self, problem, n=None):
        if (problem, n) not in self.profiles:
            self.profiles[problem, n] = run(problem, "profile", n=n)
        return self.profiles[problem, n]

    profiles = {}

    def test_every_problem_with_1_to_64_workers(self):
        self.assertGreaterEqual(len(PROBLEMS), 19)
        for problem in PROBLEMS:
            for workers in WORKERS:
                self.bounded(problem, "nopal", workers, 8 << 20)

    def test_every_problem_with_hardly_any_budget(self):
        for problem in PROBLEMS:
            self.bounded(problem, "nopal", 3, 64 << 10)
            self.bounded(problem, "nopal", 8, 1 << 20)
            self.bounded(problem, "nopal", 64, 0)

    def test_programs_that_leave_dead_pages_on_each_stack(self):
        for problem in HOARDERS:
            for workers in WORKERS[1:]:
                for budget in (0, 1 << 20, 64 << 20):
                    self.bounded(problem, "nopal", workers, budget, n=150)

    def test_memory_that_grows_with_the_steals_where_pages_are_kept_does_not_with_a_budget(self):
        kept = run("deep_leaves", "nopal", 4, "unlimited", n=150)
        self.assertGreater(kept["steals"], 10)
        self.assertGreater(kept["dead_pages"], 30 * kept["steals"])
        bounded = self.bounded("deep_leaves", "nopal", 4, 1 << 20, n=150)
        self.assertGreater(bounded["unmaps"], 0)

    def test_a_chain_of_thousands(self):
        self.bounded("suspended", "nopal", 4, 4 << 20, n=3000)


if __name__ == "__main__":
    unittest.main()
