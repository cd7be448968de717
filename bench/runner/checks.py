# SPDX-License-Identifier: MIT
"""The ratios that Nopal promises, each from the paired rounds of one measurement."""

import statistics

FORKING = ["fib", "integrate", "nqueens"]
OTHERS = ["openmp-gcc", "openmp-llvm", "tbb"]
PAIRED_ROUNDS_MIN = 15


class NotMeasured(Exception):
    """What a check lacks."""


class Rounds:
    """Answers questions about one measurement, round by round."""

    def __init__(self, measurement):
        self.measurement = measurement

    def times(self, problem, runtime, workers):
        configuration = (problem, runtime, workers)
        found = self.measurement.times(configuration)
        if configuration in self.measurement.stopped:
            raise NotMeasured(f"{runtime} was stopped, -t {workers}")
        if not found or configuration in self.measurement.failures:
            raise NotMeasured(f"needs {problem} on {runtime}, -t {workers}")
        return found

    def paired(self, *columns):
        """For each round that all columns have, their values."""
        shared = set(columns[0]).intersection(*columns[1:])
        if not shared:
            raise NotMeasured("no round has all of its runs")
        return [tuple(column[r] for column in columns) for r in sorted(shared)]

    def median_ratio(self, above, below):
        return statistics.median(a / b for a, b in self.paired(above, below))

    def forks(self, problem, runtime):
        lines = self.measurement.samples[(problem, runtime, 1)]
        return next(iter(lines.values()))["forks"]

    def ns_per_fork(self, problem, runtime):
        """Round -> (T1 - T_serial not inlined) / forks."""
        one = self.times(problem, runtime, 1)
        base = self.times(problem, "serial_call", 1)
        forks = self.forks(problem, runtime)
        shared = set(one).intersection(base)
        return {r: (one[r] - base[r]) * 1e9 / forks for r in shared}

    def rss_kib(self, problem, runtime, workers):
        self.times(problem, runtime, workers)
        lines = self.measurement.samples[(problem, runtime, workers)].values()
        return statistics.median(line["max_rss_kib"] for line in lines)


def fork_cost_against(rounds, runtime):
    ours = rounds.ns_per_fork("fib", "nopal")
    theirs = rounds.ns_per_fork("fib", runtime)
    return rounds.median_ratio(ours, theirs)


def scaling(rounds, problem, more, fewer):
    return rounds.median_ratio(rounds.times(problem, "nopal", more),
                               rounds.times(problem, "nopal", fewer))


def against_fastest(rounds, problem):
    """Speed of nopal over that of the fastest other, two workers."""
    ours = rounds.times(problem, "nopal", 2)
    if len(ours) < PAIRED_ROUNDS_MIN:
        raise NotMeasured(f"needs -n {PAIRED_ROUNDS_MIN}")
    medians = {}
    for runtime in OTHERS:
        limit = rounds.measurement.stopped.get((problem, runtime, 2))
        if limit is None:
            medians[runtime] = statistics.median(rounds.times(problem, runtime, 2).values())
        elif limit < statistics.median(ours.values()):
            raise NotMeasured(f"{runtime} was stopped before nopal's own time")
    if not medians:
        raise NotMeasured("every other runtime was stopped (--at-most)")
    fastest = min(medians, key=medians.get)
    theirs = rounds.times(problem, fastest, 2)
    if len(rounds.paired(ours, theirs)) < PAIRED_ROUNDS_MIN:
        raise NotMeasured(f"needs {PAIRED_ROUNDS_MIN} rounds of {fastest}")
    return rounds.median_ratio(theirs, ours)


def one_worker(rounds, problem):
    """T1 over its bound; fork-dominated problems are held against the elision not inlined."""
    ours = rounds.times(problem, "nopal", 1)
    base = rounds.times(problem, "serial_call" if problem in FORKING else "serial", 1)
    per_fork = rounds.ns_per_fork("fib", "nopal")
    forks = rounds.forks(problem, "nopal")
    rows = rounds.paired(ours, base, per_fork)
    return statistics.median(t / (s + 1.2 * forks * ns * 1e-9) for t, s, ns in rows)


def memory(rounds):
    return rounds.rss_kib("fib", "nopal", 2) - rounds.rss_kib("fib", "serial", 1)


def listed(problems):
    """(name, relation, limit, how to compute it)."""
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


def compute(measurement, problems):
    """The checks as they go into the JSON, and for those not measured what they lack.

    What was not measured has neither a value nor a verdict: both are None.
    """
    rounds = Rounds(measurement)
    rows = []
    lacking = {}
    for name, relation, limit, value_of in listed(problems):
        row = {"name": f"{name} ({relation})", "value": None, "limit": limit, "holds": None}
        try:
            value = value_of(rounds)
            row["value"] = value
            row["holds"] = value <= limit if relation == "<=" else value >= limit
        except NotMeasured as reason:
            lacking[row["name"]] = str(reason)
        rows.append(row)
    return rows, lacking


def show(rows, lacking):
    """The checks as lines of text."""
    width = max(len(row["name"]) for row in rows)
    lines = [f"{'check':{width}}  {'value':>9}  {'limit':>9}  holds"]
    for row in rows:
        limit = f"{row['limit']:.4g}"
        if row["holds"] is None:
            lines.append(f"{row['name']:{width}}  {'-':>9}  {limit:>9}  "
                         f"not measured ({lacking[row['name']]})")
        else:
            lines.append(f"{row['name']:{width}}  {row['value']:9.4g}  {limit:>9}  "
                         f"{'yes' if row['holds'] else 'NO'}")
    return lines
