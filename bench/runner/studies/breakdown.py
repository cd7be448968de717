# SPDX-License-Identifier: MIT
"""What a fork is made of, after Figure 10 of manticore-icfp08: parts of it beside the program whose
forks are calls, and what they leave unexplained of the whole.

Native forks have all parts up to one, so that each difference is a part. Of a fiber for each fork
each part stands alone.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from runner import checks as checking
from runner import panels, study_text
from runner.rounds import NotMeasured, Value, enough, paired, value
from runner.studies import Figure, Table, _counted
from runner.studies._common import metric

ABOUT = "what a fork, and a fiber with an ivar, is made of: instructions, loads, stores, time"
PROGRAM, OURS = "breakdown", "nopal"
PROBLEMS = [PROGRAM]
ROUNDS = 15
SIZE = "quick"
LEAST, MOST = 0.95, 1.05
# What fib is given: for the times, and twice for the counts.
NUMBERS = {"forks": {"test": 20, "quick": 36, "paper": 36},
           "fibers": {"test": 14, "quick": 27, "paper": 29}}
COUNTED = (14, 20)
CANCELLABLE = 8


class Kind:
    """The parts of a kind of fork: (name, program with it, program to be subtracted)."""

    def __init__(self, name, title, call, whole, parts):
        self.name, self.title, self.call, self.whole, self.parts = name, title, call, whole, parts

    def programs(self):
        return sorted({self.call, self.whole, *(p for _, more, less in self.parts
                                                for p in (more, less))})


KINDS = [
    Kind("forks", "native forks", 0, 7,
         [("scope", 1, 0), ("stub", 2, 1), ("record and mark", 3, 2), ("limit", 4, 3),
          ("mark closed", 5, 4), ("exceptions, join", 6, 5)]),
    Kind("fibers", "fibers with ivars", 10, 18,
         [("closure", 11, 10), ("ivar", 12, 10), ("context", 13, 10), ("count", 14, 10),
          ("stack", 15, 10), ("two switches", 16, 10), ("scheduling", 17, 16)])]


def workers(_cores):
    return [1]


def case(kind, program, size):
    return f"{PROGRAM}@{100 * program + NUMBERS[kind.name][size]}"


def configurations(wish):
    return [(case(kind, program, wish.size), OURS, 1) for kind in KINDS
            for program in kind.programs()] + [(case(KINDS[0], CANCELLABLE, wish.size), OURS, 1)]


def counts_of(program, number):
    """What a fork takes, of two runs that differ in their forks alone."""
    runs = []
    for given in COUNTED:
        printed, counts = _counted.references(
            program, ["--size", "test", "--workers", 1, "--n", 100 * number + given])
        runs.append((json.loads(printed.strip().splitlines()[-1])["forks"], counts))
    return _counted.per_fork(*runs)


def extra(build, _wish):
    if shutil.which("valgrind") is None:
        return {"counts": {}, "failures": [
            "Instructions were not counted: valgrind was not found (valgrind)."]}
    counts, failures = {}, []
    print("counting instructions", file=sys.stderr)
    with tempfile.TemporaryDirectory() as scratch:
        bare = pathlib.Path(scratch) / PROGRAM
        try:
            _counted.strip(build.program(PROGRAM, OURS), bare)
            for number in [*KINDS[0].programs(), CANCELLABLE, *KINDS[1].programs()]:
                counts[str(number)] = counts_of(str(bare), number)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            failures.append(f"The instructions of {PROGRAM} were not counted: {error}.")
    return {"counts": counts, "failures": failures}


def nanoseconds(result, kind, more, less):
    """Round -> what a fork of one program takes beyond that of another."""
    columns = (metric(result.rounds, case(kind, p, result.wish.size), OURS, 1, "ns")
               for p in (more, less))
    return {r: a - b for r, (a, b) in paired(*columns).items()}


def counted(result, field, more, less):
    try:
        return result.extra["counts"][str(more)][field] - result.extra["counts"][str(less)][field]
    except KeyError:
        raise NotMeasured("instructions were not counted") from None


def explained_time(result, kind):
    """Round by round: the sum of the parts over the whole."""
    rows = paired(nanoseconds(result, kind, kind.whole, kind.call),
                  *(nanoseconds(result, kind, more, less) for _, more, less in kind.parts))
    return [sum(parts) / whole for whole, *parts in rows.values()]


def explained(result, kind, field="instructions"):
    whole = counted(result, field, kind.whole, kind.call)
    return sum(counted(result, field, more, less) for _, more, less in kind.parts) / whole


def checks(result):
    listed = []
    for kind in KINDS:
        for relation, limit in ((">=", LEAST), ("<=", MOST)):
            listed.append((f"{kind.title}: instructions of the parts over those of the whole",
                           relation, limit, lambda _, k=kind: [explained(result, k)]))
        listed.append((f"{kind.title}: time of the parts over that of the whole", ">=", LEAST,
                       lambda _, k=kind: enough(explained_time(result, k))))
    return checking.evaluate(result.measurement, listed)


def time_of(result, kind, more, less):
    return value(lambda: list(nanoseconds(result, kind, more, less).values()))


def count_of(result, field, more, less):
    try:
        return f"{counted(result, field, more, less):.1f}"
    except NotMeasured:
        return None


def row(result, kind, name, more, less):
    ns = time_of(result, kind, more, less)
    return [name, *(count_of(result, field, more, less) for field in _counted.FIELDS),
            f"{ns.median:.2f}" if ns else None]


def rest(result, kind):
    """The row of what the parts do not explain."""
    cells = ["not explained"]
    for field in _counted.FIELDS:
        try:
            whole = counted(result, field, kind.whole, kind.call)
            cells.append(f"{whole * (1 - explained(result, kind, field)):.1f}")
        except NotMeasured:
            cells.append(None)
    share = value(lambda: explained_time(result, kind))
    whole = time_of(result, kind, kind.whole, kind.call)
    return cells + [f"{whole.median * (1 - share.median):.2f}" if share else None]


def table(result, kind):
    rows = [row(result, kind, *part) for part in kind.parts]
    rows += [rest(result, kind), row(result, kind, "the whole", kind.whole, kind.call)]
    if kind is KINDS[0]:
        rows.append(row(result, kind, "more for a cancel_scope", CANCELLABLE, kind.whole))
    return Table(f"What {kind.title} take beyond calls", ["part", *_counted.FIELDS, "ns"], rows,
                 "" if kind is KINDS[0] else "Beside a call alone a part may take longer than "
                 "within the whole, where processors do several parts at a time.")


def tables(result):
    return [table(result, kind) for kind in KINDS]


def lines(result):
    return study_text.blocks(tables(result))


def largest(result, kind):
    """The name of the part that takes most time, and its share of the whole."""
    whole = time_of(result, kind, kind.whole, kind.call)
    known = {name: time_of(result, kind, more, less) for name, more, less in kind.parts}
    if whole is None or None in known.values():
        raise NotMeasured(f"needs all parts of {kind.title}")
    name = max(known, key=lambda part: known[part].median)
    return name, known[name].median / whole.median


def shares(result, kind):
    """Part -> its share of the whole, in instructions and in time."""
    stacks = {}
    try:
        whole = counted(result, "instructions", kind.whole, kind.call)
        stacks[f"{kind.title}: instructions"] = {
            name: Value(counted(result, "instructions", more, less) / whole)
            for name, more, less in kind.parts}
    except NotMeasured:
        pass
    whole = time_of(result, kind, kind.whole, kind.call)
    if whole is not None:
        known = {name: time_of(result, kind, more, less) for name, more, less in kind.parts}
        stacks[f"{kind.title}: time"] = {name: Value(ns.median / whole.median)
                                         for name, ns in known.items() if ns}
    return stacks


def figures(result):
    stacks = {name: stack for kind in KINDS for name, stack in shares(result, kind).items()}
    return [Figure("Parts of the whole", panels.stacked(stacks, "share of what a fork takes"),
                   "A bar that ends below 1 leaves the rest unexplained.", spreads=False)]
