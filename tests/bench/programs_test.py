# SPDX-License-Identifier: MIT
"""Every program that was built runs at size `test`, verifies, and reaches JSON, CSV and HTML.

usage: programs_test.py BUILD_DIRECTORY
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import harness

sys.path.insert(0, str(harness.RUN_PY.parent))
from runner import programs  # pylint: disable=wrong-import-position

BUILD = pathlib.Path(sys.argv.pop(1))
BUILT = json.loads((BUILD / "bench" / "programs.json").read_text())["built"]
SERIAL = ("serial", "serial_call", "profile")
ROUNDS = 2


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.out = pathlib.Path(cls.directory.name)
        # Nothing is measured here, and OpenMP's threads, where they wait for each other on a
        # processor that they share, take a thousand times as long.
        os.environ["OMP_WAIT_POLICY"] = "passive"
        cls.done = harness.run("--build", BUILD, "-r", ",".join(BUILT), "-t", "1,2", "-s", "test",
                               "-n", ROUNDS, "--seed", 5, "--check", "--json", cls.out / "r.json",
                               "--csv", cls.out / "r.csv", "--html", cls.out / "r.html")
        cls.document = {}
        if cls.done.returncode == 0:
            cls.document = harness.read_json(cls.out / "r.json")

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def setUp(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)

    def expected(self):
        """Without what only studies run; study_programs_test.py has that."""
        return {(problem, runtime, workers) for runtime, about in BUILT.items()
                for problem in about["problems"] if problem in programs.PROBLEMS
                for workers in ((1,) if runtime in SERIAL else (1, 2))}

    def test_each_program_is_measured_and_verified(self):
        harness.check_document(self, self.document)
        rows = {(r["problem"], r["runtime"], r["workers"]): r for r in self.document["results"]}
        self.assertEqual(set(rows), self.expected())
        for key, row in rows.items():
            self.assertIs(row["verified"], True, key)
        self.assertEqual(len(self.document["samples"]), ROUNDS * len(rows))

    def test_all_runtimes_do_the_same_work(self):
        for field in ("n", "forks"):
            values = {}
            for line in self.document["samples"]:
                if line["runtime"] == "nopal-gang" and field == "forks":
                    continue  # its forks are of rows, not of pixels
                values.setdefault(line["problem"], set()).add(line[field])
            for problem, seen in values.items():
                self.assertEqual(len(seen), 1, f"{problem}: {field} {seen}")

    def test_nopal_tells_its_counters_and_others_have_none(self):
        for row in self.document["results"]:
            if row["runtime"] in [*programs.STRATEGIES, programs.CHILD_STEALING]:
                continue  # they count some
            for field in ("steals", "suspensions", "unmaps", "stacks", "stack_pages",
                          "page_counts", "live_pages", "dead_pages"):
                if row["runtime"].startswith("nopal"):
                    self.assertIsInstance(row[field], int, field)
                else:
                    self.assertIsNone(row[field], field)

    def test_profile_tells_the_depth_and_the_pages_of_a_serial_run(self):
        for row in self.document["results"]:
            for field in ("depth", "serial_pages"):
                if row["runtime"] == "profile":
                    self.assertGreaterEqual(row[field], 1, row["problem"])
                else:
                    self.assertIsNone(row[field], field)
        depth = {r["problem"]: (r["n"], r["depth"]) for r in self.document["results"]
                 if r["runtime"] == "profile"}
        # fib(n) forks down to fib(2); each row of the board forks.
        self.assertEqual(depth["fib"][1], depth["fib"][0] - 1)
        self.assertEqual(depth["nqueens"][1], depth["nqueens"][0])

    def test_checks_hold_only_if_measured(self):
        checks = self.document["checks"]
        self.assertGreater(len(checks), 15)
        for check in checks:
            self.assertEqual(check["holds"] is None, check["value"] is None, check["name"])
            if "fastest" in check["name"]:
                self.assertIsNone(check["holds"], "two rounds are too few for this check")

    def test_csv_has_the_rows_of_the_json(self):
        with open(self.out / "r.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(list(rows[0]), harness.RESULT_FIELDS)
        self.assertEqual([(r["problem"], r["runtime"], int(r["workers"])) for r in rows],
                         [(r["problem"], r["runtime"], r["workers"])
                          for r in self.document["results"]])
        self.assertEqual([float(r["median_s"]) for r in rows],
                         [r["median_s"] for r in self.document["results"]])

    def test_html_stands_alone(self):
        page = (self.out / "r.html").read_text()
        self.assertEqual(page.count("<svg"), 3)
        for outside in ("<script", "<link", "src=", "@import"):
            self.assertNotIn(outside, page)
        self.assertGreaterEqual(page.count("bench/run.py --build"), 4)

    def test_programs_refuse_bad_options_in_a_sentence(self):
        program = BUILD / "bench" / "fib-serial"
        for words, text in ((["--size", "huge"], "accepted are test, quick and paper"),
                            (["--workers", "0"], "accepted are 1 to 1"),
                            (["--workers", "many"], "accepted are"),
                            (["--frobnicate"], "accepted are")):
            done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(text, done.stderr)
            self.assertEqual(done.stdout, "")
            self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_cholesky_reads_a_file(self):
        good = self.out / "good.mtx"
        good.write_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n"
                        "1 1 4\n2 2 4\n3 3 4\n3 1 -1\n")
        program = BUILD / "bench" / "cholesky-nopal"
        done = subprocess.run([program, "--input", good, "--workers", "2"], capture_output=True,
                              text=True, check=True)
        line = json.loads(done.stdout)
        self.assertEqual((line["size"], line["n"], line["verified"]), ("input", 3, True))

    def test_programs_refuse_bad_files_in_a_sentence(self):
        indefinite = self.out / "indefinite.mtx"
        indefinite.write_text("%%MatrixMarket matrix coordinate real symmetric\n1 1 1\n1 1 -4\n")
        short = self.out / "short.mtx"
        short.write_text("%%MatrixMarket matrix coordinate real symmetric\n1 1 1\n")
        for problem, words, text in (
                ("cholesky", ["--input", indefinite], "indefinite.mtx: the matrix is not positive"),
                ("cholesky", ["--input", short], "short.mtx:2: the file ends after 0 of the 1"),
                ("cholesky", ["--input", self.out / "none"], "none' cannot be opened"),
                ("cholesky", ["--input", short, "--size", "test"], "excludes --"),
                ("fib", ["--input", short], "accepted are --size test|quick|paper")):
            done = subprocess.run([BUILD / "bench" / f"{problem}-serial", *words],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(text, done.stderr)
            self.assertEqual(done.stdout, "")
            self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_a_mark_that_is_neither_wanted_nor_not_is_refused(self):
        for name in programs.MARKS.values():
            done = subprocess.run([BUILD / "bench" / "fib-nopal"], capture_output=True, text=True,
                                  check=False, env={**os.environ, name: "yes"})
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr, f'fib-nopal: {name} is "yes", but it must be 0 or 1\n')

    def test_steals_can_be_forced(self):
        steals = []
        for forced in ("0", "1"):
            done = subprocess.run([BUILD / "bench" / "fib-nopal", "--n", "20", "--workers", "2"],
                                  capture_output=True, text=True, check=True,
                                  env={**os.environ, "BENCH_FORCED": forced})
            steals.append(json.loads(done.stdout)["steals"])
        # Alone it takes a tenth of a millisecond.
        self.assertGreater(steals[1], steals[0])


if __name__ == "__main__":
    unittest.main()
