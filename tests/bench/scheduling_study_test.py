# SPDX-License-Identifier: MIT
"""The study of fibers and schedulers, with numbers of the test's own making."""

import unittest

import fake_study

TABLE_1 = ["raytracer", "barnes_hut", "merge_sort", "bitonic"]


class SchedulingStudy(fake_study.FakeStudy):
    STUDY = "scheduling"

    def setUp(self):
        super().setUp()
        self.told = {1: {"ns": 10.0}, 2: {"ns": 80.0}, 3: {"p50_ms": 5.0, "p99_ms": 19.0},
                     4: {"ratio": 3.06, "seconds": 10.0}, 5: {"bytes": 8192.0, "fibers": 100000}}
        self.boost_ns, self.go_ns = 4.0, 100.0

    def build_all(self, peers=True, before=0.0):
        for case, told in self.told.items():
            self.say("fibers", "nopal", n=case, told=told)
        if peers:
            self.say("fibers", "boost", n=1, told={"ns": self.boost_ns})
            self.say("fibers", "go", n=2, told={"ns": self.go_ns})
        for problem in TABLE_1:
            self.say(problem, "serial", time_s=2.0)
            for workers in (1, 2):
                self.say(problem, "nopal", workers, time_s=2.2 / workers)
                self.say(problem, "nopal-ivars", workers, time_s=3.0 / workers)
        if before:
            for workers in (1, 2):
                self.say("heat", "nopal", workers, time_s=1.0)
                self.say("heat", "nopal-before", workers, time_s=before)
                self.say("heat", "nopal-again", workers, time_s=1.0)
        self.write_programs()

    def run_all(self, *words):
        problems = ",".join(["fibers", *TABLE_1])
        return self.run_study("-n", 1, "-t", "1,2", "-b", problems, *words)

    def verdicts(self):
        return [c["holds"] for c in self.document["checks"]]

    def test_what_is_promised_is_judged(self):
        self.build_all()
        done = self.run_all()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.verdicts(), [True] * 5)
        self.assertAlmostEqual(self.only("Boost")["value"], 2.5)
        self.assertAlmostEqual(self.only("Go")["value"], 0.8)
        self.assertAlmostEqual(self.only("shares")["value"], 0.02)
        self.assertAlmostEqual(self.only("memory")["value"], 8.0)
        self.assertEqual(self.page.count("<svg"), 1)

    def test_what_falls_short_is_said(self):
        self.told = {1: {"ns": 13.0}, 2: {"ns": 101.0}, 3: {"p50_ms": 5.0, "p99_ms": 21.0},
                     4: {"ratio": 2.8, "seconds": 10.0}, 5: {"bytes": 13000.0, "fibers": 1000}}
        self.build_all()
        self.run_all()
        self.assertEqual(self.verdicts(), [False] * 5)

    def test_the_papers_figures_stand_beside_ours(self):
        self.build_all()
        self.run_all()
        row = self.page[self.page.index("Table 1: seconds"):].split("<tr>")[2]
        cells = [part.split("<")[0] for part in row.split(">") if part.split("<")[0].strip()]
        self.assertEqual(cells, ["raytracer", "forks", "2", "2.2", "1.1", "1.07", "1.1", "2",
                                 "7.64"])

    def test_without_the_others_nothing_is_judged_of_them(self):
        self.build_all(peers=False)
        done = self.run_all()
        self.assertIn("boost was not built", done.stderr + self.page)
        self.assertIsNone(self.only("Boost")["value"])
        self.assertIsNone(self.only("Go")["value"])

    def test_an_older_build_is_compared_with_and_has_a_control(self):
        for before, holds in ((1.005, True), (1.02, False), (0.98, False)):
            self.listing["built"] = {}
            self.tables = {}
            self.build_all(before=before)
            done = self.run_study("-n", 1, "-t", "1,2", "-b", "heat")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.only("T1 of", "before")["holds"], holds)
            self.assertAlmostEqual(self.only("T2 of", "before")["value"], abs(1 / before - 1))
            self.assertEqual(self.only("T1 of", "control")["value"], 0)


if __name__ == "__main__":
    unittest.main()
