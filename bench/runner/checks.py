# SPDX-License-Identifier: MIT
"""The ratios that Nopal promises, each from the paired rounds of one measurement.

A round gives one value: the quotient (or difference) of its own runs, which followed each other
closely. The median of these values is judged.
"""

import statistics

from runner.rounds import (PAIRED_ROUNDS_MIN, Bounded, NotMeasured, Rounds, TooFew, paired,
                           ratios)
from runner.summary import percentile

# Their time is mostly that of their forks.
FORKING = ["fib", "integrate", "nqueens"]
OTHERS = ["openmp-gcc", "openmp-llvm", "tbb"]


def fork_cost_against(rounds, runtime):
    ours = rounds.ns_per_fork("fib", "nopal")
    limit = rounds.stopped_at("fib", runtime, 1)
    if limit is None:
        return ratios(ours, rounds.ns_per_fork("fib", runtime))
    base = rounds.column("fib", "serial_call", 1)
    forks = rounds.forks("fib", "nopal")
    least = {r: (rounds.at_least("fib", runtime, 1) - base[r]) * 1e9 / forks for r in base}
    if min(least.values()) <= 0:
        raise NotMeasured(f"{runtime} was stopped before the serial program's own time")
    raise Bounded("<", statistics.median(ratios(ours, least)),
                  f"{runtime} was stopped at {limit:g} s")


def scaling(rounds, problem, more, fewer):
    return ratios(rounds.column(problem, "nopal", more), rounds.column(problem, "nopal", fewer))


def against_fastest(rounds, problem):
    """Speed of nopal over that of the fastest other, two workers."""
    ours = rounds.column(problem, "nopal", 2)
    if len(ours) < PAIRED_ROUNDS_MIN:
        raise NotMeasured(f"needs -n {PAIRED_ROUNDS_MIN}")
    stopped = {r: rounds.at_least(problem, r, 2) for r in OTHERS
               if rounds.stopped_at(problem, r, 2) is not None}
    medians = {r: statistics.median(rounds.column(problem, r, 2).values())
               for r in OTHERS if r not in stopped}
    if not medians:
        limit = rounds.stopped_at(problem, OTHERS[0], 2)
        least = min(stopped.values())
        raise Bounded(">", statistics.median(least / t for t in ours.values()),
                      f"all competitors were stopped at {limit:g} s")
    fastest = min(medians, key=medians.get)
    for runtime, least in stopped.items():
        if least < medians[fastest]:
            raise NotMeasured(f"{runtime} was stopped in one round and fastest in another")
    theirs = rounds.column(problem, fastest, 2)
    if len(paired(ours, theirs)) < PAIRED_ROUNDS_MIN:
        raise NotMeasured(f"needs {PAIRED_ROUNDS_MIN} rounds of {fastest}")
    return ratios(theirs, ours)


def one_worker(rounds, problem):
    """T1 over its bound.

    Where forks are most of the time, T_serial is without inlining, as for the ns per fork: what a
    compiler gains by unrolling a recursion is no cost of a fork.
    """
    forks = rounds.forks(problem, "nopal")
    base = "serial_call" if problem in FORKING else "serial"
    rows = paired(rounds.column(problem, "nopal", 1), rounds.column(problem, base, 1),
                  rounds.ns_per_fork("fib", "nopal"))
    return [t / (s + 1.2 * forks * ns * 1e-9) for t, s, ns in rows.values()]


def memory(rounds):
    rows = paired(rounds.column("fib", "nopal", 2, "max_rss_kib"),
                  rounds.column("fib", "serial", 1, "max_rss_kib"))
    return [ours - base for ours, base in rows.values()]


def listed(problems):
    """(name, relation, limit, how to compute its values)."""
    rows = [("fib: ns per fork over Nowa's", "<=", 0.33, lambda r: fork_cost_against(r, "nowa")),
            ("fib: ns per fork over oneTBB's", "<=", 1 / 30,
             lambda r: fork_cost_against(r, "tbb"))]
    for p in FORKING:
        rows.append((f"{p}: T2 / T1", "<=", 0.53, lambda r, p=p: scaling(r, p, 2, 1)))
    for p in problems:
        rows.append((f"{p}: speed over the fastest of OpenMP and oneTBB, 2 workers", ">=", 0.95,
                     lambda r, p=p: against_fastest(r, p)))
    for p in problems:
        rows.append((f"{p}: T1 over T_serial + 1.2 x forks x ns per fork", "<=", 1.0,
                     lambda r, p=p: one_worker(r, p)))
    rows.append(("fib: peak RSS with 2 workers above serial's, KiB", "<=", 1024, memory))
    rows.append(("fib: T64 / T2", "<=", 1.2, lambda r: scaling(r, "fib", 64, 2)))
    return rows


def meets(value, relation, limit):
    return value <= limit if relation == "<=" else value >= limit


def spread(row, values):
    row["value"] = statistics.median(values)
    row["p10"], row["p90"] = percentile(values, 0.1), percentile(values, 0.9)


def evaluate(measurement, listed_checks):
    """The checks as they go into the JSON, from (name, relation, limit, how to compute values).

    `how` is given the measurement's Rounds and returns the values whose median is judged.

    What was not measured has neither a value nor a verdict: both are None, and `note` says what is
    lacking; too few rounds give a value without a verdict. Where `bound` is > or <, the true value
    lies on that side of `value`; that is a verdict only if the bound itself shows that the promise
    holds.
    """
    rounds = Rounds(measurement)
    rows = []
    for name, relation, limit, values_of in listed_checks:
        row = {"name": f"{name} ({relation})", "value": None, "p10": None, "p90": None,
               "bound": None, "limit": limit, "holds": None, "note": None}
        try:
            spread(row, values_of(rounds))
            row["holds"] = meets(row["value"], relation, limit)
        except TooFew as few:
            spread(row, few.values)
            row["note"] = str(few)
        except Bounded as known:
            row["value"], row["bound"], row["note"] = known.value, known.side, str(known)
            if (known.side == "<") == (relation == "<=") and meets(known.value, relation, limit):
                row["holds"] = True
        except NotMeasured as reason:
            row["note"] = str(reason)
        rows.append(row)
    return rows


def verdict(row):
    if row["value"] is None:
        return f"not measured ({row['note']})"
    word = {True: "yes", False: "NO", None: "not known"}[row["holds"]]
    return f"{word} ({row['note']})" if row["note"] else word


def show(rows):
    """The checks as lines of text."""
    width = max(len(row["name"]) for row in rows)
    lines = [f"{'check':{width}}  {'median':>9}  {'p10..p90':>15}  {'limit':>7}  holds"]
    for row in rows:
        value = "-" if row["value"] is None else f"{row['value']:.4g}"
        if row["bound"]:
            value = f"{row['bound']} {value}"
        spread = "-" if row["p10"] is None else f"{row['p10']:.3g}..{row['p90']:.3g}"
        lines.append(f"{row['name']:{width}}  {value:>9}  {spread:>15}  {row['limit']:7.4g}  "
                     f"{verdict(row)}")
    return lines
