# SPDX-License-Identifier: MIT
"""Programs with times of the test's own making, for the studies of the papers."""

import json
import os
import pathlib

import harness
from fake_build import LINE, FakeBuild


class TimedStudy(FakeBuild):
    HANGS = "exec tail -f /dev/null"

    def timed(self, runtime, problem="fib", seconds=0.5, with_two=None, **changes):
        """A program of any number of workers, with a time of its own for two."""
        line = json.dumps({**LINE, "runtime": runtime, "problem": problem, "workers": 0,
                           "time_s": 0, **changes})
        line = line.replace('"workers": 0', '"workers": %s').replace('"time_s": 0', '"time_s": %s')
        two = seconds if with_two is None else with_two
        self.program(runtime, f"t={seconds}; test \"$4\" = 2 && t={two}\n"
                     f"printf '{line}' \"$4\" \"$t\"", problem)

    def study(self, name, *words, json_name="study.json"):
        self.json = self.build / json_name
        self.html = self.build / "study.html"
        self.html.unlink(missing_ok=True)
        done = self.run_study("--study", name, "--build", self.build, "-s", "test", "--json",
                              self.json, *words)
        self.document = harness.read_json(self.json) if self.json.exists() else None
        if self.document:
            self.check_shape()
        return done

    def run_study(self, *words):
        return harness.run(*words, without=["NOPAL_"])

    def check_shape(self):
        self.assertEqual(list(self.document)[-1], "checks")
        self.assertEqual(set(self.document["host"]), {"cpu", "cores", "kernel", "compilers"})
        for run in self.document["runs"]:
            self.assertEqual(set(run), {"commit", "command", "date", "seed", "rounds", "load"})
        for check in self.document["checks"]:
            self.assertEqual(list(check), harness.CHECK_FIELDS)
        text = pathlib.Path(self.json).read_text(encoding="utf-8")
        for private in (str(self.build), str(pathlib.Path(harness.RUN_PY).parent),
                        f'"{os.uname().nodename}"'):
            self.assertTrue(private not in text, private)

    def refusal(self, text, *words):
        done = self.run_study(*words)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(text, done.stderr)
