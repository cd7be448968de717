# SPDX-License-Identifier: MIT
"""bench/run.py: runtimes with a stack policy, and problems with a number."""

import contextlib
import io
import json
import pathlib
import sys
import unittest

from fake_build import LINE, FakeBuild

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from runner import draw, measure, programs  # pylint: disable=wrong-import-position


class Policies(FakeBuild):
    def tells_policy(self, runtime):
        """A program whose number of stacks tells which policy it was given."""
        line = json.dumps({**LINE, "runtime": runtime, "stacks": 0}).replace(
            '"stacks": 0', '"stacks": %s')
        self.program(runtime, 'case "$NOPAL_STACK_BUDGET,$NOPAL_MAX_STACKS" in ,) n=1;; '
                     f"0,) n=2;; ,8) n=3;; *) n=4;; esac; printf '{line}' $n")

    def test_the_policy_reaches_the_program_and_the_results(self):
        self.tells_policy("nopal")
        done = self.run_py("-r", "nopal,nopal:budget:0,nopal:stacks:8", "-n", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({r["runtime"]: r["stacks"] for r in self.document["results"]},
                         {"nopal": 1, "nopal:budget:0": 2, "nopal:stacks:8": 3})
        self.assertEqual({s["runtime"] for s in self.document["samples"]},
                         {"nopal", "nopal:budget:0", "nopal:stacks:8"})
        self.assertIn("nopal:budget:0", done.stdout)

    def test_a_census_is_asked_for_beside_the_policy(self):
        line = json.dumps({**LINE, "runtime": "nopal", "live_pages": 0}).replace(
            '"live_pages": 0', '"live_pages": %s')
        self.program("nopal", 'case "$NOPAL_STACK_BUDGET,$BENCH_CENSUS" in 8M,1) n=1;; '
                     f"8M,) n=2;; *) n=3;; esac; printf '{line}' $n")
        done = self.run_py("-r", "nopal:budget:8M+census,nopal:budget:8M")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({r["runtime"]: r["live_pages"] for r in self.document["results"]},
                         {"nopal:budget:8M+census": 1, "nopal:budget:8M": 2})

    def test_steals_are_forced_beside_the_policy_and_the_census(self):
        line = json.dumps({**LINE, "runtime": "nopal", "steals": 0}).replace('"steals": 0',
                                                                             '"steals": %s')
        self.program("nopal", 'case "$NOPAL_STACK_BUDGET,$BENCH_CENSUS,$BENCH_FORCED" in '
                     f"0,,1) n=1;; 0,1,1) n=2;; 0,1,) n=3;; esac; printf '{line}' $n")
        names = [f"nopal:budget:0{marks}" for marks in ("+forced", "+census+forced", "+census")]
        done = self.run_py("-r", ",".join(names))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({r["runtime"]: r["steals"] for r in self.document["results"]},
                         dict(zip(names, (1, 2, 3))))

    def test_a_case_gets_the_stack_that_it_needs(self):
        for number, size in ((20, "4M"), (19, "")):
            line = {**LINE, "problem": "known_span", "runtime": "nopal", "n": number, "told": "?"}
            self.program("nopal", "printf '%s' '" + json.dumps(line).replace(
                '"?"', """"'"$NOPAL_STACK_SIZE"'" """.strip()) + "'", "known_span")
            program = self.build / "bench" / "known_span-nopal"
            done = measure.run_once(program, (f"known_span@{number}", "nopal", 1), "test", 60)
            self.assertEqual(done["told"], size)

    def test_a_page_draws_them_apart(self):
        self.good("serial")
        self.tells_policy("nopal")
        page = self.build / "page.html"
        done = self.run_py("-r", "serial,nopal,nopal:budget:0", "--html", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(">nopal:budget:0<", page.read_text())

    def test_each_runtime_has_a_colour(self):
        self.assertEqual(set(programs.RUNTIMES) - set(draw.COLOURS), set())

    def test_one_of_ours_with_a_policy_is_still_ours(self):
        self.program("nopal", "exec tail -f /dev/null")
        done = self.run_py("-r", "nopal:budget:unlimited", "--at-most", "0.2", "--timeout", "0.5")
        self.assertEqual(done.returncode, 1)
        self.assertIn("fib on nopal:budget:unlimited with 1 worker failed", done.stderr)

    def refusal(self, runtime):
        self.good("tbb")
        self.good("nopal")
        done = self.run_py("-r", runtime)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIsNone(self.document)
        return done.stderr

    def test_others_take_no_policy(self):
        self.assertIn("Runtime 'tbb:budget:0' is not accepted: a stack policy can be named for "
                      "nopal,", self.refusal("tbb:budget:0"))
        self.assertIn("Runtime 'serial:budget:0' is not accepted", self.refusal("serial:budget:0"))

    def test_unknown_policies(self):
        for policy in ("often", "stacks:", "stacks:0", "stacks:16385", "stacks:many", "keep",
                       "budget", "", "budget:", "budget:1T", "+census", "budget:0+count",
                       "budget:0+census+", "budget:0+forced+count"):
            self.assertIn(f"Stack policy '{policy}' is not known; accepted are budget:SIZE, in "
                          "bytes or with a suffix K, M or G, budget:unlimited, stacks:N",
                          self.refusal(f"nopal:{policy}"))

    def test_unknown_runtime_with_a_policy(self):
        self.assertIn("Runtime 'cilk' is not known", self.refusal("cilk:budget:0"))

    def test_a_runtime_that_is_not_built_with_a_policy(self):
        self.listing["missing"]["nopal-nowa"] = "the library nopal_nowa is not built"
        self.assertIn("Runtime 'nopal-nowa' was not built: the library nopal_nowa is not built.",
                      self.refusal("nopal-nowa:budget:0"))

    def test_all_leaves_out_what_only_studies_compare(self):
        for runtime in ("serial", "nopal", "profile", "openmp-gcc-untied"):
            self.good(runtime)
        done = self.run_py("-r", "all,nopal:budget:unlimited")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([r["runtime"] for r in self.document["results"]],
                         ["serial", "nopal", "nopal:budget:unlimited"])


class Numbers(FakeBuild):
    def measure(self, problem):
        with contextlib.redirect_stderr(io.StringIO()):
            return measure.measure(programs.Build(self.build), [(problem, "nopal", 1)], "test", 1,
                                   1, 10, None)

    def test_a_number_after_the_problem_is_given_to_the_program(self):
        line = json.dumps({**LINE, "runtime": "nopal", "n": 0}).replace('"n": 0', '"n": %s')
        self.program("nopal", f"test \"$5\" = --n && printf '{line}' \"$6\"")
        measured = self.measure("fib@7")
        self.assertEqual(measured.failures, {})
        sample = measured.samples["fib@7", "nopal", 1][1]
        self.assertEqual((sample["problem"], sample["n"]), ("fib@7", 7))

    def test_another_number_than_asked_is_a_failure(self):
        self.good("nopal", n=24)
        self.assertIn("it says n 24 where 7 was asked for",
                      self.measure("fib@7").failure_sentences()[0])


if __name__ == "__main__":
    unittest.main()
