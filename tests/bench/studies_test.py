# SPDX-License-Identifier: MIT
"""bench/run.py --study: what a study measures, says, writes and merges."""

import os
import unittest
from unittest import mock

import harness
from timed_study import TimedStudy


class Usage(TimedStudy):
    def test_unknown_study(self):
        self.refusal("Study 'cilk' is not known; accepted are ", "--study", "cilk")

    def test_studies_are_listed(self):
        done = self.run_study("list")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Nowa's evaluation", done.stdout)

    def test_what_a_study_says_itself_cannot_be_asked(self):
        for words in (["-r", "tbb"], ["--csv", "x.csv"], ["--check"]):
            self.refusal(f"{words[0]} cannot be given with --study", "--study", "nowa", *words)

    def test_a_merge_measures_nothing(self):
        for words in (["-n", "3"], ["-b", "fib"], ["--at-most", "3"]):
            self.refusal(f"{words[0]} cannot be given with --merge", "--study", "nowa", *words,
                         "--merge", "a.json")

    def test_a_merge_needs_its_study(self):
        self.refusal("--merge needs --study NAME", "--merge", "a.json")

    def test_a_problem_of_another_study(self):
        self.timed("serial")
        self.refusal("Problem 'fibx' is not known; accepted are cholesky,", "--study", "fibril",
                     "-b", "fibx", "--build", self.build)

    def test_runtimes_are_compared_as_they_are(self):
        with mock.patch.dict(os.environ, {"NOPAL_BIND": "cores"}):
            done = harness.run("--study", "fibril")
        self.assertEqual(done.returncode, 2)
        self.assertIn("NOPAL_BIND is set in the environment; a study compares", done.stderr)

    def test_nothing_is_built(self):
        self.timed("lace")
        self.refusal("Nothing is left to measure: serial was not built", "--study", "fibril",
                     "--build", self.build)


class Fibril(TimedStudy):
    def programs(self, problem="fib"):
        self.timed("serial", problem, 0.1)
        self.timed("nopal-fibril", problem, 0.24, 0.12)
        self.timed("fibril", problem, 0.3, 0.15)

    def check(self, words):
        rows = [c for c in self.document["checks"] if words in c["name"]]
        self.assertEqual(len(rows), 1, words)
        return rows[0]

    def test_the_preset_is_held_against_the_original(self):
        self.programs()
        self.study("fibril", "-b", "fib", "-t", "1", "-n", 15)
        check = self.check("T1 of nopal-fibril over that of fibril")
        self.assertAlmostEqual(check["value"], 0.8)
        self.assertIs(check["holds"], True)

    def test_what_is_judged_runs_in_every_round_and_the_rest_in_five_spread_over_all(self):
        self.programs()
        self.study("fibril", "-b", "fib", "-t", "1,2", "-n", 15)
        rounds = {(row["runtime"], row["workers"]): row["round"]
                  for row in self.document["samples"]}
        every = list(range(1, 16))
        self.assertEqual(rounds[("fibril", 1)], every)
        self.assertEqual(rounds[("nopal-fibril", 1)], every)
        for seldom in (("serial", 1), ("fibril", 2), ("nopal-fibril", 2)):
            self.assertEqual(rounds[seldom], [1, 4, 7, 10, 13], seldom)
        self.assertIn("medians of 5 to 15 runs each", self.drawn())

    def test_few_rounds_judge_no_time(self):
        self.programs()
        self.study("fibril", "-b", "fib", "-t", "1", "-n", 2)
        check = self.check("T1 of nopal-fibril over that of fibril")
        self.assertAlmostEqual(check["value"], 0.8)
        self.assertEqual((check["holds"], check["note"]), (None, "needs -n 15"))

    def test_what_is_not_built_is_said_and_the_rest_is_shown(self):
        self.programs()
        self.listing["missing"]["tbb"] = "oneTBB was not found (libtbb-dev)"
        self.timed("nopal", "lu")
        done = self.study("fibril", "-b", "fib,lu", "-t", "1,2", "-n", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        page = self.drawn()
        for sentence in ("tbb was not built: oneTBB was not found (libtbb-dev).",
                         "nopal-cilkplus was not built: it is not part of this build.",
                         "nopal has no program for fib.", "serial has no program for lu."):
            self.assertIn(sentence, done.stderr)
            self.assertIn(sentence, self.document["left_out"])
            self.assertTrue(sentence in page, sentence)
        self.assertIn("Figure 4", page)

    def test_the_page_shows_the_papers_numbers_beside_ours(self):
        self.programs()
        self.study("fibril", "-b", "fib", "-t", "1,2", "-n", 2)
        page = self.drawn()
        self.assertEqual(page.count("<svg"), 2)
        for cell in ("2.8", "7.9"):
            self.assertTrue(f">{cell}<" in page, cell)
        for outside in ("<script", "<link", "src=", "@import"):
            self.assertTrue(outside not in page, outside)

    def test_the_papers_grid_of_heat_is_a_number_of_rows(self):
        self.timed("nopal", "heat", n=2048)
        done = self.study("fibril", "-b", "heat@2048", "-t", "1", "-n", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([(s["problem"], s["n"]) for s in self.document["samples"]],
                         [("heat@2048", 2048)])

    def test_what_was_measured_is_kept_round_by_round(self):
        self.timed("serial")
        self.program("tbb", 'test -e "$(dirname "$0")/../study.json" && '
                     'cp "$(dirname "$0")/../study.json" "$(dirname "$0")/../before.json"; exit 3')
        self.study("fibril", "-b", "fib", "-t", "1", "-n", 2)
        before = harness.read_json(self.build / "before.json")
        self.assertEqual([s["round"] for s in before["samples"]], [[1]])
        self.assertEqual([s["round"] for s in self.document["samples"]], [[1, 2]])

    def test_a_failure_is_told_without_paths(self):
        self.programs()
        self.program("tbb", 'echo "$0: out of luck" >&2; exit 3')
        done = self.study("fibril", "-b", "fib", "-t", "1", "-n", 1)
        self.assertEqual(done.returncode, 1)
        self.assertIn("ended with status 3 (fib-tbb: out of luck)", done.stderr)
        self.assertEqual([f["runtime"] for f in self.document["failures"]], ["tbb"])


class Merging(TimedStudy):
    def part(self, name, problem, *words, rounds=2):
        done = self.study("fibril", "-b", problem, "-t", "1,2", "-n", rounds, "--seed", 7, *words,
                          json_name=name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.json

    def merge(self, *files, study="fibril"):
        self.json = self.build / "all.json"
        self.html = self.build / "all.html"
        done = self.run_study("--study", study, "--merge", *files, "--json", self.json, "--html",
                              self.html)
        self.document = harness.read_json(self.json) if self.json.exists() else None
        return done

    def setUp(self):
        super().setUp()
        for problem in ("fib", "nqueens"):
            self.timed("nopal-fibril", problem)
            self.timed("fibril", problem)

    def test_problems_measured_apart(self):
        done = self.merge(self.part("q.json", "nqueens"), self.part("f.json", "fib"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_shape()
        self.assertEqual(self.document["wish"]["problems"], ["fib", "nqueens"])
        known = [c["name"].partition(":")[0] for c in self.document["checks"]
                 if "by path" in c["name"] and c["value"]]
        self.assertEqual(known, ["fib", "nqueens"])
        self.assertEqual(len(self.document["runs"]), 2)
        self.assertEqual({len(s["round"]) for s in self.document["samples"]}, {2})
        self.assertIn("Figure 4", self.drawn())

    def test_a_merge_of_one_changes_nothing(self):
        part = self.part("f.json", "fib")
        before = self.document
        self.assertEqual(self.merge(part).returncode, 0)
        self.assertEqual(self.document, before)

    def test_rounds_of_the_same_follow_each_other(self):
        one, two = (self.part(f"{n}.json", "fib", rounds=8) for n in "ab")
        done = self.merge(one, two)
        self.assertEqual(done.returncode, 0, done.stderr)
        rounds = {(s["runtime"], s["workers"]): s["round"] for s in self.document["samples"]}
        for judged in (("nopal-fibril", 1), ("fibril", 1)):
            self.assertEqual(rounds.pop(judged), list(range(1, 17)))
        for seldom in rounds.values():
            self.assertEqual(seldom, list(range(1, 17, 2)))
        check = [c for c in self.document["checks"] if "by path" in c["name"]][0]
        self.assertAlmostEqual(check["value"], 1.0)
        self.assertIs(check["holds"], True)

    def refuse_merge(self, text, *files, study="fibril"):
        done = self.merge(*files, study=study)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(text, done.stderr)
        self.assertIsNone(self.document)

    def altered(self, path, old, new):
        text = path.read_text()
        self.assertIn(old, text)
        other = self.build / "other.json"
        other.write_text(text.replace(old, new))
        return other

    def test_what_does_not_belong_together(self):
        part = self.part("f.json", "fib")
        for old, new, text in (('"size": "test"', '"size": "quick"', "size is 'test' in the one"),
                               ('"cpu": "', '"cpu": "Other ', "cpu is "),
                               ('"fibril": "none"', '"fibril": "cc"', "fibril was compiled by")):
            self.refuse_merge(text, part, self.altered(part, old, new))

    def test_the_file_of_another_study(self):
        self.refuse_merge("is of the study 'fibril', not of 'nowa'", self.part("f.json", "fib"),
                          study="nowa")

    def test_no_study_at_all(self):
        self.refuse_merge("programs.json is not the JSON of a study",
                          self.build / "bench" / "programs.json")
        self.refuse_merge("absent.json cannot be read: No such file", self.build / "absent.json")


if __name__ == "__main__":
    unittest.main()
