# SPDX-License-Identifier: MIT
"""The study of what a fork costs beside Nowa and Fibril, with times of the test's making."""

import pathlib
import sys
import unittest

import fake_study

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from runner.studies import forks  # pylint: disable=wrong-import-position

OTHER = {"AMD": "Intel", "Intel": "AMD"}


class ForksStudy(fake_study.FakeStudy):
    STUDY = "forks"

    def run_forks(self, nopal=1.0, fibx=0.8, rounds=15, stack_kib=330, own=2.5):
        times = {"serial_call": 0.5, "nopal": nopal, "nopal-nowa": 2.9, "nowa": 3.0, "fibril": 4.0,
                 "nowa-own": own, "fibril-own": 3.0}
        for runtime, time_s in times.items():
            self.say("fib", runtime, 1, time_s=time_s)
        for runtime in ("nopal", "nopal-nowa", "nowa", "fibril"):
            self.say("chain", runtime, 1, n=1, max_rss_kib=1000)
            self.say("chain", runtime, 1, n=2001, max_rss_kib=1000 + stack_kib)
        for problem in forks.SHAPES:
            for runtime in ("nopal", "nowa", "fibril"):
                self.say(problem, runtime, 1, time_s=0.5 if runtime == "nopal" else 1.0)
        for count in (1, 2):
            for problem in forks.COMPARED:
                self.say(problem, "nopal", count, time_s=fibx if problem == "fibx" else 0.8)
                self.say(problem, "nowa", count, time_s=1.0)
                self.say(problem, "fibril", count, time_s=1.2)
        self.write_programs()
        return self.run_study("-n", rounds)

    def only_here(self, *words):
        return self.only(*words, f"on {forks.maker()}")

    def test_fast_forks_hold_the_promises_for_this_processor(self):
        self.run_forks()
        self.assertAlmostEqual(self.only_here("T1 over that of nowa,")["value"], 1 / 3)
        self.assertIs(self.only_here("T1 over that of nowa,")["holds"], True)
        self.assertIs(self.only("stack")["holds"], True)
        self.assertIs(self.only("fibx, 2")["holds"], True)
        self.assertAlmostEqual(self.only("geometric")["value"], 0.8)
        self.assertTrue(all(c["holds"] for c in self.document["checks"]
                            if "T1 of nopal-nowa" in c["name"]))

    def test_what_is_promised_for_the_other_maker_is_not_measured(self):
        self.run_forks()
        for row in self.document["checks"]:
            if f"on {OTHER.get(forks.maker())}" in row["name"]:
                self.assertIsNone(row["value"])
                self.assertIn("needs a processor of", row["note"])

    def test_slow_forks_and_deep_stacks_are_noticed(self):
        self.run_forks(nopal=2.9, fibx=1.1, stack_kib=500, own=2.0)
        self.assertIs(self.only_here("T1 over that of nowa,")["holds"], False)
        self.assertIs(self.only("fibx, 1")["holds"], False)
        self.assertAlmostEqual(self.only("fibx, 1")["value"], 1.1, "over the faster of both")
        self.assertIs(self.only("stack")["holds"], False)
        self.assertAlmostEqual(self.only("stack")["value"], 256)

    def test_other_shapes_have_a_table(self):
        done = self.run_forks()
        rows = [line.split() for line in done.stdout.splitlines() if "hundred children" in line]
        self.assertEqual([row[7:10] for row in rows],
                         [["nopal", "0.500", "1.00"], ["nowa", "1.000", "0.50"],
                          ["fibril", "1.000", "0.50"]])

    def test_the_picture_names_the_problems_and_the_processor(self):
        self.run_forks()
        self.run_study("-n", 3, "--svg", self.build)
        picture = (pathlib.Path(self.build) / "forks.svg").read_text(encoding="utf-8")
        self.assertIn("quicksort", picture)
        self.assertIn(self.document["host"]["cpu"], picture)

    def test_few_rounds_judge_no_time(self):
        self.run_forks(rounds=2)
        self.assertIsNone(self.only("fibx, 1")["holds"])

    def test_programs_that_cannot_be_counted_are_said(self):
        """The fakes print no counts that cachegrind could have made of a fork."""
        done = self.run_forks(rounds=1)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("not counted", done.stderr)
        self.assertIsNone(self.only("instructions")["value"])


if __name__ == "__main__":
    unittest.main()
