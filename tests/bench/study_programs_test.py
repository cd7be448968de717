# SPDX-License-Identifier: MIT
"""Every program that only a study runs does so at size `test`, and verifies.

usage: study_programs_test.py BUILD_DIRECTORY
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

import harness

sys.path[:0] = [str(harness.RUN_PY.parent), str(harness.RUN_PY.parents[1] / "tests")]
from patience import SECONDS  # pylint: disable=wrong-import-position
from runner.measure import FIELDS  # pylint: disable=wrong-import-position
from runner.programs import SERIAL_RUNTIMES, environment_of  # pylint: disable=wrong-import-position

BENCH = pathlib.Path(sys.argv.pop(1)) / "bench"
BUILT = json.loads((BENCH / "programs.json").read_text())["built"]
STUDIED = ["known_span", "suspended", "deep_leaves", "alternating", "lu_tiny", "captives",
           "arms", "comparing", "side_by_side", "regions"]
TASKS = ["btc1", "btc2", "uts", "task_queens", "task_fib"]


def start(name, *words):
    problem, _, runtime = name.partition("-")
    return subprocess.run([BENCH / name, *map(str, words)], capture_output=True, text=True,
                          check=False, timeout=SECONDS,
                          env={**os.environ, **environment_of(problem, runtime)})


def cases():
    return json.loads(start("known_span_cases", "--size", "test").stdout)["cases"]


class StudyPrograms(unittest.TestCase):
    def line(self, problem, runtime, *words):
        done = start(f"{problem}-{runtime}", "--size", "test", *words)
        self.assertEqual(done.returncode, 0, (problem, runtime, words, done.stderr))
        line = json.loads(done.stdout)
        self.assertEqual(sorted(line), sorted(FIELDS))
        self.assertIs(line["verified"], True)
        return line

    def test_each_runtime_of_ours_has_them(self):
        for runtime in BUILT:
            if runtime in ("nopal-ivars", "nopal-gang") or runtime.endswith("-counted"):
                continue  # they have what one study wants of them
            if runtime.startswith("nopal") or runtime in ("serial", "profile"):
                for problem in STUDIED[:-2]:
                    self.assertIn(problem, BUILT[runtime]["problems"], runtime)
        self.assertIn("side_by_side", BUILT["serial"]["problems"])
        self.assertIn("regions", BUILT["nopal"]["problems"])
        self.assertIn("idle", BUILT["nopal"]["problems"])

    def test_each_verifies_on_each_runtime(self):
        for runtime, about in BUILT.items():
            workers = () if runtime in SERIAL_RUNTIMES else ("--workers", 3)
            for problem in set(STUDIED).intersection(about["problems"]):
                self.line(problem, runtime, *workers)

    def test_programs_of_tasks_verify_on_each_runtime(self):
        """On processes that a program forks; those of a launcher are the study's."""
        for runtime, counts in (("serial_call", [1]), ("nopal", [1, 3]), ("process", [1, 2, 5])):
            self.assertLessEqual(set(TASKS), set(BUILT[runtime]["problems"]), runtime)
            for problem in TASKS:
                for workers in counts:
                    self.line(problem, runtime, "--workers", workers)
        for problem in ("steal", "latency"):
            metrics = self.line(problem, "process", "--workers", 2)["told"]
            self.assertGreater(metrics["tasks" if problem == "steal" else "get_8"], 0)

    def test_idle_workers_are_counted(self):
        """Atomics by the counting library alone, calls by both."""
        for runtime in {"nopal", "nopal-counted"}.intersection(BUILT):
            serial, forks, bursts = (self.line("idle", runtime, "--n", n, "--workers", 5)["told"]
                                     for n in (1, 2, 3))
            counted = runtime == "nopal-counted"
            for metrics, prefix in ((serial, ""), (forks, ""), (bursts, "start."),
                                    (bursts, "end.")):
                self.assertEqual(metrics[prefix + "unknown_lines"], 0)
            for name in ("rmws", "fences", "barriers", "futex_waits", "mutexes", "spin_locks"):
                self.assertEqual(serial[name], 0, (runtime, name))
            self.assertGreater(forks["forks"], 0)
            for name in ("rmws", "fences", "spin_locks", "remote_writes"):
                self.assertEqual(bursts["start." + name] > 0, counted, (runtime, name))
                self.assertEqual(bursts["end." + name] > 0, counted, (runtime, name))
            # Each of the four pool workers is woken, and goes to sleep behind a barrier.
            number = bursts["bursts"]
            self.assertGreaterEqual(bursts["start.futex_wakes"], 4 * number)
            self.assertGreaterEqual(bursts["end.futex_waits"], 4 * number)
            self.assertGreaterEqual(bursts["end.barriers"], 4 * number)
            self.assertGreaterEqual(bursts["start.steals"], 4 * number)

    def test_what_steals_take_from_others_is_told_by_part(self):
        """Each count of the parts is one of all, but for those that threads are just adding."""
        for runtime in BUILT:
            if not runtime.endswith("-counted"):
                continue
            for problem in ("fib", "cholesky", "lu_tiny"):
                metrics = self.line(problem, runtime, "--workers", 4)["told"]
                lines = [metrics[f"{part}_lines"]
                         for part in ("deque", "join", "stacks", "search", "others")]
                self.assertAlmostEqual(sum(lines),
                                       metrics["remote_reads"] + metrics["remote_writes"],
                                       delta=2 * 4)
                self.assertEqual(metrics["unknown_lines"], 0)
                self.assertGreater(metrics["deque_lines"], 0, (problem, runtime))
                if metrics["steals"] > 100:
                    self.assertGreater(min(lines), 0, (problem, runtime))

    def test_calls_that_unmap_are_measured(self):
        cases = json.loads(start("unmapping", 200).stdout)["cases"]
        self.assertEqual([c["case"] for c in cases[:3]], ["beside", "madvise", "mmap"])
        for case in cases:
            self.assertGreater(case["ns"], 0)

    def test_what_is_cancelled_stops(self):
        for runtime, about in BUILT.items():
            if "cancelling" not in about["problems"]:
                continue
            for n in {"nopal": range(1, 7), "tbb": range(4, 7)}.get(runtime, (4, 5)):
                for workers in (1, 3):
                    metrics = self.line("cancelling", runtime, "--n", n, "--workers",
                                        workers)["told"]
                    self.assertTrue(metrics, (runtime, n))
        self.assertIn("cancelling", BUILT["nopal"]["problems"])

    def test_each_part_of_a_fork_runs(self):
        self.assertIn("breakdown", BUILT["nopal"]["problems"])
        for part in [*range(9), *range(10, 19)]:
            line = self.line("breakdown", "nopal", "--n", 100 * part + 12)
            self.assertEqual((line["n"], line["forks"]), (100 * part + 12, 232))
            self.assertGreater(line["told"]["ns"], 0)

    def test_what_stops_beside_others_tells_its_numbers(self):
        for runtime, cases_of in {"nopal": (1, 2, 3), "go": (2, 3)}.items():
            if "stopping" in BUILT.get(runtime, {"problems": []})["problems"]:
                for n in cases_of:
                    metrics = self.line("stopping", runtime, "--n", n, "--workers", 2)["told"]
                    self.assertTrue(metrics, (runtime, n))
        self.assertIn("stopping", BUILT["nopal"]["problems"])

    def test_algorithms_are_right_and_tell_their_times(self):
        for problem, runtimes in {
                "loops": ["nopal", "tbb"], "scans": ["nopal", "tbb"], "std_par": ["nopal", "tbb"],
                "words": ["nopal", "tbb", "openmp-gcc", "openmp-llvm"],
                "flat": ["nopal", "tbb", "openmp-gcc", "openmp-llvm"]}.items():
            for runtime in runtimes:
                if problem in BUILT.get(runtime, {"problems": []})["problems"]:
                    metrics = self.line(problem, runtime, "--workers", 2)["told"]
                    self.assertTrue(metrics and min(metrics.values()) >= 0, (problem, runtime))
        for runtime in ("serial", "nopal", "tbb", "ips4o", "parlay"):
            if "sorting" in BUILT.get(runtime, {"problems": []})["problems"]:
                for keys in range(1, 6):
                    self.line("sorting", runtime, "--n", keys)
        self.assertLessEqual({"loops", "sorting", "scans", "words", "flat"},
                             set(BUILT["nopal"]["problems"]))

    def test_the_cases_are_what_known_span_runs(self):
        listed = cases()
        self.assertGreater(len(listed), 12)
        for case in listed:
            for runtime in ("serial", "nopal"):
                line = self.line("known_span", runtime, "--n", case["n"])
                self.assertEqual((line["n"], line["forks"]), (case["n"], case["forks"]))

    def test_the_profile_tells_how_deep_a_case_forks(self):
        depths = {c["n"]: {"comb": 1, "skewed": c["levels"] - 1}.get(c["family"], c["levels"]) +
                          (1 + c["above"] if c["pages"] + c["above"] else 0)
                  for c in cases()}
        for n, depth in depths.items():
            self.assertEqual(self.line("known_span", "profile", "--n", n)["depth"], depth, n)

    def test_what_is_not_accepted_is_said_in_a_sentence(self):
        for program, words, text in (
                ("known_span-serial", ["--n", 1000], "accepted are --n 1 to"),
                ("fib-serial", ["--n", 91], "accepted are --n 1 to 90"),
                ("fft-serial", ["--n", 5000], "accepted are powers of two, --n 4096 to"),
                ("side_by_side-serial", ["--n", 5000], "accepted are --n 1 to"),
                ("arms-nopal", ["--n", 2], "arms needs --n 3 to 64"),
                ("regions-nopal", ["--n", 3], "is 1 (free) or 2 (affine)"),
                ("alternating-serial", ["--m", 3], "accepted are --size"),
                ("lu_tiny-serial", ["--n", 3], "powers of two, --n 4 to 1024"),
                ("cholesky-serial", ["--n", 3], "accepts --n 16 to 4000"),
                ("uts-serial_call", ["--n", 7], "accepted are --n 1 to 5, 6, 8, 10, 12"),
                ("btc2-serial_call", ["--n", 31], "accepted are --n 1 to 30"),
                ("latency-process", ["--workers", 1], "accepted is --workers 2"),
                ("cancelling-nopal", ["--n", 7], "accepted are 1 (fib), 2 (cancel), 3 (answer)"),
                ("breakdown-nopal", ["--n", 912], "names no part; accepted are 0 to 8 and 10 to"),
                ("idle-nopal", ["--n", 4], "accepted are 1 (serial), 2 (forks) and 3 (bursts)"),
                ("unmapping", ["3"], "accepted is one number of calls, from 20"),
                ("known_span_cases", ["--size", "huge"], "accepted are test, quick and paper"),
                ("known_span_cases", ["--frobnicate"], "accepted is --size")):
            done = start(program, *words)
            self.assertEqual(done.returncode, 2, (program, words))
            self.assertIn(text, done.stderr)
            self.assertEqual((done.stdout, len(done.stderr.splitlines())), ("", 1))


if __name__ == "__main__":
    unittest.main()
