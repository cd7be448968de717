# SPDX-License-Identifier: MIT
"""The study of algorithms, with numbers of the test's own making."""

import unittest

import fake_study

LOOPS = ["memory", "stencil", "compute", "dear", "rising", "falling", "few_dear", "microsecond",
         "root", "tiny", "empty", "nested"]


class AlgorithmsStudy(fake_study.FakeStudy):
    STUDY = "algorithms"

    def build_all(self, ours=1.0):
        """All of ours takes so many times what the others take."""
        for workers in (1, 2):
            loops = {loop: 10 * ours for loop in LOOPS}
            plain = {f"{loop}_serial": 10 for loop in LOOPS}
            grains = {f"{loop}_grain{g}": 10 * g for loop in LOOPS for g in (1, 16)}
            self.say("loops", "nopal", workers, told=loops | plain | grains)
            self.say("loops", "tbb", workers, told={loop: 10 for loop in LOOPS})
            self.say("scans", "nopal", workers,
                     told={"scan": 20 * ours, "two_passes": 20, "scan_serial": 20, "sum": 9 * ours,
                           "sum_serial": 9, "sum_unordered": 9})
            self.say("scans", "tbb", workers, told={"scan": 25, "sum": 9, "sum_deterministic": 9})
            self.say("words", "nopal", workers,
                     told={"words": 50 * ours, "serial": 60, "reduce": 70, "reducer": 55})
            self.say("std_par", "nopal", workers, told={"sort_1000": 4 * ours, "sort_10": ours / 4})
            self.say("std_par", "tbb", workers, told={"sort_1000": 1, "sort_10": 1})
            self.say("flat", "nopal", workers,
                     told={f"us{n}{case}": 5 * ours for n in (0, 1, 10)
                           for case in ("", "_serial", "_inside")})
            for runtime, times in {"tbb": 7, "openmp-gcc": 5}.items():
                self.say("words", runtime, workers, told={"words": 10 * times, "serial": 60})
                self.say("flat", runtime, workers,
                         told={"us0": times, "us1": times, "us10": times})
            for runtime in ("nopal", "tbb", "ips4o", "parlay"):
                for keys in range(1, 6):
                    self.say("sorting", runtime, workers, n=keys,
                             time_s=ours if runtime == "nopal" else 1)
        for keys in range(1, 6):
            self.say("sorting", "serial", n=keys, time_s=2)
        self.write_programs()

    def verdicts(self):
        return [c["holds"] for c in self.document["checks"]]

    def test_what_is_promised_is_judged(self):
        self.build_all()
        done = self.run_study("-n", 15)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.verdicts(), [True] * (12 * 5 + 2 * (5 * 3 + 2 + 1 + 1 + 3)))
        self.assertAlmostEqual(self.only("geometric mean", "T2")["value"], 1.0)
        self.assertIn("Twelve loops without a grain, 2 workers", self.page)

    def test_what_falls_short_is_said(self):
        self.build_all(1.2)
        self.run_study("-n", 15, "-b", "scans,words,std_par,flat", "-t", 2)
        self.assertEqual(set(self.verdicts()), {False})

    def test_the_best_grain_counts(self):
        self.build_all(1.04)
        self.run_study("-n", 15, "-b", "loops")
        row = self.only("memory: T2", "best grain")
        self.assertAlmostEqual(row["value"], 1.04)
        self.assertTrue(row["holds"])
        self.assertFalse(self.only("memory: T1", "plain loop")["holds"])

    def test_a_few_rounds_judge_nothing(self):
        self.build_all()
        done = self.run_study("-n", 1, "-b", "words,flat", "-t", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.verdicts(), [None] * 4)


if __name__ == "__main__":
    unittest.main()
