# SPDX-License-Identifier: MIT
"""The study of Nowa over programs of the test's own making: checks, bounds, worker counts."""

import unittest

from timed_study import TimedStudy

PRESETS = {"nopal-nowa": 0.4, "nopal-nowa-the": 0.5, "nopal-fibril": 0.6, "nopal-cilkplus": 0.7}
FINE = ["fib", "integrate", "nqueens", "matmul", "fibx", "cilksort"]


class Nowa(TimedStudy):
    def nowa(self, *words, problems="fib"):
        done = self.study("nowa", "-b", problems, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def check(self, words):
        rows = [c for c in self.document["checks"] if words in c["name"]]
        self.assertEqual(len(rows), 1, words)
        return rows[0]

    def presets(self, problem="fib"):
        for runtime, seconds in PRESETS.items():
            self.timed(runtime, problem, seconds)

    def test_nopal_is_held_against_the_fastest_preset(self):
        self.presets()
        self.timed("nopal", seconds=0.8, with_two=0.32)
        self.nowa("-t", "2", "-n", 15)
        check = self.check("fib: speed of nopal over the fastest preset")
        self.assertAlmostEqual(check["value"], 1.25)
        self.assertIs(check["holds"], True)

    def test_a_faster_preset_breaks_the_promise(self):
        self.presets()
        self.timed("nopal", seconds=0.8)
        self.nowa("-t", "2", "-n", 15)
        check = self.check("fib: speed of nopal over the fastest preset")
        self.assertAlmostEqual(check["value"], 0.5)
        self.assertIs(check["holds"], False)

    def test_a_missing_preset_leaves_it_open(self):
        self.timed("nopal")
        self.timed("nopal-nowa")
        self.nowa("-t", "2", "-n", 15)
        check = self.check("fib: speed of nopal over the fastest preset")
        self.assertIsNone(check["holds"])
        self.assertIn("needs fib on nopal-nowa-the", check["note"])

    def test_knapsack_is_not_held_against_presets(self):
        self.timed("nopal", "knapsack")
        self.nowa("-t", "2", "-n", 1, problems="knapsack")
        names = [c["name"] for c in self.document["checks"]]
        self.assertFalse([name for name in names if "preset" in name and "knapsack" in name])
        self.assertTrue([name for name in names if name.startswith("knapsack: speed of nopal over "
                                                                   "oneTBB")])

    def test_knapsack_is_shown_in_both_orders(self):
        for problem, seconds in (("knapsack", 0.4), ("knapsack_swapped", 0.1)):
            self.timed("nopal-nowa", problem, seconds)
            self.timed("tbb", problem, 0.2)
        self.nowa("-t", "2", "-n", 1, problems="knapsack")
        page = self.drawn()
        row = page[page.index("<td>nopal-nowa</td>"):].partition("</tr>")[0]
        self.assertIn('<td class="number">0.5</td><td class="number">2</td>', row)

    def test_the_mean_over_tbb(self):
        for place, problem in enumerate(FINE):
            self.timed("nopal", problem, 0.1)
            self.timed("tbb", problem, 0.1 * 4**(place % 2))
        self.nowa("-t", "2", "-n", 15, problems=",".join(FINE))
        check = self.check("geometric mean")
        self.assertAlmostEqual(check["value"], 2.0)
        self.assertIs(check["holds"], True)

    def test_the_mean_needs_all_of_its_problems(self):
        self.timed("nopal")
        self.timed("tbb")
        self.nowa("-t", "2", "-n", 15)
        self.assertEqual(self.check("geometric mean")["note"],
                         "needs integrate, nqueens, matmul, fibx, cilksort")

    def test_a_stopped_competitor_is_a_bound(self):
        for problem in FINE:
            self.timed("nopal", problem, 0.1)
            self.timed("tbb", problem, 0.1)
        (self.build / "bench" / "fib-tbb").write_text("#!/bin/sh\n" + self.HANGS + "\n")
        self.nowa("-t", "2", "-n", 15, "--at-most", 1, problems=",".join(FINE))
        mean = self.check("geometric mean")
        self.assertAlmostEqual(mean["value"], 10**(1 / 6))
        self.assertEqual((mean["bound"], mean["holds"]), (">", None))
        single = self.check("fib: speed of nopal over oneTBB")
        self.assertEqual((single["value"], single["bound"], single["holds"]), (10, ">", True))
        self.assertTrue(">&gt; 10<" in self.drawn())

    def test_the_preset_is_held_against_the_original(self):
        self.timed("nopal-nowa", seconds=0.24)
        self.timed("nowa", seconds=0.2)
        self.nowa("-t", "1", "-n", 15)
        check = self.check("fib: T1 of nopal-nowa over that of nowa")
        self.assertAlmostEqual(check["value"], 1.2)
        self.assertIs(check["holds"], False)

    def counts(self, runtime):
        return {s["workers"] for s in self.document["samples"] if s["runtime"] == runtime}

    def test_the_joins_meet_up_to_64_workers(self):
        for runtime in ("nopal", "nopal-nowa-the", "nopal-fibril"):
            self.timed(runtime)
        self.nowa("-n", 1)
        many = {2, 4, 8, 16, 32, 64}
        self.assertLessEqual(many, self.counts("nopal-nowa-the"))
        self.assertLessEqual(many, self.counts("nopal-fibril:budget:unlimited"))
        self.assertNotIn(64, self.counts("nopal-fibril"))
        self.assertNotIn(64, self.counts("nopal"))

    def test_workers_asked_for_take_their_place(self):
        for runtime in ("nopal", "nopal-nowa-the"):
            self.timed(runtime)
        self.nowa("-n", 1, "-t", "1,2,8")
        self.assertEqual(self.counts("nopal-nowa-the"), {1, 2, 8})
        self.assertIn("-t 1,2,8", self.document["runs"][0]["command"])

    def test_the_pool_is_stressed_with_cholesky(self):
        for runtime in ("nopal", "nopal-nowa"):
            self.timed(runtime, "cholesky")
        self.nowa("-n", 1, problems="cholesky")
        self.assertLessEqual({2, 64}, self.counts("nopal"))

    def test_child_stealing_stands_beside_the_stealing_of_continuations(self):
        self.timed("child-stealing", forks=1000, steals=5, told={"closures": 1000})
        self.timed("nopal-nowa", steals=3, suspensions=4)
        self.nowa("-n", 1, "-t", "2")
        page = self.drawn()
        table = page[page.index("Child and continuation stealing, 2 workers"):]
        cells = "".join(f'<td class="number">{n}</td>' for n in (1, 5, 3, 7))
        self.assertIn(f"<tr><td>fib</td>{cells}</tr>", table.partition("</table>")[0])

    def test_a_budget_is_measured_apart(self):
        self.timed("serial")
        self.timed("nopal-nowa")
        self.nowa("-n", 1, "-t", "1")
        self.assertEqual({s["runtime"] for s in self.document["samples"]},
                         {"serial", "nopal-nowa", "nopal-nowa:budget:0"})


if __name__ == "__main__":
    unittest.main()
