# SPDX-License-Identifier: MIT
"""Shows a result as its kept file has it: an older version measured it, and this one cannot.

A study whose module has left the project is shown by this module in its place. The page of any
other study ends with these tables where the file names runtimes that have left.
"""

from runner import panels
from runner.programs import RUNTIMES, base, in_order
from runner.rounds import speed, value
from runner.studies import Figure, Table
from runner.studies._common import typical

ABOUT = "measured by an older version of the project; its module has left since"
PROBLEMS = []
OURS = "nopal"
COUNTS = ["steals", "suspensions", "stacks", "stack_pages", "max_rss_kib"]


def needed(result):
    """Whether the file has something that no module of this version shows."""
    return any(base(runtime) not in RUNTIMES
               for _, runtime, _ in result.measurement.configurations)


def seconds(rounds, problem, runtime, count):
    return list(rounds.column(problem, runtime, count).values())


def checks_table(kept):
    def number(known):
        return None if known is None else f"{known:.4g}"
    rows = [[check["name"], number(check["value"]), number(check["p10"]), number(check["p90"]),
             number(check["limit"]), {True: "yes", False: "no"}.get(check["holds"], "not known")]
            for check in kept]
    return Table("The checks of the version that measured",
                 ["check", "median", "p10", "p90", "limit", "holds"], rows)


def times_table(result):
    rows = []
    for problem, runtime, count in sorted(result.measurement.configurations):
        known = value(seconds, result.rounds, problem, runtime, count)
        if known:
            rows.append([f"{problem}, {runtime}", count, known, known.p10, known.p90,
                         *(typical(result, problem, runtime, count, name) for name in COUNTS)])
    return Table("All that was measured", ["problem, runtime", "workers", "seconds", "p10", "p90",
                                           *(name.replace("_", " ") for name in COUNTS)], rows)


def tables_of(study):
    return [checks_table(study.checks), times_table(study.result)]


def checks(_result):
    return []


def tables(_result):
    """None beside those of `tables_of`, which need the whole file."""
    return []


def figures(result):
    """The time of each runtime over that of `nopal`, with the most workers."""
    configurations = result.measurement.configurations
    most = max(count for _, _, count in configurations)
    groups = {}
    for problem in dict.fromkeys(problem for problem, _, _ in configurations):
        bars = {runtime: value(speed, result.rounds, problem, (OURS, most), (runtime, most))
                for runtime in in_order({r for p, r, c in configurations
                                         if (p, c) == (problem, most) and r != OURS})}
        groups[problem] = {runtime: known for runtime, known in bars.items() if known}
    return [Figure(f"Time over that of {OURS}, {most} workers",
                   panels.bars(groups, f"time / {OURS}'s", line_at=1, log=True))]
