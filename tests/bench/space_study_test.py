# SPDX-License-Identifier: MIT
"""The study of dead stack pages, with programs whose times and pages are of the test's making."""

import unittest

import fake_study

FOURTEEN = ["cholesky", "cilksort", "fft", "fib", "fibx", "heat", "integrate", "knapsack", "lu",
            "matmul", "nqueens", "quicksort", "rectmul", "strassen"]
COUNTED = ["budget:unlimited", "budget:64M", "budget:2M"]
POLICIES = [*COUNTED, "budget:0"]
S1 = 5
D = 40
BUDGET_KIB = 64 << 10


class SpaceStudy(fake_study.FakeStudy):
    STUDY = "space"

    def setUp(self):
        super().setUp()
        # (problem, policy, workers) -> fields that differ from the usual.
        self.changes = {}

    def build_all(self, problems):
        for problem in problems:
            self.say(problem, "profile", depth=D, serial_pages=S1)
            for policy in POLICIES + [f"{policy}+census" for policy in COUNTED]:
                for count in (2, 4):
                    fields = {"time_s": 0.5, "steals": 7, "suspensions": 3, "unmaps": 2,
                              "stacks": 6, "stack_pages": 90, "page_counts": 1, "live_pages": 8,
                              "dead_pages": 100, "max_rss_kib": 4000}
                    fields |= self.changes.get((problem, policy, count), {})
                    self.say(problem, "nopal", count, policy=policy, **fields)
        self.write_programs()

    def run_problems(self, *problems, rounds=1):
        return self.run_study("-b", ",".join(problems), "-n", rounds, "-t", "2,4")

    def test_everything_holds_where_a_budget_costs_no_time_and_is_kept(self):
        self.build_all(FOURTEEN)
        done = self.run_problems(*FOURTEEN, rounds=15)
        self.assertEqual(done.returncode, 0, done.stderr)
        for check in self.document["checks"]:
            self.assertIs(check["holds"], True, check)
        self.assertAlmostEqual(self.only("geometric mean")["value"], 1)
        self.assertAlmostEqual(self.only("lu: most dead pages", "64 MiB")["value"],
                               100 * 4 / BUDGET_KIB)
        self.assertAlmostEqual(self.only("lu: most live pages")["value"], 8 / (2 * (S1 + D)))
        self.assertEqual(self.page.count("<svg"), 3)

    def test_a_slower_budget_is_noticed(self):
        self.changes["heat", "budget:64M", 4] = {"time_s": 0.6}
        self.build_all(FOURTEEN)
        self.run_problems(*FOURTEEN, rounds=15)
        self.assertIs(self.only("heat: speed with a budget")["holds"], False)
        self.assertIs(self.only("fib: speed with a budget")["holds"], True)
        self.assertIs(self.only("geometric mean")["holds"], True)
        self.assertAlmostEqual(self.only("geometric mean")["value"], (5 / 6) ** (1 / 14))

    def test_too_few_rounds_give_no_verdict(self):
        self.build_all(["fib"])
        self.run_problems("fib")
        self.assertIsNone(self.only("fib: speed with a budget")["holds"])
        self.assertIsNone(self.only("geometric mean")["holds"])

    def test_a_budget_that_is_exceeded_once_is_noticed(self):
        self.changes["fib", "budget:2M+census", 2] = {"dead_pages": 513}
        self.build_all(["fib"])
        self.run_problems("fib")
        self.assertIs(self.only("fib: most dead pages", " 2 MiB")["holds"], False)
        self.assertAlmostEqual(self.only("fib: most dead pages", " 2 MiB")["value"], 513 / 512)
        self.assertIs(self.only("fib: most dead pages", "64 MiB")["holds"], True)

    def test_live_pages_beyond_their_bound_are_noticed_under_each_budget(self):
        self.changes["fib", "budget:unlimited+census", 4] = {"live_pages": 4 * (S1 + D) + 1}
        self.build_all(["fib"])
        self.run_problems("fib")
        self.assertIs(self.only("fib: most live pages")["holds"], False)

    def test_a_peak_beyond_that_without_dead_pages_and_the_budget_is_noticed(self):
        self.changes["fib", "budget:0", 4] = {"max_rss_kib": 3000}
        self.changes["fib", "budget:64M", 4] = {"max_rss_kib": int(1.03 * (3000 + BUDGET_KIB))}
        self.build_all(["fib"])
        self.run_problems("fib")
        self.assertIs(self.only("fib: peak memory")["holds"], False)

    def test_the_table_has_a_row_for_each_budget(self):
        self.build_all(["fib"])
        self.run_problems("fib")
        for policy in POLICIES:
            self.assertTrue(f'<td class="number">{policy}</td>' in self.page, policy)


if __name__ == "__main__":
    unittest.main()
