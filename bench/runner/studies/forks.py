# SPDX-License-Identifier: MIT
"""What a fork costs beside Nowa and Fibril, the two libraries of its kind, on this processor.

A ratio that holds on one maker's processor need not hold on the other's: fences are dear on
Intel's, stores on AMD's. So each limit names the maker for which it is promised.
"""

import math
import pathlib
import statistics
import sys

from runner import checks as checking
from runner import panels, study_text
from runner.rounds import NotMeasured, enough, paired, ratios, value
from runner.studies import Figure, Table, _counted
from runner.studies._common import every

ABOUT = "what a fork costs beside Nowa and Fibril: time, instructions, stores, stack"
PROGRAMS = ["shapes"]
COMPARED = ["fibx", "integrate", "nqueens", "knapsack", "matmul", "cilksort", "quicksort"]
SHAPES = {"five_words": "five words taken along",
          "hundred": "a loop that forks a hundred children"}
PROBLEMS = ["fib", *COMPARED, *SHAPES]
ROUNDS = 15
SIZE = "quick"
OURS, BASELINE, NOWA = "nopal", "nopal-nowa", "nowa"
PEERS = [NOWA, "fibril"]
OWN = ["nowa-own", "fibril-own"]
CHAINS = {1: "chain@1", 2001: "chain@2001"}
SHORT, LONG = CHAINS.values()
LEVELS = max(CHAINS) - min(CHAINS)

# Limits: README.md and docs/decisions.md say which of them were moved, and why.
INSTRUCTIONS_MOST, STORES_MOST = 72, 21
STACK_MOST = 176
TIME_MOST = {"AMD": 0.75, "Intel": 0.45}
OWN_TIME_MOST = {"AMD": 0.85}
NS_MOST = {"Intel": 0.25}
BASELINE_LEAST, BASELINE_MOST = 0.9, 1.1
SLOWER_MOST, MEAN_MOST = 1.03, 0.85


def workers(_cores):
    return [1, 2]


def judged(wish):
    chosen = every([p for p in COMPARED if p in wish.problems], [OURS, *PEERS], wish.workers)
    chosen += every([p for p in SHAPES if p in wish.problems], [OURS, *PEERS], [1])
    if "fib" in wish.problems:
        chosen += every(["fib"], ["serial_call", OURS, BASELINE, *PEERS, *OWN], [1])
    return chosen


def configurations(wish):
    # Fibril's program ends with a signal in so long a chain.
    chains = every(CHAINS.values(), [OURS, BASELINE, NOWA], [1]) if "fib" in wish.problems else []
    return judged(wish) + chains


def maker():
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    known = {"AuthenticAMD": "AMD", "GenuineIntel": "Intel"}
    return next((name for vendor, name in known.items() if vendor in text), "another maker")


def extra(build, wish):
    print("counting instructions", file=sys.stderr)
    counts, failures = (_counted.measure(build, [OURS, BASELINE, *PEERS, *OWN])
                        if "fib" in wish.problems else ({}, []))
    return {"maker": maker(), "counts": counts, "failures": failures}


def counted(result, name, field):
    try:
        return [result.extra["counts"][name][field]]
    except KeyError:
        raise NotMeasured(f"the {field} of {name} were not counted") from None


def over(rounds, problem, theirs, count=1, ours=OURS):
    return ratios(rounds.column(problem, ours, count), rounds.column(problem, theirs, count))


def over_faster(rounds, problem, count):
    """Round -> our time over that of the peer whose median is the less."""
    columns = [rounds.column(problem, peer, count) for peer in PEERS]
    faster = min(columns, key=lambda column: statistics.median(column.values()))
    return {r: a / b for r, (a, b) in
            paired(rounds.column(problem, OURS, count), faster).items()}


def mean_over_faster(rounds, problems, counts):
    columns = [over_faster(rounds, problem, count) for problem in problems for count in counts]
    if not columns:
        raise NotMeasured("needs the problems that are compared")
    return [math.exp(statistics.mean(map(math.log, row))) for row in paired(*columns).values()]


def stack_per_level(rounds, runtime):
    """Bytes: a process with a long chain of forks has so much more memory than one with none."""
    rows = paired(rounds.column(LONG, runtime, 1, "max_rss_kib"),
                  rounds.column(SHORT, runtime, 1, "max_rss_kib"))
    return [(long - short) * 1024 / LEVELS for long, short in rows.values()]


def promised_on(result, who, compute):
    def computed(rounds):
        if result.extra["maker"] != who:
            raise NotMeasured(f"needs a processor of {who}")
        return compute(rounds)
    return computed


def listed(result):
    rows = []
    def add(name, relation, limit, compute):
        rows.append((name, relation, limit, compute))
    for field, most in (("instructions", INSTRUCTIONS_MOST), ("stores", STORES_MOST)):
        # Give or take a half: the fork that begins the computation counts too.
        add(f"fib: {field} per fork", "<=", most + 0.5,
            lambda _, f=field: counted(result, f"{OURS}: fib", f))
    add("fib: bytes of stack per level", "<=", STACK_MOST,
        lambda rounds: stack_per_level(rounds, OURS))
    for peers, limits in ((PEERS, TIME_MOST), (OWN, OWN_TIME_MOST)):
        for peer in peers:
            for who, most in limits.items():
                add(f"fib: T1 over that of {peer}, on {who}", "<=", most,
                    promised_on(result, who, lambda r, p=peer: enough(over(r, "fib", p))))
    for who, most in NS_MOST.items():
        add(f"fib: ns per fork over that of {NOWA}, on {who}", "<=", most, promised_on(
            result, who, lambda r: enough(ratios(r.ns_per_fork("fib", OURS),
                                                 r.ns_per_fork("fib", NOWA)))))
    for relation, limit in ((">=", BASELINE_LEAST), ("<=", BASELINE_MOST)):
        add(f"fib: T1 of {BASELINE} over that of {NOWA}", relation, limit,
            lambda r: enough(over(r, "fib", NOWA, ours=BASELINE)))
    compared = [p for p in COMPARED if p in result.wish.problems]
    for problem in compared:
        for count in result.wish.workers:
            add(f"{problem}, {count} workers: time over that of the faster of both", "<=",
                SLOWER_MOST,
                lambda r, p=problem, n=count: enough(list(over_faster(r, p, n).values())))
    add("all but fib: geometric mean of these", "<=", MEAN_MOST,
        lambda r: enough(mean_over_faster(r, compared, result.wish.workers)))
    return rows


def checks(result):
    return checking.evaluate(result.measurement, listed(result))


def text(known, digits=2):
    return f"{known.median:.{digits}f}" if known else None


def seconds(rounds, problem, runtime, count=1):
    return list(rounds.column(problem, runtime, count).values())


def fork_table(result):
    rows = []
    for runtime in [OURS, BASELINE, *PEERS, *OWN]:
        counts = result.extra["counts"].get(f"{runtime}: fib", {})
        rows.append([runtime, text(value(seconds, result.rounds, "fib", runtime), 3),
                     text(value(lambda r, w: list(r.ns_per_fork("fib", w).values()),
                                result.rounds, runtime)),
                     text(value(over, result.rounds, "fib", runtime)),
                     *(f"{counts[f]:.1f}" if f in counts else None for f in _counted.FIELDS),
                     text(value(stack_per_level, result.rounds, runtime), 0)])
    return Table("A fork of fib, one worker",
                 ["runtime", "seconds", "ns per fork", "nopal over it", *_counted.FIELDS,
                  "stack per level, bytes"], rows,
                 "ns per fork: the time above that of serial_call, whose forks are calls. "
                 "Instructions, loads and stores by cachegrind. -own: the C programs of the "
                 "authors; the others are compiled from one source.")


def shape_table(result):
    rows = []
    def add(title, runtime, shape, *times):
        counts = result.extra["counts"].get(f"{runtime}: {shape}", {})
        rows.append([title, runtime, *times, *(f"{counts[f]:.1f}" if f in counts else None
                                               for f in _counted.FIELDS)])
    for problem, title in SHAPES.items():
        for runtime in [OURS, *PEERS]:
            add(title, runtime, problem,
                text(value(seconds, result.rounds, problem, runtime), 3),
                text(value(over, result.rounds, problem, runtime)))
    add("a lambda with five captured words", OURS, "lambda", None, None)
    add("invoke of two functions", OURS, "invoke", None, None)
    return Table("Other shapes of a fork, with the work between two of them, one worker",
                 ["shape", "runtime", "seconds", "nopal over it", *_counted.FIELDS], rows)


def problem_table(result):
    rows = []
    for problem in COMPARED:
        for count in result.wish.workers:
            rows.append([problem, count,
                         *(text(value(seconds, result.rounds, problem, runtime, count), 3)
                           for runtime in [OURS, *PEERS]),
                         text(value(lambda r, p=problem, n=count: list(
                             over_faster(r, p, n).values()), result.rounds))])
    return Table("Seconds", ["problem", "workers", OURS, *PEERS, "nopal over the faster"], rows)


def tables(result):
    return [fork_table(result), shape_table(result), problem_table(result)]


def lines(result):
    return study_text.blocks(tables(result))


def bars(result):
    groups = {}
    for problem in PROBLEMS:
        known = {peer: value(over, result.rounds, problem, peer) for peer in [*PEERS, *OWN]}
        groups[problem] = {peer: ratio for peer, ratio in known.items() if ratio}
    return panels.bars(groups, "nopal / peer", line_at=1)


def figures(result):
    return [Figure("Time of nopal over that of its peers, one worker", bars(result),
                   f"On a processor of {result.extra['maker']}.")]
