# SPDX-License-Identifier: MIT
"""The study of stopping early, with numbers of the test's own making."""

import os
import unittest

import fake_study

FIB, CANCEL, ANSWER, LOOP, TREE, THROW = range(1, 7)
PEERS = ["tbb", "openmp-gcc", "openmp-llvm"]
STOPPED = {"p10_us": 40.0, "p50_us": 50.0, "p90_us": 70.0, "p99_us": 90.0, "most_us": 400.0,
           "strands": 20.0, "forks": 16.0, "us_per_strand": 2.5, "us_per_fork": 3.1}


class CancellationStudy(fake_study.FakeStudy):
    STUDY = "cancellation"

    def setUp(self):
        super().setUp()
        self.fib = {"serial": 1.0, "plain": 3.0, "inside": 3.03, "each": 5.0}
        self.stopped = STOPPED
        self.first_us, self.all_us, self.thrown = 300.0, 310.0, {"first": 4e-5, "last": 0.02}

    def build_all(self, peers=PEERS):
        for workers in (1, 2, 4):
            self.say("cancelling", "nopal", workers, n=FIB, told=self.fib)
            for case in (CANCEL, ANSWER):
                self.say("cancelling", "nopal", workers, n=case, told=self.stopped)
            for case in (LOOP, TREE):
                self.say("cancelling", "nopal", workers, n=case,
                         told={"first_us": self.first_us, "all_us": self.all_us})
                for peer in peers:
                    self.say("cancelling", peer, workers, n=case,
                             told={"first_us": 400.0, "all_us": 500.0})
            self.say("cancelling", "nopal", workers, n=THROW, told=self.thrown)
            if "tbb" in peers:
                self.say("cancelling", "tbb", workers, n=THROW, told={"first": 5e-5, "last": 0.08})
        self.write_programs()

    def run_all(self, *words, rounds=15, workers="1,2"):
        return self.run_study("-n", rounds, "-t", workers, *words)

    def verdicts(self):
        return [c["holds"] for c in self.document["checks"]]

    def test_what_is_promised_is_judged(self):
        self.build_all()
        done = self.run_all()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.verdicts(), [None, True, True, False] + [True] * 15)
        self.assertAlmostEqual(self.only("in a cancel scope over")["value"], 1.01)
        self.assertAlmostEqual(self.only("99th percentile")["value"], 90.0)
        self.assertAlmostEqual(self.only("loop", "first answer", "tbb")["value"], 0.75)
        self.assertAlmostEqual(self.only("tree", "have stopped", "openmp-llvm")["value"], 0.62)
        self.assertAlmostEqual(self.only("last of 2^20")["value"], 0.25)
        self.assertEqual(self.page.count("<svg"), 3)

    def test_overheads_are_what_lies_above_the_serial_program(self):
        """(5 - 1) / (3 - 1), of which the forks themselves are 1."""
        self.build_all()
        self.run_all()
        self.assertAlmostEqual(self.only("what that adds")["value"], 1.0)
        self.assertAlmostEqual(self.only("overhead with the scopes")["value"], 2.0)

    def test_what_falls_short_is_said(self):
        self.fib = {"serial": 1.0, "plain": 3.0, "inside": 3.3, "each": 6.5}
        self.stopped = {**STOPPED, "p99_us": 130.0}
        self.first_us, self.all_us, self.thrown = 410.0, 510.0, {"first": 6e-5, "last": 0.09}
        self.build_all()
        self.run_all()
        self.assertEqual(self.verdicts(), [None] + [False] * 18)

    def test_few_rounds_judge_no_ratio_of_times(self):
        self.build_all()
        self.run_all(rounds=2)
        self.assertEqual(self.verdicts(), [None] * 4 + [True] + [None] * 14)

    def test_runtimes_are_compared_where_each_worker_has_a_processor(self):
        self.build_all()
        self.run_all(rounds=1, workers="1,2,512")
        counts = {(c[1], c[0], c[2]) for c in map(tuple, self.document["configurations"])}
        self.assertNotIn(("tbb", f"cancelling@{LOOP}", 512), counts)
        self.assertIn(("nopal", f"cancelling@{CANCEL}", 512), counts)

    def test_vprocs_that_share_processors_are_marked(self):
        self.build_all()
        cores = len(os.sched_getaffinity(0))
        self.run_all(rounds=1, workers="1,2,4")
        self.assertEqual("cancel, 4, shared" in self.page, cores < 4)

    def test_openmp_is_told_to_cancel(self):
        self.say("cancelling", "openmp-gcc", 2, n=LOOP, told={"first_us": 400.0, "all_us": 500.0})
        self.build_all(peers=["tbb"])
        path = self.build / "bench" / "cancelling-openmp-gcc"
        path.write_text(path.read_text().replace(
            "#!/bin/sh\n", '#!/bin/sh\n[ "$OMP_CANCELLATION" = true ] || exit 3\n'))
        self.run_all(rounds=1, workers="2")
        said = [f for f in self.document["failures"] if f["problem"] == f"cancelling@{LOOP}"]
        self.assertEqual(said, [])

    def test_without_the_others_nothing_is_judged_of_them(self):
        self.build_all(peers=[])
        done = self.run_all()
        self.assertIn("tbb was not built", done.stderr + self.page)
        self.assertEqual(self.verdicts(), [None, True, True, False, True] + [None] * 14)

    def test_an_older_build_is_compared_with(self):
        """The fakes fork nothing that could be counted."""
        self.build_all()
        self.tables = {}
        self.say("fib", "nopal", n=29, time_s=0.004)
        self.write_programs()
        older = self.older({"problem": "fib", "runtime": "nopal", "n": 29, "time_s": 0.005})
        done = self.run_all("--before", older, rounds=1)
        self.assertIn("The instructions of nopal-before were not counted", done.stderr)
        self.assertIsNone(self.only("instructions per fork")["value"])
        row = [line for line in done.stdout.splitlines() if "fib(29), ms" in line]
        self.assertEqual(row[0].split()[2:], ["5", "4", "4"])
        self.assertNotIn(str(older), self.json.read_text())


if __name__ == "__main__":
    unittest.main()
