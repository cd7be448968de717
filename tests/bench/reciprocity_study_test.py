# SPDX-License-Identifier: MIT
"""The study of what serial-parallel reciprocity costs, with times of the test's making."""

import unittest

import fake_study

FOURTEEN = ["cholesky", "cilksort", "fft", "fib", "fibx", "heat", "integrate", "knapsack", "lu",
            "matmul", "nqueens", "quicksort", "rectmul", "strassen"]


class ReciprocityStudy(fake_study.FakeStudy):
    STUDY = "reciprocity"

    def build_all(self, problems=tuple(FOURTEEN), slow=(), bare=0.5, affine=0.52):
        for problem in problems:
            self.say(problem, "serial", time_s=0.3)
            self.say(problem, "nopal", time_s=0.6 if problem in slow else 0.51, forks=10**6)
            self.say(problem, "nopal-bare", time_s=bare, forks=10**6)
        self.say("regions", "nopal", 2, n=0, time_s=0.5)
        self.say("regions", "nopal", 2, n=1, time_s=affine)
        self.write_programs()

    def run_problems(self, *problems, rounds=15):
        return self.run_study("-b", ",".join(problems), "-n", rounds, "-t", "2")

    def test_everything_holds_where_little_is_lost(self):
        self.build_all()
        done = self.run_problems(*FOURTEEN, "regions")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.document["checks"]), 16)
        for check in self.document["checks"]:
            self.assertIs(check["holds"], True, check)
        self.assertAlmostEqual(self.only("geometric mean")["value"], 1.02)
        self.assertAlmostEqual(self.only("affine")["value"], 1.04)
        self.assertIn("<td class=\"number\">10</td>", self.page)  # ns per fork
        self.assertEqual(self.page.count("<svg"), 1)

    def test_a_problem_that_loses_too_much_is_noticed(self):
        self.build_all(slow=("integrate",))
        self.run_problems(*FOURTEEN)
        self.assertIs(self.only("integrate: control words")["holds"], False)
        self.assertIs(self.only("fib: control words")["holds"], True)
        self.assertIs(self.only("geometric mean")["holds"], True)

    def test_the_mean_is_of_time_with_over_time_without(self):
        self.build_all(bare=0.4)
        self.run_problems(*FOURTEEN)
        self.assertAlmostEqual(self.only("geometric mean")["value"], 0.51 / 0.4)
        self.assertIs(self.only("geometric mean")["holds"], False)

    def test_regions_that_lose_too_much_are_noticed(self):
        self.build_all(problems=(), affine=0.7)
        self.run_problems("regions")
        self.assertIs(self.only("affine")["holds"], False)

    def test_few_rounds_or_problems_judge_nothing(self):
        self.build_all(problems=("fib",))
        self.run_problems("fib", "regions", rounds=2)
        for check in self.document["checks"]:
            self.assertIsNone(check["holds"], check)
        self.assertIn("needs all fourteen problems", self.only("geometric mean")["note"])


if __name__ == "__main__":
    unittest.main()
