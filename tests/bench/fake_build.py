# SPDX-License-Identifier: MIT
"""A build directory whose programs are scripts of the test's own making."""

import json
import pathlib
import tempfile
import unittest

import harness

LINE = {"problem": "fib", "runtime": "tbb", "workers": 1, "size": "test", "n": 24, "time_s": 0.5,
        "verified": True, "forks": 75024, "max_rss_kib": 4000, "minor_faults": 3, "steals": None,
        "suspensions": None, "unmaps": None, "stacks": None, "stack_pages": None,
        "page_counts": None, "live_pages": None, "dead_pages": None,
        "rss_before_kib": 3000, "depth": None, "serial_pages": None, "told": None}


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

    def drawn(self):
        """The page of the last study. Drawing takes longest, so only a test that reads it draws."""
        if not self.html.exists():
            done = harness.run("--from", self.json, "--html", self.html)
            self.assertNotIn("Traceback", done.stderr)
        return self.html.read_text()

    def row(self, runtime):
        rows = [r for r in self.document["results"] if r["runtime"] == runtime]
        self.assertEqual(len(rows), 1)
        return rows[0]

    def check(self, words):
        rows = [c for c in self.document["checks"] if words in c["name"]]
        self.assertEqual(len(rows), 1, words)
        return rows[0]
