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
        self.say("regions", "nopal", 2, n=1, time_s=0.5)
        self.say("regions", "nopal", 2, n=2, time_s=affine)
        self.write_programs()

    def run_problems(self, *problems, rounds=15):
        return self.run_study("-b", ",".join(problems), "-n", rounds, "-t", "2")

    def test_everything_holds_where_little_is_lost(self):
        self.build_all()
        done = self.run_problems(*FOURTEEN, "regions")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([c["holds"] for c in self.document["checks"]], [True])
        self.assertAlmostEqual(self.only("affine")["value"], 1.04)
        self.assertEqual(self.page.count("<svg"), 1)

    def test_the_cost_of_control_words_is_shown_for_each_and_on_the_mean(self):
        self.build_all(slow=("integrate",), bare=0.5)
        self.run_problems(*FOURTEEN)
        self.assertIn("<td class=\"number\">10</td>", self.page)  # ns per fork
        self.assertIn("<td class=\"number\">100</td>", self.page)
        self.assertEqual(self.page.count("<td class=\"number\">1.02</td>"), 13)
        self.assertIn("<td class=\"number\">1.2</td>", self.page)
        self.assertIn("<td class=\"number\">1.03</td>", self.page)  # the mean

    def test_regions_that_lose_too_much_are_noticed(self):
        self.build_all(problems=(), affine=0.7)
        self.run_problems("regions")
        self.assertIs(self.only("affine")["holds"], False)

    def test_few_rounds_judge_nothing(self):
        self.build_all(problems=("fib",))
        self.run_problems("fib", "regions", rounds=2)
        self.assertIsNone(self.only("affine")["holds"])


if __name__ == "__main__":
    unittest.main()
