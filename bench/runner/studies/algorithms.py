# SPDX-License-Identifier: MIT
"""Loops and algorithms without a grain, beside grains that are given, serial code and others."""

import math
import statistics

from runner import checks as checking
from runner import panels, study_text
from runner.rounds import NotMeasured, enough, paired, ratios, value
from runner.studies import Figure, Table, _common
from runner.studies._common import every, that_say_something

ABOUT = "loops, sorts, scans and flat forks, beside serial code, oneTBB, OpenMP, IPS4o, parlaylib"
LOOPS_OF, SORTING, SCANS, WORDS, STD_PAR, FLAT = PROBLEMS = [
    "loops", "sorting", "scans", "words", "std_par", "flat"]
ROUNDS = 15
SIZE = "quick"
WITHIN_S = 700
OURS, TBB = "nopal", "tbb"
OPENMP = ["openmp-gcc", "openmp-llvm"]
SORTERS = {"ips4o": ("IPS4o's", 1.1), TBB: ("std::sort(par)'s on oneTBB", 1.0),
           "parlay": ("parlaylib's", 1.0)}
SORTED = {f"{SORTING}@1": "uniform", f"{SORTING}@2": "few values",
          f"{SORTING}@3": "almost sorted", f"{SORTING}@4": "strings",
          f"{SORTING}@5": "fractions"}
SORTED_AT = {"test": ("10^5", "10^4"), "quick": ("10^7", "10^6"), "paper": ("10^8", "10^7")}
LOOPS = ["memory", "stencil", "compute", "dear", "rising", "falling", "few_dear", "microsecond",
         "root", "tiny", "empty", "nested"]
GRAINS = [1, 16, 256, 4096, 65536]
BODIES = {"us0": "nothing", "us1": "1 us", "us10": "10 us"}
OVER_GRAIN, OVER_SERIAL, OVER_PASSES, LEVEL = 1.05, 1.02, 1.05, 1.0


def workers(_cores):
    return [1, 2]


def configurations(wish):
    asked = []
    runtimes = {LOOPS_OF: [OURS, TBB], SCANS: [OURS, TBB], STD_PAR: [OURS, TBB],
                WORDS: [OURS, TBB, *OPENMP], FLAT: [OURS, TBB, *OPENMP]}
    for problem in wish.problems:
        if problem == SORTING:
            asked += every(SORTED, [OURS, *SORTERS], wish.workers)
            asked += every(SORTED, ["serial"], [1])
        else:
            asked += every([problem], runtimes[problem], wish.workers)
    return asked


def judged(wish):
    return [(problem, runtime, count) for problem, runtime, count in configurations(wish)
            if runtime != "serial"]


def metric(rounds, problem, runtime, count, name):
    return _common.metric(rounds, problem, runtime, count, name)


def ours(rounds, problem, count, name):
    return metric(rounds, problem, OURS, count, name)


def over(rounds, problem, count, name, other):
    """Two cases of our program."""
    return ratios(ours(rounds, problem, count, name), ours(rounds, problem, count, other))


def over_runtime(rounds, problem, count, name, runtime, other=None):
    return ratios(ours(rounds, problem, count, name),
                  metric(rounds, problem, runtime, count, other or name))


def fastest(columns):
    """Of {name: round -> time} the one whose median is least."""
    if not columns:
        raise NotMeasured("nothing to compare with was measured")
    name = min(columns, key=lambda each: statistics.median(columns[each].values()))
    return name, columns[name]


def measured(columns):
    """Those of {name: how to get round -> time} that there are."""
    known = {}
    for name, column in columns.items():
        try:
            known[name] = column()
        except NotMeasured:
            continue
    return known


def best_grain(rounds, loop, count):
    return fastest(measured({grain: lambda g=grain: ours(rounds, LOOPS_OF, count,
                                                         f"{loop}_grain{g}")
                             for grain in GRAINS}))


def over_grain(rounds, loop, count):
    return ratios(ours(rounds, LOOPS_OF, count, loop), best_grain(rounds, loop, count)[1])


def over_best(rounds, problem, count, name):
    """Over the better of oneTBB and OpenMP."""
    others = measured({runtime: lambda r=runtime: metric(rounds, problem, r, count, name)
                       for runtime in (TBB, *OPENMP)})
    return ratios(ours(rounds, problem, count, name), fastest(others)[1])


def over_sorter(rounds, problem, count, runtime):
    return ratios(rounds.column(problem, OURS, count), rounds.column(problem, runtime, count))


def over_serial_sort(rounds, problem, count):
    return ratios(rounds.column(problem, OURS, count), rounds.column(problem, "serial", 1))


def serial_sort_ms(rounds, problem):
    return [1e3 * s for s in rounds.column(problem, "serial", 1).values()]


def names_of_std_par(rounds, count):
    lines = rounds.column(STD_PAR, OURS, count, "told").values()
    return list(next(iter(lines)))


def mean_of_std_par(rounds, count):
    """Round by round, the geometric mean over all algorithms and sizes."""
    names = names_of_std_par(rounds, count)
    columns = [column for name in names for column in
               (ours(rounds, STD_PAR, count, name), metric(rounds, STD_PAR, TBB, count, name))]
    return [math.exp(statistics.mean(math.log(a / b) for a, b in zip(row[::2], row[1::2])))
            for row in paired(*columns).values()]


def judge(rows, name, limit, compute, *arguments):
    rows.append((name, "<=", limit, lambda rounds: enough(compute(rounds, *arguments))))


def loop_checks(rows, counts):
    for loop in LOOPS:
        if 1 in counts:
            judge(rows, f"{loop}: T1 over the plain loop's", OVER_SERIAL, over, LOOPS_OF, 1, loop,
                  f"{loop}_serial")
        for count in counts:
            judge(rows, f"{loop}: T{count} over that of the best grain", OVER_GRAIN, over_grain,
                  loop, count)
            judge(rows, f"{loop}: T{count} over oneTBB's, auto partitioner", LEVEL, over_runtime,
                  LOOPS_OF, count, loop, TBB)


def listed(wish):
    rows = []
    counts = wish.workers
    if LOOPS_OF in wish.problems:
        loop_checks(rows, counts)
    for count in counts:
        for problem, keys in SORTED.items() if SORTING in wish.problems else ():
            for runtime, (whose, limit) in SORTERS.items():
                judge(rows, f"sort, {keys}: T{count} over {whose}", limit, over_sorter, problem,
                      count, runtime)
        if SCANS in wish.problems:
            judge(rows, f"inclusive_scan: T{count} over two passes of memory", OVER_PASSES, over,
                  SCANS, count, "scan", "two_passes")
            judge(rows, f"reduce: T{count} over oneTBB's parallel_reduce", LEVEL, over_runtime,
                  SCANS, count, "sum", TBB)
        if WORDS in wish.problems:
            judge(rows, f"words: T{count} over the better of oneTBB's and OpenMP's", LEVEL,
                  over_best, WORDS, count, "words")
        if STD_PAR in wish.problems:
            judge(rows, f"std::execution::par: T{count} over oneTBB's, geometric mean", LEVEL,
                  mean_of_std_par, count)
        for name, body in BODIES.items() if FLAT in wish.problems else ():
            judge(rows, f"flat forks of {body}: T{count} over the better of oneTBB's and OpenMP's",
                  LEVEL, over_best, FLAT, count, name)
    return rows


def checks(result):
    return checking.evaluate(result.measurement, listed(result.wish))


def shown(result, compute, *arguments):
    known = value(compute, result.rounds, *arguments)
    return known and f"{known.median:.2f}"


def ms(rounds, *which):
    return list(metric(rounds, *which).values())


def grain_name(result, loop, count):
    try:
        return str(best_grain(result.rounds, loop, count)[0])
    except NotMeasured:
        return None


def loop_table(result):
    rows = []
    for loop in LOOPS:
        row = [loop, value(ms, result.rounds, LOOPS_OF, OURS, 1, f"{loop}_serial")]
        for count in result.wish.workers:
            row += [shown(result, over, LOOPS_OF, count, loop, f"{loop}_serial"),
                    shown(result, over_grain, loop, count), grain_name(result, loop, count),
                    shown(result, over_runtime, LOOPS_OF, count, loop, TBB)]
        rows.append(row)
    head = ["loop", "serial, ms"]
    for count in result.wish.workers:
        head += [f"T{count} / serial", "/ best grain", "which", "/ oneTBB"]
    return Table("Loops without a grain", head, that_say_something(rows),
                 "Times over those of the plain loop, of the best of the grains "
                 f"{', '.join(map(str, GRAINS))}, and of oneTBB's auto partitioner.")


def sort_table(result):
    rows = []
    for problem, keys in SORTED.items():
        row = [keys, value(serial_sort_ms, result.rounds, problem)]
        for count in result.wish.workers:
            row.append(shown(result, over_serial_sort, problem, count))
            row += [shown(result, over_sorter, problem, count, runtime) for runtime in SORTERS]
        rows.append(row)
    head = ["keys", "std::sort, ms"]
    for count in result.wish.workers:
        head += [f"T{count} / std::sort", "/ IPS4o", "/ std::sort(par)", "/ parlaylib"]
    numbers, strings = SORTED_AT[result.wish.size]
    return Table("Sorts", head, that_say_something(rows),
                 f"{numbers} numbers of 32 bits, or of 64 with a fraction, and {strings} strings, "
                 "all by comparison.")


def scan_table(result):
    rows = []
    for count in result.wish.workers:
        rows.append([f"inclusive_scan, T{count}",
                     value(ms, result.rounds, SCANS, OURS, count, "scan"),
                     shown(result, over, SCANS, count, "scan", "scan_serial"),
                     shown(result, over_runtime, SCANS, count, "scan", TBB),
                     shown(result, over, SCANS, count, "scan", "two_passes"), None, None])
        rows.append([f"reduce, T{count}", value(ms, result.rounds, SCANS, OURS, count, "sum"),
                     shown(result, over, SCANS, count, "sum", "sum_serial"),
                     shown(result, over_runtime, SCANS, count, "sum", TBB), None,
                     shown(result, over, SCANS, count, "sum", "sum_unordered"),
                     shown(result, over_runtime, SCANS, count, "sum", TBB, "sum_deterministic")])
    return Table("Passes over 20 million numbers",
                 ["pass", "ms", "/ serial", "/ oneTBB", "/ two passes", "/ accumulate",
                  "/ oneTBB, deterministic"], that_say_something(rows),
                 "Two passes: plain threads read all, then read and write all. A reduction's tree "
                 "is the same for every schedule, that of accumulate is not.")


def words_table(result):
    names = ["words", "reduce", "reducer"]
    rows = [[f"T{count}", *(shown(result, over, WORDS, count, name, "serial") for name in names),
             *(shown(result, lambda r, t=runtime, n=count: ratios(
                 metric(r, WORDS, t, n, "words"), metric(r, WORDS, t, n, "serial")))
               for runtime in (TBB, *OPENMP))] for count in result.wish.workers]
    return Table("A million words counted in a hash map: time over the serial loop's",
                 ["", "accumulate", "reduce", "reducer", "oneTBB", *OPENMP],
                 that_say_something(rows))


def flat_table(result):
    rows = []
    for name, body in BODIES.items():
        for count in result.wish.workers:
            serial = f"{name}_serial"
            rows.append([f"{body}, T{count}", shown(result, over, FLAT, count, name, serial),
                         shown(result, over, FLAT, count, f"{name}_inside", serial),
                         *(shown(result, lambda r, t=runtime, n=count, b=name, s=serial: ratios(
                             metric(r, FLAT, t, n, b), ours(r, FLAT, n, s)))
                           for runtime in (TBB, *OPENMP))])
    return Table("A flat loop of forks from main: time over the plain loop's",
                 ["body", "nopal", "in a strand", "oneTBB", *OPENMP], that_say_something(rows))


def std_par_table(result):
    rows = []
    try:
        names = names_of_std_par(result.rounds, result.wish.workers[0])
    except NotMeasured:
        names = []
    for name in names:
        rows.append([name, *(cell for count in result.wish.workers for cell in (
            value(ms, result.rounds, STD_PAR, OURS, count, name),
            shown(result, over_runtime, STD_PAR, count, name, TBB)))])
    head = ["algorithm and elements"]
    for count in result.wish.workers:
        head += [f"T{count}, ms", "/ oneTBB"]
    return Table("std::execution::par on Nopal, over oneTBB's backend", head,
                 that_say_something(rows))


TABLES = {LOOPS_OF: loop_table, SORTING: sort_table, SCANS: scan_table, WORDS: words_table,
          STD_PAR: std_par_table, FLAT: flat_table}


def tables(result):
    return [TABLES[problem](result) for problem in PROBLEMS if problem in result.wish.problems]


def lines(result):
    return study_text.blocks(tables(result))


def loop_bars(result, count):
    groups = {}
    for loop in LOOPS:
        bars = {"nopal": value(over, result.rounds, LOOPS_OF, count, loop, f"{loop}_serial"),
                TBB: value(lambda r, n=count, name=loop: ratios(
                    metric(r, LOOPS_OF, TBB, n, name),
                    ours(r, LOOPS_OF, n, f"{name}_serial")), result.rounds)}
        groups[loop] = {runtime: known for runtime, known in bars.items() if known}
    return Figure(f"Twelve loops without a grain, {count} worker{'s' if count > 1 else ''}",
                  panels.bars(groups, "T / serial loop, logarithmic", line_at=1, log=True))


def sort_bars(result, count):
    groups = {}
    for problem, keys in SORTED.items():
        bars = {runtime: value(lambda r, p=problem, t=runtime: list(
            r.column(p, t, count).values()), result.rounds) for runtime in [OURS, *SORTERS]}
        groups[keys] = {runtime: known for runtime, known in bars.items() if known}
    return Figure(f"Sorts, {count} worker{'s' if count > 1 else ''}",
                  panels.bars(groups, "seconds"))


def figures(result):
    return [draw(result, count) for draw in (loop_bars, sort_bars)
            for count in reversed(result.wish.workers)]
