# SPDX-License-Identifier: MIT
"""The kept studies: their pages and pictures can be drawn without any build.

usage: kept_test.py [--all]

Without --all, each third of the studies is drawn.
"""

import json
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

import harness

RESULTS = harness.RUN_PY.parents[1] / "docs" / "results"
KEPT = sorted(RESULTS.glob("*.json"))
DRAWN = KEPT if "--all" in sys.argv else KEPT[::3]


class Kept(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.out = pathlib.Path(holder.name)

    def shown(self, path):
        """What the page of this file says."""
        page = self.out / f"{path.stem}.html"
        done = harness.run("--from", path, "--html", page, "--svg", self.out)
        self.assertNotIn("Traceback", done.stderr, path)
        self.assertIn(f"{page} was written.", done.stderr)
        return page.read_text(encoding="utf-8")

    def test_each_has_a_page_and_a_picture(self):
        self.assertGreater(len(KEPT), 10)
        for path in DRAWN:
            page = self.shown(path)
            cpu = json.loads(path.read_text(encoding="utf-8"))["host"]["cpu"]
            picture = (self.out / f"{path.stem}.svg").read_text(encoding="utf-8")
            for text in (page, picture):
                self.assertIn("<svg", text, path)
                self.assertIn(cpu, text, path)
            self.assertIn("<table", page, path)
            self.assertLess(len(picture), 44000, path)

    def test_tables_need_no_matplotlib(self):
        with unittest.mock.patch.dict("sys.modules", matplotlib=None):  # as if it were missing
            done = harness.run("--from", RESULTS / "overview.json")
            drawn = harness.run("--from", RESULTS / "overview.json", "--svg", self.out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Cost of a fork and join", done.stdout)
        self.assertIn("the tables alone; a page needs matplotlib", done.stderr)
        self.assertIn("need matplotlib", drawn.stderr)

    def test_former_names_of_policies_are_understood(self):
        page = self.shown(RESULTS / "fibril.json")
        self.assertIn("nopal-fibril:budget:unlimited<", page)

    def test_what_has_left_the_project_is_shown_as_it_was_judged(self):
        whole = json.loads((RESULTS / "reciprocity.json").read_text(encoding="utf-8"))
        gone = self.out / "gone.json"
        gone.write_text(json.dumps({**whole, "study": "gone"}), encoding="utf-8")
        for path in (RESULTS / "reciprocity.json", gone):
            page = self.shown(path)
            self.assertIn("nopal-bare", page)
            self.assertIn("The checks of the version that measured", page)

    def test_a_bad_file_is_one_sentence(self):
        whole = json.loads(KEPT[0].read_text(encoding="utf-8"))
        bad = self.out / "bad.json"
        for text, said in (("", "is not JSON"), ("{", "is not JSON"),
                           ("[]", "is not the JSON of a study"),
                           ('{"meta": {}}', "is not the JSON of a study"),
                           ('{"study": "nowa"}', "is not the whole JSON of a study"),
                           (json.dumps({**whole, "study": "forks"}), "lacks what the study")):
            bad.write_text(text, encoding="utf-8")
            done = harness.run("--from", bad, "--html", self.out / "bad.html")
            self.assertEqual(done.returncode, 2, (text[:40], done.stderr))
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(f"bad.json {said}", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
