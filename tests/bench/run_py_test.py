# SPDX-License-Identifier: MIT
"""bench/run.py over programs of the test's own making: what it tells of those that fail."""

import json
import unittest

import harness
from fake_build import LINE, FakeBuild


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
        self.expect_failure("fib on tbb with 1 worker failed in 1 of 1 runs: it ended with "
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
        # Long enough for the program that ends at once, on any machine.
        self.expect_failure("it ran past the limit of 10 s and is not tried again.",
                            "--timeout", "10")

    def test_a_runtime_that_fails_holds_no_check(self):
        self.counting("nopal", [0.5])
        self.program("tbb", "exit 1")
        self.good("serial_call", time_s=0.4)
        done = self.run_py("--check")
        self.assertEqual(done.returncode, 1)
        self.assertIsNone(self.check("oneTBB's")["holds"])


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
        line = json.dumps({**LINE, "time_s": 0.45})
        self.program("tbb", 'test -e "$0.ran" && exec tail -f /dev/null; : >"$0.ran"\n'
                     f"printf '%s' '{line}'")
        done = self.run_py("-n", 2, "--check", "--at-most", "0.5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.row("tbb")["median_s"], 0.45)
        self.assertIsNone(self.check("oneTBB's")["holds"])

    def test_at_most_does_not_excuse_nopal(self):
        self.program("nopal", "exec tail -f /dev/null")
        done = self.run_py("--at-most", "0.2", "--timeout", "0.6")
        self.assertEqual(done.returncode, 1)
        self.assertIn("fib on nopal with 1 worker failed in 1 of 1 runs: it ran past the limit "
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
        check = self.check("oneTBB's")
        self.assertAlmostEqual(check["value"], 0.1)
        self.assertIs(check["holds"], False)

    def test_a_check_tells_its_spread(self):
        self.counting("serial_call", [1, 1, 1])
        self.counting("nopal", [2, 3, 4])
        self.counting("tbb", [11, 11, 11])
        done = self.run_py("-n", 3, "--check")
        check = self.check("oneTBB's")
        self.assertAlmostEqual(check["value"], 0.2)
        self.assertAlmostEqual(check["p10"], 0.12)
        self.assertAlmostEqual(check["p90"], 0.28)
        self.assertIn("0.12..0.28", done.stdout)

    def test_one_worker_is_held_against_the_elision(self):
        # 0.1 s for the forks of fib, and as many in the others: 0.12 s more are allowed.
        for problem, serial, called, nopal in (("fib", 0.05, 0.1, 0.2), ("nqueens", 0.1, 0.4, 0.26),
                                               ("quicksort", 0.4, 0.5, 0.26)):
            self.good("serial", problem, time_s=serial)
            self.good("serial_call", problem, time_s=called)
            self.good("nopal", problem, time_s=nopal)
        self.run_py("-b", "fib,nqueens,quicksort", "--check")
        self.assertAlmostEqual(self.check("quicksort: T1")["value"], 0.5)
        self.assertAlmostEqual(self.check("nqueens: T1")["value"], 0.5)
        self.assertIs(self.check("nqueens: T1")["holds"], True)

    def test_only_forking_problems_tell_what_a_fork_costs(self):
        for problem in ("fib", "heat"):
            self.good("serial_call", problem, time_s=0.4)
            self.good("nopal", problem, time_s=0.5)
        lines = self.run_py("-b", "fib,heat").stdout.splitlines()
        self.assertEqual([line.split()[0] for line in lines if line.endswith("ns")], ["fib"])

    def test_runs_of_one_problem_follow_each_other(self):
        for problem in ("fib", "heat"):
            for runtime in ("serial", "nopal", "tbb"):
                line = json.dumps({**LINE, "problem": problem, "runtime": runtime})
                self.program(runtime, f'echo {problem} {runtime} >>"$(dirname "$0")/order"\n'
                             f"printf '%s' '{line}'", problem)
        self.run_py("-b", "fib,heat", "-n", 8, "--seed", 1)
        ran = [tuple(line.split()) for line in
               (self.build / "bench" / "order").read_text().splitlines()]
        rounds = [ran[at:at + 6] for at in range(0, len(ran), 6)]
        self.assertEqual(len(rounds), 8)
        for configurations in rounds:
            self.assertEqual(len(set(configurations)), 6)
            self.assertEqual(len({problem for problem, _ in configurations[:3]}), 1)
        self.assertEqual({configurations[0][0] for configurations in rounds}, {"fib", "heat"})
        self.assertEqual({configurations[0][1] for configurations in rounds},
                         {"serial", "nopal", "tbb"})

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


class Bounds(FakeBuild):
    """Checks of what was stopped by --at-most."""

    HANGS = "exec tail -f /dev/null"
    OTHERS = ("openmp-gcc", "openmp-llvm", "tbb")

    def against_others(self, nopal_s, at_most, **scripts):
        """The row of fib with two workers; other runtimes hang unless they have a script."""
        self.good("nopal", workers=2, time_s=nopal_s)
        for runtime in self.OTHERS:
            self.program(runtime, scripts.get(runtime, self.HANGS))
        self.done = self.run_py("-t", 2, "-n", 15, "--check", "--at-most", at_most)
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        harness.check_document(self, self.document)
        return self.check("fib: speed over the fastest")

    def test_the_bound_is_told_and_proves_the_promise(self):
        check = self.against_others(0.1, 0.4)
        self.assertAlmostEqual(check["value"], 4)
        self.assertEqual((check["bound"], check["holds"]), (">", True))
        row = next(line for line in self.done.stdout.splitlines() if "fib: speed over" in line)
        self.assertIn("> 4 ", row)
        self.assertTrue(row.endswith("yes (all competitors were stopped at 0.4 s)"), row)

    def test_a_bound_that_proves_nothing_holds_nothing(self):
        check = self.against_others(0.5, 0.4)
        self.assertAlmostEqual(check["value"], 0.8)
        self.assertEqual((check["bound"], check["holds"]), (">", None))
        self.assertIn("not known (all competitors were stopped at 0.4 s)", self.done.stdout)

    def finishes_once(self, runtime, seconds):
        line = json.dumps({**LINE, "runtime": runtime, "workers": 2, "time_s": seconds})
        return f'test -e "$0.ran" && {self.HANGS}; : >"$0.ran"\nprintf "%s" \'{line}\''

    def test_the_bound_counts_the_rounds_before_the_stop(self):
        check = self.against_others(0.1, 1, tbb=self.finishes_once("tbb", 0.05))
        self.assertAlmostEqual(check["value"], 0.5)
        self.assertIsNone(check["holds"])

    def test_one_that_was_measured_beats_those_stopped(self):
        line = json.dumps({**LINE, "workers": 2, "time_s": 0.2})
        check = self.against_others(0.1, 1, tbb=f"printf '%s' '{line}'")
        self.assertAlmostEqual(check["value"], 2)
        self.assertEqual((check["bound"], check["holds"], check["note"]), (None, True, None))

    def test_who_is_fastest_may_stay_open(self):
        line = json.dumps({**LINE, "workers": 2, "time_s": 0.2})
        check = self.against_others(0.1, 1, tbb=f"printf '%s' '{line}'",
                                    **{"openmp-gcc": self.finishes_once("openmp-gcc", 0.15)})
        self.assertEqual((check["value"], check["holds"]), (None, None))
        self.assertIn("openmp-gcc was stopped in one round", check["note"])

    def fork_cost(self, nopal_s, serial_s):
        self.good("nopal", time_s=nopal_s)
        self.good("serial_call", time_s=serial_s)
        self.program("tbb", self.HANGS)
        done = self.run_py("--check", "--at-most", 0.3)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.check("oneTBB's")

    def test_the_cost_of_a_fork_has_a_bound(self):
        check = self.fork_cost(0.101, 0.1)
        self.assertAlmostEqual(check["value"], 0.001 / 0.2)
        self.assertEqual((check["bound"], check["holds"]), ("<", True))

    def test_a_bound_on_the_cost_may_prove_nothing(self):
        check = self.fork_cost(0.2, 0.1)
        self.assertAlmostEqual(check["value"], 0.1 / 0.2)
        self.assertEqual((check["bound"], check["holds"]), ("<", None))

    def test_a_stop_before_the_serial_time_tells_nothing(self):
        self.assertEqual(self.fork_cost(0.5, 0.4)["value"], None)


class Usage(FakeBuild):
    def expect_refusal(self, text, *words):
        self.good("serial")
        done = self.run_py(*words)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(text, done.stderr)
        self.assertIsNone(self.document)

    def test_problem(self):
        self.expect_refusal("Problem 'fibb' is not known; accepted are fib, integrate, nqueens,",
                            "-b", "fibb")

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
