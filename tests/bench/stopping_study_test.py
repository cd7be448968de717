# SPDX-License-Identifier: MIT
"""The study of local events, with numbers of the test's own making."""

import unittest

import fake_study

LOCAL, MANY, DEADLINES = 1, 2, 3


class StoppingStudy(fake_study.FakeStudy):
    STUDY = "stopping"

    def build_all(self, beside, seconds, late):
        metrics = {"cancel": 0.3, "either": 0.5}
        for where in ("beside", "eithers", "tokens", "after"):
            metrics |= {f"{where}_cancel": 0.3 * beside, f"{where}_either": 0.5 * beside}
        self.say("stopping", "nopal", 2, n=LOCAL, told=metrics)
        self.say("stopping", "nopal", 2, n=MANY, told={"seconds": seconds})
        self.say("stopping", "go", 2, n=MANY, told={"seconds": 0.1})
        for runtime in ("nopal", "go"):
            self.say("stopping", runtime, 2, n=DEADLINES, told={"late": late, "late_p50": 1.0})
        self.write_programs()

    def verdicts(self):
        return [c["holds"] for c in self.document["checks"]]

    def test_what_is_promised_is_judged(self):
        self.build_all(beside=1.05, seconds=0.15, late=1.02)
        done = self.run_study("-n", 15)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.verdicts(), [True] * 12)
        self.assertAlmostEqual(self.only("over Go's")["value"], 1.5)

    def test_what_falls_short_is_said(self):
        self.build_all(beside=1.2, seconds=0.25, late=1.1)
        self.run_study("-n", 15)
        self.assertEqual(self.verdicts(), [True] * 2 + [False] * 10)


if __name__ == "__main__":
    unittest.main()
