# SPDX-License-Identifier: MIT
"""The study of Fibril's counts, with programs whose steals and pages are of the test's making."""

import sys
import unittest

import fake_study
import harness

sys.path.insert(0, str(harness.RUN_PY.parent))
from runner import document, papers, programs  # pylint: disable=wrong-import-position
from runner.studies import counts  # pylint: disable=wrong-import-position

D, S1 = 9, 3
PLAIN, CENSUS, FORCED, BOTH = "", "budget:0+census", "budget:0+forced", "budget:0+census+forced"
USUAL = {"steals": 40, "suspensions": 32, "unmaps": 30, "stacks": 99, "stack_pages": 93,
         "live_pages": 0, "dead_pages": 0, "minor_faults": 70, "max_rss_kib": 6144}


class CountsStudy(fake_study.FakeStudy):
    STUDY = "counts"

    def setUp(self):
        super().setUp()
        # (policy, workers) -> fields that differ from the usual.
        self.changes = {}

    def run_counts(self, problem="fib", n=None):
        """At size test the usual series and that of forced steals are of one size."""
        self.say(problem, "profile", n=n, depth=D, serial_pages=S1)
        for policy in (PLAIN, CENSUS, FORCED, BOTH):
            for count in (16, 72):
                self.say(problem, "nopal-fibril", count, n=n, policy=policy,
                         **{**USUAL, **self.changes.get((policy, count), {})})
        for runtime in ("nopal", "nopal-cilkplus", "tbb"):
            self.say(problem, runtime, 72, n=n, stacks=7, stack_pages=8, minor_faults=9,
                     max_rss_kib=5120)
        self.write_programs()
        done = self.run_study("-b", problem if n is None else f"{problem}@{n}", "-n", 2)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_all_checks_hold_at_the_papers_numbers_of_workers(self):
        self.run_counts()
        for check in self.document["checks"]:
            self.assertIs(check["holds"], True, check)
        self.assertEqual(len(self.document["checks"]), 7)
        # (93 + 3) pages of 16 workers over S1 + D.
        self.assertAlmostEqual(self.only("(S1 + D), 16 and 72 workers (<=)")["value"],
                               96 / 16 / (S1 + D))
        self.assertAlmostEqual(self.only("unmaps", "72 workers (>=)")["value"], 0.75)
        self.assertAlmostEqual(self.only("D P")["value"], 99 / (16 * D))

    def test_pages_at_the_end_beyond_the_papers_part_of_the_bound_are_noticed(self):
        self.changes[PLAIN, 72] = {"stack_pages": 72 * 8}
        self.run_counts()
        self.assertIs(self.only("(S1 + D), 16 and 72 workers (<=)")["holds"], False)

    def test_pages_in_between_are_noticed_by_the_census(self):
        self.changes[CENSUS, 72] = {"live_pages": 72 * 4, "dead_pages": 72}
        self.run_counts()
        check = self.only("(S1 + D), 16 and 72 workers (<=)")
        self.assertAlmostEqual(check["value"], (4 + 1 + S1) / (S1 + D))
        self.assertIs(check["holds"], False)

    def test_forced_steals_are_held_to_it_apart(self):
        for change in ({(FORCED, 16): {"stack_pages": 16 * 8}},
                       {(BOTH, 72): {"live_pages": 72 * 5}}):
            self.changes = change
            self.run_counts()
            self.assertIs(self.only("(S1 + D)", "forced steals")["holds"], False)
            self.assertIs(self.only("(S1 + D), 16 and 72 workers (<=)")["holds"], True)

    def test_few_and_many_unmaps_are_noticed(self):
        self.changes[PLAIN, 72] = {"unmaps": 10}
        self.changes[FORCED, 72] = {"unmaps": 39}
        self.run_counts()
        for words, holds in ((["72 workers (>=)"], False), (["72 workers (<=)"], True),
                             (["forced steals (>=)"], True), (["forced steals (<=)"], False)):
            self.assertIs(self.only("unmaps", *words)["holds"], holds, words)

    def test_without_steals_there_is_no_quotient(self):
        self.changes[PLAIN, 72] = {"steals": 0, "unmaps": 0}
        self.run_counts()
        self.assertEqual(self.only("unmaps", "72 workers (>=)")["note"],
                         "nothing was stolen in fib")

    def test_more_stacks_than_the_bound_are_noticed(self):
        self.changes[FORCED, 72] = {"stacks": 72 * D + 1}
        self.run_counts()
        self.assertIs(self.only("D P")["holds"], False)

    def test_others_run_once(self):
        self.run_counts()
        rounds = {(s["runtime"], s["workers"]): s["round"] for s in self.document["samples"]}
        self.assertEqual(rounds["tbb", 72], [1])
        self.assertEqual(rounds["nopal-fibril", 72], [1, 2])

    def test_the_page_shows_the_papers_numbers_beside_ours(self):
        self.run_counts()
        self.assertEqual(self.page.count("<svg"), 2)
        for cell in ("20K", "0.6", "0.75", "8.46", "108/111", "3.1/6.0", "2,952"):
            self.assertTrue(f">{cell}<" in self.page, cell)

    def test_heat_has_the_papers_grid(self):
        self.run_counts("heat", n=2048)
        self.assertEqual({(s["problem"], s["n"]) for s in self.document["samples"]},
                         {("heat@2048", 2048)})
        self.assertTrue(">579K<" in self.page)

    def test_steals_are_forced_where_that_takes_no_hours(self):
        self.run_counts()
        self.assertEqual({s["problem"] for s in self.document["samples"] if "+forced" in
                          s["runtime"]}, {"fib@test"})
        self.assertEqual(counts.forced("lu"), "lu@quick")

    def test_the_page_of_papers_takes_its_rows_from_here(self):
        self.run_counts()
        result = document.from_json(self.json).result
        rows = {row.item: row.ours(result) for rows in papers.PAPERS.values() for row in rows
                if row.study == "counts"}
        self.assertEqual(len(rows), 3)
        self.assertEqual(rows["Table 2: unmaps over steals"],
                         "0.75 with 72 workers; 0.75 where forced")
        self.assertEqual(rows["Table 4: growth of memory over TBB's; stacks"],
                         "1.48; 99 stacks with 72 workers; 99 where forced")


class Memory(unittest.TestCase):
    def test_what_needs_more_memory_than_is_free_is_left_out_in_a_sentence(self):
        text = programs.too_large("strassen", "paper", 7.5)
        self.assertEqual(text, "strassen needs 11 GiB of memory at size paper, and 7.5 GiB are "
                         "free.")
        self.assertEqual(programs.too_large("strassen@paper", "quick", 7.5), text)
        for problem, size, gib in (("strassen", "paper", 12), ("strassen", "quick", 1),
                                   ("strassen@test", "paper", 1), ("fib", "paper", 1)):
            self.assertIsNone(programs.too_large(problem, size, gib))
        self.assertGreater(programs.free_gib(), 0)


if __name__ == "__main__":
    unittest.main()
