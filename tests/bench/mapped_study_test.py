# SPDX-License-Identifier: MIT
"""The study of workers that each see one linear stack, with programs of the test's making."""

import json
import unittest

import fake_study

PAPERS = ["cholesky", "cilksort", "fft", "fib", "fibx", "heat", "knapsack", "lu", "matmul",
          "nqueens", "rectmul", "strassen"]
ON_HEAP = ["cilksort", "fib", "fibx", "heat", "matmul", "nqueens"]
P, S1, D = 16, 4, 20
COUNTED, KEEPS = "budget:64M+census", "budget:unlimited"
CASE = {"pages": 4, "runs": 2, "crossings": 3, "us": 12.0, "page_wise_crossings": 5,
        "page_wise_us": 20.0, "copy_us": 0.3}


class MappedStudy(fake_study.FakeStudy):
    STUDY = "mapped"

    def setUp(self):
        super().setUp()
        # (problem, runtime, policy, workers) -> fields that differ from the usual.
        self.changes = {}
        self.prefixes = CASE

    def say_one(self, problem, runtime, count, policy="", **fields):
        fields |= self.changes.get((problem, runtime, policy, count), {})
        self.say(problem, runtime, count, policy=policy, **fields)

    def build_all(self, problems, mapped=True):
        for problem in problems:
            if problem in PAPERS:
                self.say(problem, "profile", depth=D, serial_pages=S1)
                for count in (1, 2):
                    self.say_one(problem, "nopal", count)
            if problem in ON_HEAP:
                self.say_one(problem, "heap-frames", P, stack_pages=P * S1,
                             told={"heap_pages": 100})
            if not mapped:
                continue
            views = {"view_steals": 10, "view_shows": 15, "view_maps": 15, "view_calls": 25}
            for count in (1, 2, 4, P):
                self.say_one(problem, "nopal-mapped", count, told=views, steals=10,
                             stack_pages=count * S1)
            self.say_one(problem, "nopal-mapped", P, COUNTED, live_pages=7)
            if problem in PAPERS:
                self.say_one(problem, "nopal-mapped-pages", P, KEEPS, stack_pages=P * 33)
            self.say_one(problem, "nopal-mapped", P, KEEPS, stack_pages=P * S1,
                         max_rss_kib=9000, told={"heap_pages": 40})
        self.write_programs()
        self.plain_program("prefixes", json.dumps({"cases": [self.prefixes]}))

    def run_problems(self, *problems, rounds=1):
        return self.run_study("-b", ",".join(problems), "-n", rounds)

    def test_everything_holds_where_views_cost_little(self):
        self.build_all([*PAPERS, "raytracer"])
        done = self.run_problems(*PAPERS, "raytracer", rounds=15)
        self.assertEqual(done.returncode, 0, done.stderr)
        for check in self.document["checks"]:
            self.assertIs(check["holds"], True, check)
        self.assertAlmostEqual(self.only("T2", "geometric mean")["value"], 1)
        self.assertAlmostEqual(self.only("lu: stack pages, none")["value"], S1 / (S1 + D))
        self.assertAlmostEqual(self.only("heat: pages of stacks and heap")["value"],
                               (P * S1 + 40) / (P * S1 + 100))
        self.assertAlmostEqual(self.only("system calls per steal")["value"], 2.5)
        self.assertEqual([c for c in self.document["checks"] if "raytracer" in c["name"]], [])
        verified = {(r["problem"], r["workers"]) for r in self.document["results"]
                    if r["runtime"] == "nopal-mapped"}
        self.assertEqual(verified, {(p, n) for p in [*PAPERS, "raytracer"] for n in (1, 2, 4, P)})
        self.assertEqual(self.page.count("<svg"), 2)

    def test_slow_programs_are_noticed_each_and_together(self):
        for count, time in ((1, 0.65), (2, 0.7)):
            for problem in PAPERS:
                self.changes[problem, "nopal-mapped", "", count] = {"time_s": time}
        self.build_all(PAPERS)
        self.run_problems(*PAPERS, rounds=15)
        for count, ratio in ((1, 1.3), (2, 1.4)):
            for words in ("geometric mean", "fft: "):
                check = self.only(words, f"T{count}")
                self.assertAlmostEqual(check["value"], ratio)
                self.assertIs(check["holds"], False)

    def test_pages_beyond_their_bound_are_noticed(self):
        self.changes["fib", "nopal-mapped", KEEPS, P] = {"stack_pages": P * (S1 + D) + 1}
        self.build_all(["fib"])
        self.run_problems("fib")
        self.assertIs(self.only("fib: stack pages, none")["holds"], False)

    def test_more_pages_than_the_paper_has_are_noticed(self):
        self.changes["fib", "nopal-mapped", "", 1] = {"stack_pages": 2}
        self.changes["fib", "nopal-mapped", KEEPS, P] = {"stack_pages": P * 5 + 1}
        self.build_all(["fib"])
        self.run_problems("fib")
        self.assertIs(self.only("fib: stack pages of each")["holds"], False)

    def test_more_pages_than_with_frames_on_the_heap_are_noticed_but_for_two(self):
        for problem in ("heat", "fib"):
            self.changes[problem, "heap-frames", "", P] = {"stack_pages": 1}
        self.build_all(["heat", "fib"])
        self.run_problems("heat", "fib")
        self.assertIs(self.only("pages of stacks and heap")["holds"], False)
        self.assertIn("heat", self.only("pages of stacks and heap")["name"])

    def test_a_heap_that_is_not_told_is_what_the_memory_grew_by_besides_stacks(self):
        self.changes["heat", "nopal-mapped", KEEPS, P] = {
            "max_rss_kib": 3000 + 4 * (P * S1 + 50), "told": None}
        self.build_all(["heat"])
        self.run_problems("heat")
        self.assertAlmostEqual(self.only("heat: pages of stacks and heap")["value"],
                               (P * S1 + 50) / (P * S1 + 100))

    def test_many_calls_per_steal_are_noticed(self):
        self.changes["lu", "nopal-mapped", "", P] = {
            "told": {"view_steals": 2, "view_shows": 3, "view_maps": 2, "view_calls": 7}}
        self.build_all(["lu"])
        self.run_problems("lu")
        self.assertIs(self.only("system calls per steal")["holds"], False)
        self.assertAlmostEqual(self.only("system calls per steal")["value"], 3.5)

    def test_where_nobody_steals_calls_are_not_judged(self):
        self.changes["lu", "nopal-mapped", "", P] = {
            "told": {"view_steals": 0, "view_shows": 0, "view_maps": 0, "view_calls": 0}}
        self.build_all(["lu"])
        self.run_problems("lu")
        self.assertIsNone(self.only("system calls per steal")["holds"])

    def test_dear_prefixes_are_noticed(self):
        self.prefixes = {**CASE, "crossings": 4, "us": 17.0}
        self.build_all(["lu"])
        self.run_problems("lu")
        self.assertIs(self.only("crossings over r + 1")["holds"], False)
        self.assertIs(self.only("us over 10 + 3 r")["holds"], False)

    def test_without_the_program_prefixes_the_rest_is_shown(self):
        self.build_all(["lu"])
        (self.build / "bench" / "prefixes").unlink()
        done = self.run_problems("lu")
        self.assertEqual(done.returncode, 1)
        self.assertIn("The program prefixes gave nothing", done.stderr)
        self.assertIsNone(self.only("crossings over r + 1")["holds"])
        self.assertIs(self.only("lu: stack pages, none")["holds"], True)

    def test_a_program_that_fails_with_some_workers_is_said(self):
        self.changes["raytracer", "nopal-mapped", "", 4] = {"verified": False}
        self.build_all(["raytracer"])
        done = self.run_problems("raytracer")
        self.assertEqual(done.returncode, 1)
        self.assertIn("raytracer on nopal-mapped with 4 workers failed", done.stderr)

    def test_where_the_library_is_not_built_the_others_are_measured(self):
        self.build_all(["fib"], mapped=False)
        done = self.run_problems("fib")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nopal-mapped was not built", done.stderr)
        self.assertIsNone(self.only("fib: stack pages, none")["holds"])

    def test_the_papers_numbers_stand_beside(self):
        self.build_all(["fibx"])
        self.run_problems("fibx")
        for number in ("281", "8.44", "135", "217", "33.00"):
            self.assertIn(f">{number}<", self.page)


if __name__ == "__main__":
    unittest.main()
