# SPDX-License-Identifier: MIT
"""The study of the cactus-stack strategies, with programs that behave like each of them."""

import unittest

import fake_study

PRESETS = ["nopal", "nopal-depth-restricted", "nopal-reuse-ancestors", "nopal-cilkplus",
           "nopal-fibril"]
PROBLEMS = ["reciprocity", "captives", "suspended"]
S1 = 5
D = 40
# Speed-up of `captives` with 4 workers where no thief has to wait, and where thieves do.
FREE = 3.6
STALLED = 2.0


class StrategiesStudy(fake_study.FakeStudy):
    STUDY = "strategies"

    def setUp(self):
        super().setUp()
        # (runtime, policy) -> fields that differ from the usual.
        self.changes = {}

    def usual(self, runtime, policy, count):
        waits = count > 1 and (runtime == "nopal-depth-restricted" or policy.startswith("bounded"))
        return {"time_s": 0.8 / (1 if count == 1 else STALLED if waits else FREE), "steals": count,
                "suspensions": 1, "unmaps": 0, "stacks": 60, "stack_pages": 90}

    def build_all(self, presets=tuple(PRESETS)):
        for problem in PROBLEMS:
            self.say(problem, "profile", depth=D, serial_pages=S1)
            for runtime in presets:
                policies = {"nopal": ["", "dontneed"], "nopal-cilkplus": ["", "bounded:4"]}
                for policy in policies.get(runtime, [""]):
                    for count in (1, 4):
                        fields = self.usual(runtime, policy, count)
                        fields |= self.changes.get((problem, runtime, policy), {})
                        self.say(problem, runtime, count, policy=policy, **fields)
        self.write_programs()

    def run_problems(self, problems=",".join(PROBLEMS)):
        return self.run_study("-b", problems, "-n", 1, "-t", "1,4")

    def test_everything_holds_where_each_behaves_as_the_paper_says(self):
        self.build_all()
        done = self.run_problems()
        self.assertEqual(done.returncode, 0, done.stderr)
        for check in self.document["checks"]:
            self.assertIs(check["holds"], True, check)
        self.assertAlmostEqual(
            self.only("T4 of nopal-depth-restricted over nopal's")["value"], FREE / STALLED)
        self.assertAlmostEqual(
            self.only("T4 of nopal-cilkplus:bounded:4 over nopal's")["value"], FREE / STALLED)
        self.assertAlmostEqual(self.only("captives: speed-up of nopal over P")["value"], FREE / 4)
        self.assertAlmostEqual(
            self.only("suspended: stack pages of nopal-fibril")["value"], 90 / (4 * (S1 + D)))
        self.assertAlmostEqual(
            self.only("suspended: stacks of nopal over D P")["value"], 60 / (4 * D))
        self.assertEqual(self.only("reciprocity on nopal-fibril")["value"], 4)

    def test_the_papers_words_stand_beside(self):
        self.build_all()
        self.run_problems()
        for words in ("Depth-restricted stealing", "very strong", "TLMM cactus stacks",
                      "yes (4 steals)"):
            self.assertIn(words, self.page)
        self.assertEqual(self.page.count("<svg"), 2)

    def test_a_wrong_result_breaks_reciprocity(self):
        self.changes[("reciprocity", "nopal-fibril", "")] = {"verified": False}
        self.build_all()
        done = self.run_problems()
        self.assertEqual(done.returncode, 1)
        self.assertIs(self.only("reciprocity on nopal-fibril")["holds"], False)
        self.assertEqual(self.only("reciprocity on nopal-fibril")["value"], 0)
        self.assertIs(self.only("reciprocity on nopal-cilkplus:bounded:P")["holds"], True)
        self.assertIn("not shown", self.page)

    def test_without_a_steal_reciprocity_is_not_shown(self):
        self.changes[("reciprocity", "nopal", "dontneed")] = {"steals": 0}
        self.build_all()
        self.run_problems()
        self.assertIs(self.only("reciprocity on nopal:dontneed")["holds"], False)
        self.assertIs(self.only("reciprocity on nopal: ")["holds"], True)

    def test_a_restricted_thief_that_does_not_wait_is_noticed(self):
        self.changes[("captives", "nopal-depth-restricted", "")] = {"time_s": 0.8 / FREE}
        self.build_all()
        self.run_problems()
        self.assertIs(self.only("T4 of nopal-depth-restricted")["holds"], False)
        self.assertIs(self.only("T4 of nopal-cilkplus:bounded:4")["holds"], True)

    def test_pages_and_stacks_beyond_their_bounds_are_noticed(self):
        self.changes[("suspended", "nopal-fibril", "")] = {"stack_pages": 4 * (S1 + D) + 1,
                                                           "stacks": 4 * D + 1}
        self.build_all()
        self.run_problems()
        for what in ("stack pages", "stacks"):
            self.assertIs(self.only(f"suspended: {what} of nopal-fibril")["holds"], False)
        self.assertIs(self.only("suspended: stacks of nopal over")["holds"], True)

    def test_presets_that_were_not_built_are_said(self):
        self.build_all(presets=("nopal", "nopal-fibril"))
        done = self.run_problems()
        self.assertEqual(done.returncode, 0, done.stderr)
        for runtime in ("nopal-depth-restricted", "nopal-reuse-ancestors", "nopal-cilkplus"):
            self.assertIn(f"{runtime} was not built", done.stderr)
            self.assertIsNone(self.only(f"reciprocity on {runtime}: ")["holds"])
        self.assertIsNone(self.only("T4 of nopal-depth-restricted")["holds"])

    def test_nothing_of_a_problem_that_was_not_asked_for_is_judged(self):
        self.build_all()
        self.run_problems("suspended")
        names = [c["name"] for c in self.document["checks"]]
        self.assertTrue(names)
        for name in names:
            self.assertTrue(name.startswith("suspended: "), name)


if __name__ == "__main__":
    unittest.main()
