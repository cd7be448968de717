# SPDX-License-Identifier: MIT
"""bench/run.py over programs of the test's own making: what it tells of those that fail."""

import json
import pathlib
import tempfile
import unittest

import harness

LINE = {"problem": "fib", "runtime": "tbb", "workers": 1, "size": "test", "n": 24, "time_s": 0.5,
        "verified": True, "forks": 75024, "max_rss_kib": 4000, "minor_faults": 3, "steals": None,
        "suspensions": None, "unmaps": None, "stacks": None, "stack_pages": None}


class FakeBuild(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.build = pathlib.Path(holder.name)
        (self.build / "bench").mkdir()
        self.listing = {"built": {}, "missing": {"nowa": "it is given by path"}}

    def program(self, runtime, script, problem="fib"):
        about = self.listing["built"].setdefault(runtime, {"compiler": "none", "problems": []})
        about["problems"].append(problem)
        (self.build / "bench" / "programs.json").write_text(json.dumps(self.listing))
        path = self.build / "bench" / f"{problem}-{runtime}"
        path.write_text("#!/bin/sh\n" + script + "\n")
        path.chmod(0o755)

    def good(self, runtime, problem="fib", **changes):
        line = {**LINE, "runtime": runtime, "problem": problem, **changes}
        self.program(runtime, f"printf '%s' '{json.dumps(line)}'", problem)

    def counting(self, runtime, times):
        """A program that takes the next of these times at each start."""
        rows = " ".join(map(str, times))
        line = json.dumps({**LINE, "runtime": runtime, "time_s": 0}).replace('"time_s": 0',
                                                                             '"time_s": %s')
        self.program(runtime, 'count="$0.count"; n=$(cat "$count" 2>/dev/null || echo 0)\n'
                     f'echo $((n + 1)) >"$count"; set -- {rows}; shift "$n"\n'
                     f"printf '{line}' \"$1\"")

    def run_py(self, *words):
        self.json = self.build / "out.json"
        done = harness.run("--build", self.build, "-b", "fib", "-t", "1", "-s", "test", "-n", 1,
                           "--json", self.json, *words)
        self.document = harness.read_json(self.json) if self.json.exists() else None
        if self.document:
            harness.check_document(self, self.document)
        return done

    def row(self, runtime):
        rows = [r for r in self.document["results"] if r["runtime"] == runtime]
        self.assertEqual(len(rows), 1)
        return rows[0]


class Plots(FakeBuild):
    def test_each_plot_is_a_file(self):
        self.good("serial")
        self.good("tbb", time_s=0.25)
        self.assertEqual(self.run_py("--svg", self.build).returncode, 0)
        for name in ("speed_up", "overhead", "memory"):
            text = (self.build / f"{name}.svg").read_text()
            self.assertTrue(text.startswith("<svg") and ">tbb<" in text, name)

    def test_what_was_not_measured_is_not_drawn(self):
        self.good("tbb")
        self.assertEqual(self.run_py("--svg", self.build).returncode, 0)
        self.assertEqual(list(self.build.glob("*.svg")), [])

    def test_missing_directory(self):
        self.good("serial")
        done = self.run_py("--svg", self.build / "absent")
        self.assertEqual(done.returncode, 2)
        self.assertIn("absent is not a directory, which --svg needs.", done.stderr)


class Failures(FakeBuild):
    def expect_failure(self, sentence, *words):
        """One program fails, the other is kept."""
        self.good("serial")
        done = self.run_py(*words)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(sentence, done.stderr)
        self.assertIn(sentence, "\n".join(self.document["failures"]))
        self.assertIn("FAILED", done.stdout)
        self.assertIs(self.row("tbb")["verified"], False)
        self.assertIs(self.row("serial")["verified"], True)
        self.assertEqual(self.row("serial")["median_s"], 0.5)

    def test_exit_status(self):
        self.program("tbb", "echo out of luck >&2; exit 3")
        self.expect_failure("fib on tbb with 1 worker failed in 1 of 1 rounds: it ended with "
                            "status 3 (out of luck).")

    def test_signal(self):
        self.program("tbb", "kill -SEGV $$")
        self.expect_failure("it was ended by signal 11.")

    def test_wrong_result(self):
        self.program("tbb", f"printf '%s' '{json.dumps({**LINE, 'verified': False})}'; exit 1")
        self.expect_failure("its result is wrong.")

    def test_wrong_result_that_claims_success(self):
        self.good("tbb", verified=False)
        self.expect_failure("its result is wrong.")

    def test_no_output(self):
        self.program("tbb", "exit 0")
        self.expect_failure("it did not print one JSON line")

    def test_another_number_of_workers_than_asked(self):
        self.good("tbb", workers=7)
        self.expect_failure("it says workers 7 where 1 was asked for.")

    def test_timeout(self):
        self.program("tbb", "exec tail -f /dev/null")
        self.expect_failure("it ran past the limit of 0.5 s and is not tried again.",
                            "--timeout", "0.5")

    def test_a_runtime_that_fails_holds_no_check(self):
        self.counting("nopal", [0.5])
        self.program("tbb", "exit 1")
        self.good("serial_call", time_s=0.4)
        done = self.run_py("--check")
        self.assertEqual(done.returncode, 1)
        against = [c for c in self.document["checks"] if "oneTBB's" in c["name"]]
        self.assertEqual([c["holds"] for c in against], [None])


class Measuring(FakeBuild):
    def test_medians_and_percentiles(self):
        self.counting("tbb", [5, 1, 2, 4, 3])
        done = self.run_py("-n", 5)
        self.assertEqual(done.returncode, 0, done.stderr)
        row = self.row("tbb")
        self.assertAlmostEqual(row["median_s"], 3)
        self.assertAlmostEqual(row["p10_s"], 1.4)
        self.assertAlmostEqual(row["p90_s"], 4.6)
        self.assertEqual([s["time_s"] for s in self.document["samples"]], [5, 1, 2, 4, 3])
        self.assertEqual([s["round"] for s in self.document["samples"]], [1, 2, 3, 4, 5])

    def test_at_most_is_a_bound_and_no_failure(self):
        self.good("serial")
        self.program("tbb", "exec tail -f /dev/null")
        done = self.run_py("-n", 3, "--at-most", "0.5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("> 0.5 s", done.stdout)
        self.assertIn("was stopped after 0.5 s", done.stderr)
        self.assertEqual(self.document["stopped"], [
            {"problem": "fib", "runtime": "tbb", "workers": 1, "at_least_s": 0.5}])
        self.assertEqual([r["runtime"] for r in self.document["results"]], ["serial"])

    def test_what_was_once_stopped_holds_no_check(self):
        self.counting("nopal", [0.5, 0.5])
        self.counting("serial_call", [0.4, 0.4])
        line = json.dumps({**LINE, "time_s": 9})
        self.program("tbb", 'test -e "$0.ran" && exec tail -f /dev/null; : >"$0.ran"\n'
                     f"printf '%s' '{line}'")
        done = self.run_py("-n", 2, "--check", "--at-most", "0.5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.row("tbb")["median_s"], 9)
        check = next(c for c in self.document["checks"] if "oneTBB's" in c["name"])
        self.assertEqual((check["value"], check["holds"]), (None, None))

    def test_at_most_does_not_excuse_nopal(self):
        self.program("nopal", "exec tail -f /dev/null")
        done = self.run_py("--at-most", "0.2", "--timeout", "0.6")
        self.assertEqual(done.returncode, 1)
        self.assertIn("fib on nopal with 1 worker failed in 1 of 1 rounds: it ran past the limit "
                      "of 0.6 s", done.stderr)
        self.assertEqual(self.document["stopped"], [])

    def test_what_another_runtime_refuses_is_left_out(self):
        self.good("serial")
        self.program("tbb", "echo fib-tbb: too many workers >&2; exit 2")
        done = self.run_py()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("fib on tbb with 1 worker was left out: fib-tbb: too many workers.",
                      done.stderr)
        self.assertEqual([r["runtime"] for r in self.document["results"]], ["serial"])

    def test_what_nopal_refuses_has_failed(self):
        self.program("nopal", "echo no >&2; exit 2")
        self.assertEqual(self.run_py().returncode, 1)

    def test_fork_cost_from_paired_rounds(self):
        # The medians alone would give 2 over 17; in each round nopal costs a tenth of tbb.
        self.counting("serial_call", [1, 2, 9])
        self.counting("nopal", [2, 4, 10])
        self.counting("tbb", [11, 22, 19])
        done = self.run_py("-n", 3, "--check")
        self.assertEqual(done.returncode, 0, done.stderr)
        check = next(c for c in self.document["checks"] if "oneTBB's" in c["name"])
        self.assertAlmostEqual(check["value"], 0.1)
        self.assertIs(check["holds"], False)

    def test_the_seed_is_kept(self):
        self.good("serial")
        done = self.run_py("--seed", 42)
        self.assertEqual(self.document["meta"]["seed"], 42)
        self.assertIn("seed 42", done.stderr)

    def test_list(self):
        self.good("serial")
        done = harness.run("list", "--build", self.build)
        self.assertEqual(done.returncode, 0)
        for name in ("quicksort", "openmp-llvm", "paper", "not built: it is given by path"):
            self.assertIn(name, done.stdout)


class Usage(FakeBuild):
    def expect_refusal(self, told, *words):
        self.good("serial")
        done = self.run_py(*words)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(told, done.stderr)
        self.assertIsNone(self.document)

    def test_problem(self):
        self.expect_refusal("Problem 'fibb' is not known; accepted are fib, integrate, nqueens, "
                            "quicksort, matmul, heat and all.", "-b", "fibb")

    def test_runtime(self):
        self.expect_refusal("Runtime 'cilk' is not known; accepted are serial,", "-r", "cilk")

    def test_runtime_not_built(self):
        self.expect_refusal("Runtime 'nowa' was not built: it is given by path.", "-r", "nowa")

    def test_workers(self):
        self.expect_refusal("-t '0' is not a number of workers; accepted are numbers from 1",
                            "-t", "1,0")

    def test_size(self):
        self.expect_refusal("Size 'huge' is not known; accepted are test, quick, paper.",
                            "-s", "huge")

    def test_rounds(self):
        self.expect_refusal("-n", "-n", "none")

    def test_program_missing(self):
        self.good("serial")
        (self.build / "bench" / "fib-serial").unlink()
        done = self.run_py()
        self.assertEqual(done.returncode, 2)
        self.assertIn("fib-serial does not exist; build it first", done.stderr)

    def test_build_directory_missing(self):
        self.expect_refusal("holds no benchmarks", "--build", self.build / "nothing")


if __name__ == "__main__":
    unittest.main()
