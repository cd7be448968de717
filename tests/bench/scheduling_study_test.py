# SPDX-License-Identifier: MIT
"""The study of fibers and schedulers, with numbers of the test's own making."""

import json
import unittest

import fake_study
import harness
from fake_build import LINE

TABLE_1 = ["raytracer", "barnes_hut", "merge_sort", "bitonic"]


class SchedulingStudy(fake_study.FakeStudy):
    STUDY = "scheduling"

    def setUp(self):
        super().setUp()
        self.told = {1: {"ns": 10.0}, 2: {"ns": 80.0}, 3: {"p50_ms": 5.0, "p99_ms": 19.0},
                     4: {"ratio": 3.06, "seconds": 10.0}, 5: {"bytes": 8192.0, "fibers": 100000},
                     6: {"ratio": 0.97, "seconds": 20.0}}
        self.boost_ns, self.go_ns = 4.0, 100.0

    def build_all(self, peers=True):
        for case, told in self.told.items():
            self.say("fibers", "nopal", 2 if case == 6 else 1, n=case, told=told)
        if peers:
            self.say("fibers", "boost", n=1, told={"ns": self.boost_ns})
            self.say("fibers", "go", n=2, told={"ns": self.go_ns})
        for problem in TABLE_1:
            self.say(problem, "serial", time_s=2.0)
            for workers in (1, 2):
                self.say(problem, "nopal", workers, time_s=2.2 / workers)
                papers = "nopal-gang" if problem == "raytracer" else "nopal-ivars"
                self.say(problem, papers, workers, time_s=3.0 / workers)
        self.write_programs()

    def run_all(self, *words, rounds=15):
        problems = ",".join(["fibers", *TABLE_1])
        return self.run_study("-n", rounds, "-t", "1,2", "-b", problems, *words)

    def compare(self, seconds, rounds=15):
        """Today's heat takes a second."""
        self.listing["built"], self.tables = {}, {}
        for workers in (1, 2):
            self.say("heat", "nopal", workers, time_s=1.0)
        self.write_programs()
        older = self.older(*({"problem": "heat", "runtime": "nopal", "workers": workers,
                              "time_s": seconds} for workers in (1, 2)))
        done = self.run_study("-n", rounds, "-t", "1,2", "-b", "heat", "--before", older)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(str(older), self.json.read_text())

    def verdicts(self):
        return [c["holds"] for c in self.document["checks"]]

    def test_what_is_promised_is_judged(self):
        self.build_all()
        done = self.run_all()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.verdicts(), [True] * 6)
        self.assertAlmostEqual(self.only("Boost")["value"], 2.5)
        self.assertAlmostEqual(self.only("Go")["value"], 0.8)
        self.assertAlmostEqual(self.only("shares")["value"], 0.02)
        self.assertAlmostEqual(self.only("provisioned")["value"], 0.03)
        self.assertAlmostEqual(self.only("memory")["value"], 8.0)
        self.assertEqual(self.page.count("<svg"), 1)

    def ivars_of_two(self, with_one, with_two):
        self.say("fib", "serial", n=29, time_s=0.01)
        for workers, seconds in ((1, with_one), (2, with_two)):
            self.say("fib", "nopal", workers, n=29, time_s=0.01)
            self.say("fib", "nopal-ivars", workers, n=29, time_s=seconds)
        self.write_programs()
        self.run_study("-n", 15, "-t", "1,2", "-b", "fib")
        return self.only("with ivars")

    def test_two_workers_must_not_be_slower_with_ivars_than_one(self):
        self.assertIs(self.ivars_of_two(0.2, 0.15)["holds"], True)
        self.assertIs(self.ivars_of_two(0.2, 0.21)["holds"], False)
        self.assertAlmostEqual(self.only("with ivars")["value"], 1.05)

    def test_what_falls_short_is_said(self):
        self.told = {1: {"ns": 13.0}, 2: {"ns": 101.0}, 3: {"p50_ms": 5.0, "p99_ms": 21.0},
                     4: {"ratio": 2.8, "seconds": 10.0}, 5: {"bytes": 13000.0, "fibers": 1000},
                     6: {"ratio": 1.1, "seconds": 20.0}}
        self.build_all()
        self.run_all()
        self.assertEqual(self.verdicts(), [False] * 6)

    def test_few_rounds_judge_no_ratio_of_times(self):
        self.build_all()
        self.run_all(rounds=2)
        self.assertEqual(self.verdicts(), [None, None, True, True, True, True])

    def test_the_papers_figures_stand_beside_ours(self):
        self.build_all()
        self.run_all(rounds=1)
        rows = self.page[self.page.index("Table 1 of the paper"):].split("<tr>")[2:5]
        cells = [[part.split("<")[0] for part in row.split(">") if part.split("<")[0].strip()]
                 for row in rows]
        self.assertEqual(cells[0], ["raytracer", "forks", "2", "2.2", "1.1", "1.1", "2", "1.82"])
        self.assertEqual(cells[1][:2], ["raytracer", "gang"])
        self.assertEqual(cells[2], ["raytracer", "the paper, P = 8", "9.58", "10.2", "1.34",
                                    "1.07", "7.64", "7.16"])

    def test_table_1_has_the_papers_sizes_unless_all_is_small(self):
        line = json.dumps({**LINE, "problem": "bitonic", "size": "SIZE"}).replace("SIZE", "%s")
        for runtime in ("serial", "nopal", "nopal-ivars"):
            named = line.replace('"tbb"', f'"{runtime}"')
            self.program(runtime, f"printf '{named}' \"$2\"", "bitonic")
        for size, sizes in (("quick", {"bitonic@paper": "paper"}), ("test", {"bitonic": "test"})):
            done = self.run_study("-n", 1, "-t", 1, "-b", "bitonic", "-s", size)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual({r["problem"]: r["size"] for r in self.document["results"]}, sizes)

    def test_without_the_others_nothing_is_judged_of_them(self):
        self.build_all(peers=False)
        done = self.run_all()
        self.assertIn("boost was not built", done.stderr + self.page)
        self.assertIsNone(self.only("Boost")["value"])
        self.assertIsNone(self.only("Go")["value"])

    def test_without_an_older_build_that_is_said(self):
        self.build_all()
        done = self.run_all(rounds=1)
        self.assertIn("No older build was given (--before DIR)", " ".join(done.stdout.split()))
        self.assertNotIn("before", " ".join(c["name"] for c in self.document["checks"]))

    def test_an_older_build_is_compared_with_and_has_a_control(self):
        for before, verdicts in ((1.005, [True, True]), (0.98, [False, True]),
                                 (1.02, [True, False])):
            self.compare(before)
            for count in ("T1", "T2"):
                known = [c for c in self.document["checks"]
                         if c["name"].startswith(f"{count} over the older")]
                self.assertEqual([c["holds"] for c in known], verdicts)
                self.assertAlmostEqual(known[0]["value"], 1 / before)
                control = self.only(f"{count} over its own", "<=")
                self.assertEqual((control["value"], control["holds"]), (1, True))

    def test_few_rounds_judge_no_build(self):
        self.compare(1.02, rounds=5)
        self.assertEqual(set(self.verdicts()), {None})

    def test_only_a_study_that_compares_builds_takes_an_older_one(self):
        for words, text in ((["--study", "idle", "--before", "x"], "which compares no builds"),
                            (["--before", "x"], "--before needs --study"),
                            (["--study", "scheduling", "--build", self.build, "--before", "x"],
                             "x holds no benchmarks")):
            self.build_all()
            done = harness.run(*words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main()
