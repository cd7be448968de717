# SPDX-License-Identifier: MIT
"""Fibers, schedulers and preemption: what they cost and promise, beside manticore-icfp08.

The paper's figures are of one machine of 2008, four processors with two cores each; only ratios can
be compared. Each problem runs by native forks, and by a fiber for each fork with the newest first,
the paper's own policy (its Figure 5).
"""

import statistics

from runner import checks as checking
from runner import draw, panels, programs, study_text
from runner.rounds import NotMeasured, paired, ratios, value
from runner.studies import Figure, Table
from runner.studies._common import every, speed_ups, up_to

ABOUT = "fibers: switches, messages, fairness, shares, memory; the problems of Manticore's paper"
OURS, IVARS, BOOST, GO = "nopal", "nopal-ivars", "boost", "go"
BEFORE, AGAIN = "nopal-before", "nopal-again"
SWITCH, MESSAGE, FAIRNESS, SHARES, MEMORY = (f"fibers@{n}" for n in range(1, 6))
CASES = [SWITCH, MESSAGE, FAIRNESS, SHARES, MEMORY]
# With the paper's sizes if the size is `paper`.
TABLE_1 = {"raytracer": "raytracer", "barnes_hut": "barnes_hut", "merge_sort": "merge_sort",
           "bitonic": "bitonic", "fib": "fib@29"}
# The problems of the papers before this one.
FOURTEEN = [p for p in programs.PROBLEMS
            if p not in programs.MANTICORE and p != "knapsack_swapped"]
PROBLEMS = ["fibers", *TABLE_1, *[p for p in FOURTEEN if p not in TABLE_1]]
ROUNDS = 15
SIZE = "quick"
TICK_MS = 10
# T_1 / T_seq and T_1 / T_8 of the paper's Table 1.
PAPER = {"raytracer": (1.066, 7.639), "barnes_hut": (0.955, 4.526), "merge_sort": (0.995, 7.397),
         "bitonic": (0.988, 6.857), "fib": (16.911, 0.25)}


def workers(cores):
    return up_to(cores)


def sized(wish):
    return [with_size for problem, with_size in TABLE_1.items() if problem in wish.problems]


def configurations(wish):
    counts = wish.workers
    wanted = []
    if "fibers" in wish.problems:
        wanted += every(CASES, [OURS], [1]) + [(SWITCH, BOOST, 1), (MESSAGE, GO, 1)]
    shown = sized(wish)
    wanted += every(shown, ["serial"], [1]) + every(shown, [OURS, IVARS], counts)
    compared = [p for p in FOURTEEN if p in wish.problems]
    wanted += every(compared, [OURS, BEFORE, AGAIN], [c for c in counts if c <= 2])
    return wanted


def told(rounds, problem, name, runtime=OURS):
    """Round -> the number of this name."""
    return {r: line[name] for r, line in rounds.column(problem, runtime, 1, "told").items()}


def against(rounds, problem, runtime):
    return ratios(told(rounds, problem, "ns"), told(rounds, problem, "ns", runtime))


def geometric_mean(rounds, problems, count, other):
    """Round by round: the mean over the problems of today's time over the other's."""
    by_round = {}
    for problem in problems:
        rows = paired(rounds.column(problem, OURS, count), rounds.column(problem, other, count))
        for number, (ours, theirs) in rows.items():
            by_round.setdefault(number, []).append(ours / theirs)
    whole = [statistics.geometric_mean(found) for found in by_round.values()
             if len(found) == len(problems)]
    if not whole:
        raise NotMeasured(f"needs {', '.join(problems)} on {other}")
    return whole


def compared(result):
    return [p for p in FOURTEEN if p in result.wish.problems]


def checks(result):
    problems = compared(result)
    listed = [
        ("a switch between two fibers over Boost.Context's", "<=", 3.0,
         lambda rounds: against(rounds, SWITCH, BOOST)),
        ("a message between two fibers over Go's", "<=", 1.0,
         lambda rounds: against(rounds, MESSAGE, GO)),
        ("99th percentile of a message's latency beside a fiber that computes, ms", "<=",
         2.0 * TICK_MS, lambda rounds: list(told(rounds, FAIRNESS, "p99_ms").values())),
        ("processor time of shares 3 and 1: off from 3, in parts of it", "<=", 0.05,
         lambda rounds: [abs(r / 3 - 1) for r in told(rounds, SHARES, "ratio").values()]),
        ("memory of a fiber that waits, KiB", "<=", 12.0,
         lambda rounds: [b / 1024 for b in told(rounds, MEMORY, "bytes").values()]),
    ]
    for count in (1, 2) if problems else ():
        for other, what in ((BEFORE, "before"), (AGAIN, "itself, the control")):
            listed.append((f"T{count} of {len(problems)} problems over {what}: off from 1", "<=",
                           0.01, lambda rounds, c=count, o=other:
                           [abs(statistics.median(geometric_mean(rounds, problems, c, o)) - 1)]))
    return checking.evaluate(result.measurement, listed)


def cell(result, compute, *arguments):
    return value(compute, result.rounds, *arguments)


def values_of(rounds, problem, name, runtime=OURS):
    return list(told(rounds, problem, name, runtime).values())


def cost_table(result):
    rows = [[what, cell(result, values_of, problem, "ns"),
             cell(result, values_of, problem, "ns", other), name,
             cell(result, against, problem, other)]
            for what, problem, other, name in
            (("switch", SWITCH, BOOST, "Boost.Context"), ("message", MESSAGE, GO, "Go"))]
    return Table("Nanoseconds, one worker", ["", "Nopal", "other", "of", "ratio"], rows,
                 "A switch: a fiber yields to another one of its thread, errno, exceptions and "
                 "control words included; Boost.Context carries neither errno nor exceptions. A "
                 "message: over an unbuffered channel, between fibers of one thread.")


def promise_table(result):
    rows = [["message beside a busy fiber, median, ms",
             cell(result, values_of, FAIRNESS, "p50_ms")],
            ["the same, 99th percentile, ms", cell(result, values_of, FAIRNESS, "p99_ms")],
            ["processor time of shares 3 and 1, ratio", cell(result, values_of, SHARES, "ratio")],
            ["fibers at once", cell(result, values_of, MEMORY, "fibers")],
            ["bytes of each, page tables counted", cell(result, values_of, MEMORY, "bytes")]]
    return Table("Fairness and memory", ["", "measured"], rows,
                 f"Ticks come each {TICK_MS} ms. The latency is from the send to the receive.")


def times(rounds, problem, runtime, count):
    return list(rounds.column(problem, runtime, count).values())


def overhead(rounds, problem, runtime):
    return ratios(rounds.column(problem, runtime, 1), rounds.column(problem, "serial", 1))


def gain(rounds, problem, runtime, count):
    return ratios(rounds.column(problem, runtime, 1), rounds.column(problem, runtime, count))


def table_1(result):
    most = max(result.wish.workers)
    rows = [[problem, policy, cell(result, times, problem, "serial", 1),
             cell(result, times, problem, runtime, 1), cell(result, overhead, problem, runtime),
             PAPER[problem.partition("@")[0]][0], cell(result, times, problem, runtime, most),
             cell(result, gain, problem, runtime, most), PAPER[problem.partition("@")[0]][1]]
            for problem in sized(result.wish)
            for runtime, policy in ((OURS, "forks"), (IVARS, "ivars"))]
    return Table("The paper's Table 1: seconds",
                 ["problem", "by", "T_seq", "T_1", "T_1 / T_seq", "paper's", f"T_{most}",
                  f"T_1 / T_{most}", "paper's T_1 / T_8"],
                 rows, "By forks: native forks. By ivars: a fiber for each fork, which sets an "
                 "ivar, and the newest first, as in the paper's Figure 5. The sizes are the "
                 "paper's with -s paper.")


def before_table(result):
    rows = [[problem, *(cell(result, lambda r, p=problem, c=count, o=other: ratios(
                r.column(p, OURS, c), r.column(p, o, c)))
                        for count in (1, 2) for other in (BEFORE, AGAIN))]
            for problem in compared(result)]
    return Table("Today's time over that of an older build, and over today's own",
                 ["problem", "T1", "T1, control", "T2", "T2, control"], rows)


def tables(result):
    return [cost_table(result), promise_table(result), table_1(result), before_table(result)]


def lines(result):
    return study_text.blocks(tables(result))


def figures(result):
    title = "Speed-up over the serial program, after the paper's Figure 9"
    curves = speed_ups(result, sized(result.wish), [OURS, IVARS], result.wish.workers)
    if not any(curve for panel in curves.values() for curve in panel.values()):
        return [Figure(title, None)]
    return [Figure(title, panels.curves(curves, "speed-up", line_at=1))]
