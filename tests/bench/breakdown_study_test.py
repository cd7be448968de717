# SPDX-License-Identifier: MIT
"""The study breakdown, with times and counts of the test's making."""

import json
import pathlib
import sys
import unittest

import fake_study
import harness

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from runner import document, papers  # pylint: disable=wrong-import-position
from runner.studies import breakdown  # pylint: disable=wrong-import-position

# Nanoseconds, and instructions, of the programs: the parts of a fork sum to 8 of 8, those of a
# fiber to 90 of 100.
FORKS = {0: 1.0, 1: 1.5, 2: 3.0, 3: 4.0, 4: 5.5, 5: 8.0, 6: 9.0, 7: 9.0, 8: 9.5}
FIBERS = {10: 1.0, 11: 11.0, 12: 6.0, 13: 6.0, 14: 11.0, 15: 21.0, 16: 21.0, 17: 41.0, 18: 101.0}


class Breakdown(fake_study.FakeStudy):
    STUDY = "breakdown"

    def measure(self, times):
        for kind, number in (("forks", FORKS), ("fibers", FIBERS)):
            for program in number:
                given = breakdown.NUMBERS[kind]["test"]
                self.say("breakdown", "nopal", n=100 * program + given,
                         told={"ns": times[program]})
        self.write_programs()
        self.run_study("-n", 15)

    def with_counts(self, counts):
        """The file as if the counts had been these; what is shown of it."""
        whole = harness.read_json(self.json)
        whole["extra"] = {"counts": {str(p): dict.fromkeys(("instructions", "loads", "stores"), c)
                                     for p, c in counts.items()}, "failures": []}
        self.json.write_text(json.dumps(whole))
        self.html.unlink(missing_ok=True)
        done = harness.run("--from", self.json)
        self.assertNotIn("Traceback", done.stderr)
        return done.stdout

    def study(self):
        return document.from_json(self.json)

    def test_parts_that_explain_the_whole_hold_and_others_do_not(self):
        self.measure({**FORKS, **FIBERS})
        for row in self.document["checks"]:
            if "time" in row["name"]:
                self.assertIs(row["holds"], "native" in row["name"], row)
        self.assertAlmostEqual(self.only("fibers", "time")["value"], 0.9)
        self.assertIsNone(self.only("fibers", "instructions", ">=")["value"])

    def test_parts_that_explain_too_much_are_noticed(self):
        self.measure({**FORKS, **FIBERS})
        self.with_counts({**FORKS, **FIBERS, 17: 61.0})
        row = next(row for row in breakdown.checks(self.study().result)
                   if "fibers" in row["name"] and "<=" in row["name"])
        self.assertAlmostEqual(row["value"], 1.1)
        self.assertIs(row["holds"], False)

    def test_what_is_not_explained_has_a_row(self):
        self.measure({**FORKS, **FIBERS})
        said = self.with_counts({**FORKS, **FIBERS})
        rows = [line.split()[-4:] for line in said.splitlines() if "not explained" in line]
        self.assertEqual([row[0] for row in rows], ["0.0", "10.0"])
        self.assertEqual([row[3] for row in rows], ["0.00", "10.00"])
        self.assertIn("<svg", self.page)

    def test_the_row_of_the_paper_names_the_largest_part(self):
        self.measure({**FORKS, **FIBERS})
        self.with_counts({**FORKS, **FIBERS})
        said = papers.parts_of_forks(self.study().result)
        self.assertIn("native forks: 6 parts, 1 (1 to 1) of the time, 1 of the instructions; most: "
                      "mark closed, 0.312", said)
        self.assertIn("fibers with ivars: 7 parts, 0.9 (0.9 to 0.9) of the time, 0.9 of the "
                      "instructions; most: stack, 0.2", said)


if __name__ == "__main__":
    unittest.main()
