# SPDX-License-Identifier: MIT
"""The study of the authors' programs, with times of the test's own making."""

import unittest

from timed_study import TimedStudy


JUDGED = ("fib: T1", "matmul: T1", "geometric")


class Authors(TimedStudy):
    def measured(self, matmul):
        for runtime, fib, other in (("nopal-c-fibril", 0.08, 0.1 * matmul),
                                    ("fibril-own", 0.1, 0.1)):
            self.timed(runtime, "fib", fib)
            self.timed(runtime, "matmul", other)
        self.study("authors", "-b", "fib,matmul", "-t", "1", "-n", 15)

    def check(self, words):
        rows = [c for c in self.document["checks"] if words in c["name"]
                and "nopal-c-fibril" in c["name"]]
        self.assertEqual(len(rows), 1, words)
        return rows[0]

    def test_ours_is_held_against_theirs(self):
        self.measured(matmul=1.02)
        self.assertAlmostEqual(self.check("fib: T1")["value"], 0.8)
        self.assertAlmostEqual(self.check("matmul: T1")["value"], 1.02)
        self.assertAlmostEqual(self.check("geometric")["value"], (0.8 * 1.02) ** 0.5)
        self.assertEqual([self.check(words)["holds"] for words in JUDGED],
                         [True] * 3)

    def test_what_falls_short_is_said(self):
        self.measured(matmul=1.4)
        self.assertEqual([self.check(words)["holds"] for words in JUDGED],
                         [True, False, False])

    def test_a_runtime_that_is_not_there_has_no_verdict(self):
        self.measured(matmul=1)
        rows = [c for c in self.document["checks"] if "nopal-c-nowa" in c["name"]]
        self.assertEqual({c["holds"] for c in rows}, {None})


if __name__ == "__main__":
    unittest.main()
