# SPDX-License-Identifier: MIT
"""The JSON of a study: written from a measurement, read back, and merged.

It names no path and no host, so that it can be kept. The samples of a configuration are lists, one
entry a round, so that a long study stays small.
"""

import dataclasses
import json
import pathlib

from runner import measure
from runner.programs import UsageError
from runner.studies import Result, Wish

# Fields of a sample that are the configuration's own, the same in each round.
CONSTANT = ["n", "forks"]
VARYING = ["time_s", "max_rss_kib", "minor_faults", "steals", "suspensions", "unmaps", "stacks",
           "stack_pages", "page_counts", "live_pages", "dead_pages", "rss_before_kib",
           "depth", "serial_pages", "told"]
HOST = ["cpu", "cores", "kernel"]
# Policies by the names that they had when the older ones of the kept files were measured.
RENAMED = {"keep": "budget:unlimited", "budget": "budget:64M", "dontneed": "budget:0"}
RUN = ["commit", "command", "date", "seed", "rounds", "load"]


class Study:
    """One document: a result, the machine, the runs it came from, and what was left out."""

    def __init__(self, name, result, host, runs, left_out, checks=()):
        self.name = name
        self.result = result
        # HOST and "compilers".
        self.host = host
        # RUN of each command that measured.
        self.runs = runs
        self.left_out = left_out
        # As the file has them, which an older version may have judged.
        self.checks = checks


def key(configuration):
    return dict(zip(("problem", "runtime", "workers"), configuration))


def samples(measurement):
    listed = []
    for configuration, lines in measurement.samples.items():
        if not lines:
            continue
        first = next(iter(lines.values()))
        row = {**key(configuration), **{field: first[field] for field in CONSTANT}}
        row["round"] = list(lines)
        for field in VARYING:
            column = [line[field] for line in lines.values()]
            row[field] = None if all(entry is None for entry in column) else column
        listed.append(row)
    return listed


def to_json(study, rows, check_rows):
    """The document as text, one line for each object in a list; `checks` come last."""
    measured = study.result.measurement
    document = {
        "study": study.name,
        "host": study.host,
        "runs": study.runs,
        "wish": dataclasses.asdict(study.result.wish),
        "configurations": [list(c) for c in measured.configurations],
        "left_out": study.left_out,
        "results": rows,
        "samples": samples(measured),
        "stopped": [{**key(c), "at_least_s": s} for c, s in measured.stopped.items()],
        "refused": [{**key(c), "said": said} for c, said in measured.refused.items()],
        "cut": measured.cut,
        "failures": [{**key(c), "reasons": said} for c, said in measured.failures.items()],
        "extra": study.result.extra,
        "checks": check_rows,
    }
    parts = []
    for name, entry in document.items():
        text = json.dumps(entry)
        if isinstance(entry, list) and entry and isinstance(entry[0], dict):
            text = "[\n  " + ",\n  ".join(json.dumps(line) for line in entry) + "\n ]"
        parts.append(f' "{name}": {text}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def from_json(path):
    """The Study in a file that to_json wrote."""
    try:
        document = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}.") from error
    if not isinstance(document, dict) or not isinstance(document.get("study"), str):
        raise UsageError(f"{path} is not the JSON of a study: it names none.")
    try:
        wish = Wish(**document["wish"])
        configurations = [(p, renamed(r), w) for p, r, w in document["configurations"]]
        measured = measure.Measurement(configurations, wish.size, wish.rounds)
        for row in document["samples"]:
            configuration = configured(row)
            for index, number in enumerate(row["round"]):
                line = {**key(configuration), **{field: row[field] for field in CONSTANT}}
                # A field that came later is lacking in a file that was kept.
                line.update({field: row.get(field) and row[field][index]
                             for field in VARYING})
                measured.samples[configuration][number] = line
        measured.stopped = {configured(r): r["at_least_s"] for r in document["stopped"]}
        measured.refused = {configured(r): r["said"] for r in document["refused"]}
        measured.failures = {configured(r): r["reasons"] for r in document["failures"]}
        measured.cut = document.get("cut")
        return Study(document["study"], Result(measured, wish, document["extra"]),
                     document["host"], document["runs"], document["left_out"],
                     document["checks"])
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path} is not the whole JSON of a study ({type(error).__name__}: "
                         f"{error}).") from error


def renamed(runtime):
    """The runtime with the name that its policy has today."""
    name, _, rest = runtime.partition(":")
    former, plus, census = rest.partition("+")
    return f"{name}:{RENAMED[former]}{plus}{census}" if former in RENAMED else runtime


def configured(row):
    return (row["problem"], renamed(row["runtime"]), row["workers"])


def merged(paths, module):
    """One Study from the files of several runs on one machine."""
    parts = [from_json(path) for path in paths]
    whole = parts[0]
    for path, part in zip(paths[1:], parts[1:]):
        require_same(paths[0], whole, path, part)
        add(whole, part, path)
    wish = whole.result.wish
    problems = [p for p in module.PROBLEMS if p in wish.problems]
    problems += [p for p in wish.problems if p not in problems]
    whole.result.wish = dataclasses.replace(wish, problems=problems)
    return whole


def require_same(path, whole, other, part):
    """Only runs of one study and size on one machine, by the same compilers, belong together."""
    for what, mine, theirs in [
            ("study", whole.name, part.name),
            ("size", whole.result.wish.size, part.result.wish.size),
            *((name, whole.host[name], part.host[name]) for name in HOST)]:
        if mine != theirs:
            raise UsageError(f"{path} and {other} cannot be merged: {what} is {mine!r} in the one "
                             f"and {theirs!r} in the other.")
    for runtime, compiler in part.host["compilers"].items():
        mine = whole.host["compilers"].setdefault(runtime, compiler)
        if mine != compiler:
            raise UsageError(f"{path} and {other} cannot be merged: {runtime} was compiled by "
                             f"{mine} in the one and by {compiler} in the other.")


def add(whole, part, path):
    """The rounds of `part` follow those of `whole` where both measured the same."""
    into, new = whole.result.measurement, part.result.measurement
    shift = into.rounds if set(new.configurations) & set(into.configurations) else 0
    for configuration in new.configurations:
        if configuration not in into.samples:
            into.configurations.append(configuration)
        lines = into.samples.setdefault(configuration, {})
        lines.update({number + shift: line
                      for number, line in new.samples[configuration].items()})
    for configuration, reasons in new.failures.items():
        into.failures.setdefault(configuration, []).extend(reasons)
    for configuration, limit in new.stopped.items():
        into.stopped[configuration] = min(limit, into.stopped.get(configuration, limit))
    into.refused.update(new.refused)
    into.cut = into.cut or new.cut
    into.rounds = max(into.rounds, new.rounds + shift)
    mine, theirs = whole.result.wish, part.result.wish
    whole.result.wish = dataclasses.replace(
        mine, problems=list(dict.fromkeys(mine.problems + theirs.problems)),
        workers=sorted({*mine.workers, *theirs.workers}), rounds=into.rounds,
        workers_asked=mine.workers_asked or theirs.workers_asked,
        before=mine.before or theirs.before, all=mine.all or theirs.all)
    whole.runs += part.runs
    whole.left_out += [said for said in part.left_out if said not in whole.left_out]
    for name, entry in part.result.extra.items():
        if whole.result.extra.setdefault(name, entry) != entry:
            raise UsageError(f"{path} cannot be merged: its '{name}' is another than that of the "
                             "files before it.")
