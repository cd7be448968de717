# SPDX-License-Identifier: MIT
"""Fake programs for a study: each answers from a table, by its arguments and its budget."""

import json
import pathlib
import tempfile

import harness
from fake_build import LINE, FakeBuild


class FakeStudy(FakeBuild):
    STUDY = ""

    def setUp(self):
        super().setUp()
        self.tables = {}

    def say(self, problem, runtime, workers=1, n=None, policy="", **fields):
        """What this program prints when it is run so."""
        line = {**LINE, "problem": problem, "runtime": runtime, "workers": workers, **fields}
        line["n"] = LINE["n"] if n is None else n
        self.tables.setdefault((problem, runtime), {})[(n, workers, policy)] = line

    def write_programs(self):
        for (problem, runtime), table in self.tables.items():
            cases = [f"  {'' if n is None else n}/{workers}/{policy}) printf '%s' "
                     f"'{json.dumps(line)}' ;;" for (n, workers, policy), line in table.items()]
            script = ['policy="${NOPAL_STACK_BUDGET:+budget:$NOPAL_STACK_BUDGET}"',
                      'policy="$policy${NOPAL_MAX_STACKS:+stacks:$NOPAL_MAX_STACKS}"',
                      'while [ $# -gt 0 ]; do', '  case $1 in', '  --n) n=$2 ;;',
                      '  --workers) workers=$2 ;;', '  esac', '  shift 2', 'done',
                      'policy="$policy${BENCH_CENSUS:++census}${BENCH_FORCED:++forced}"',
                      'case "$n/$workers/$policy" in', *cases,
                      '*) echo "not expected" >&2; exit 3 ;;', 'esac']
            self.program(runtime, "\n".join(script), problem)

    def older(self, *said):
        """Another build directory, whose programs print these: the fields of `say`, of each."""
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        other = FakeStudy()
        other.build, other.listing, other.tables = (
            pathlib.Path(holder.name), {"built": {}, "missing": {}}, {})
        (other.build / "bench").mkdir()
        for fields in said:
            other.say(**fields)
        other.write_programs()
        return other.build

    def plain_program(self, name, text):
        path = self.build / "bench" / name
        path.write_text(f"#!/bin/sh\nprintf '%s' '{text}'\n")
        path.chmod(0o755)

    def run_study(self, *words):
        self.json = self.build / "out.json"
        self.html = self.build / "out.html"
        self.html.unlink(missing_ok=True)
        done = harness.run("--study", self.STUDY, "--build", self.build, "-s", "test", "--json",
                           self.json, *words)
        if self.json.exists():
            self.document = harness.read_json(self.json)
        return done

    @property
    def page(self):
        return self.drawn()

    def only(self, *words):
        """The check whose name has all these words."""
        rows = [c for c in self.document["checks"] if all(w in c["name"] for w in words)]
        self.assertEqual(len(rows), 1, (words, [c["name"] for c in self.document["checks"]]))
        return rows[0]
