# SPDX-License-Identifier: MIT
"""The study of what serial-parallel reciprocity costs, with times of the test's making."""

import unittest

import fake_study


class ReciprocityStudy(fake_study.FakeStudy):
    STUDY = "reciprocity"

    def run_regions(self, affine, rounds=15):
        self.say("regions", "nopal", 2, n=1, time_s=0.5)
        self.say("regions", "nopal", 2, n=2, time_s=affine)
        self.write_programs()
        return self.run_study("-n", rounds, "-t", "2")

    def test_everything_holds_where_little_is_lost(self):
        done = self.run_regions(affine=0.52)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([c["holds"] for c in self.document["checks"]], [True])
        self.assertAlmostEqual(self.only("affine")["value"], 1.04)
        self.assertEqual(self.page.count("<svg"), 1)

    def test_regions_that_lose_too_much_are_noticed(self):
        self.run_regions(affine=0.7)
        self.assertIs(self.only("affine")["holds"], False)

    def test_few_rounds_judge_nothing(self):
        self.run_regions(affine=0.52, rounds=2)
        self.assertIsNone(self.only("affine")["holds"])


if __name__ == "__main__":
    unittest.main()
