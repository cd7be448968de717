# SPDX-License-Identifier: MIT
"""Fibers, schedulers and preemption: what they cost and promise, beside manticore-icfp08.

The paper's figures are of one machine of 2008, four processors with two cores each; only ratios can
be compared. Each problem runs by native forks, and by the paper's own policy for it: work stealing
with ivars (its Figure 5), or a gang with one-touch futures (its Figure 4).
"""

from runner import checks as checking
from runner import panels, programs, study_text
from runner.programs import AGAIN, BEFORE, GANG, IVARS
from runner.rounds import enough, geometric_mean, ratios, value
from runner.studies import Figure, Table
from runner.studies._common import every, speed_ups, up_to

ABOUT = "fibers: switches, messages, fairness, shares, memory; the problems of Manticore's paper"
COMPARES_BUILDS = True
OURS, BOOST, GO = "nopal", "boost", "go"
SWITCH, MESSAGE, FAIRNESS, SHARES, MEMORY, PROVISION = (f"fibers@{n}" for n in range(1, 7))
CASES = [SWITCH, MESSAGE, FAIRNESS, SHARES, MEMORY]
# The problems of the paper's Table 1, at its sizes.
TABLE_1 = {"raytracer": "raytracer@paper", "barnes_hut": "barnes_hut@paper",
           "merge_sort": "merge_sort@paper", "bitonic": "bitonic@paper", "fib": "fib@29"}
# The problems of the papers before this one.
FOURTEEN = [p for p in programs.PROBLEMS
            if p not in programs.MANTICORE and p != "knapsack_swapped"]
PROBLEMS = ["fibers", *TABLE_1, *[p for p in FOURTEEN if p not in TABLE_1]]
ROUNDS = 15
SIZE = "quick"
TICK_MS = 10
OFF_MOST = 0.01
PROVISION_WORKERS = 2
PAPERS_VPROCS = 8
# T_seq, T_1 and T_8 of the paper's Table 1, in seconds.
PAPER = {"raytracer": (9.579, 10.211, 1.337), "barnes_hut": (2.864, 2.737, 0.605),
         "merge_sort": (1.296, 1.290, 0.174), "bitonic": (4.751, 4.694, 0.685),
         "fib": (0.038, 0.639, 2.556)}


def workers(cores):
    return up_to(cores)


def sized(wish):
    """Name -> what is measured of it; a run of size `test` stays small."""
    return {problem: problem if wish.size == "test" and problem != "fib" else at_size
            for problem, at_size in TABLE_1.items() if problem in wish.problems}


def papers_policy(problem):
    """The runtime that schedules this problem as the paper did."""
    return GANG if problem == "raytracer" else IVARS


def compared(wish):
    return [p for p in FOURTEEN if p in wish.problems] if wish.before else []


def few(wish):
    """The numbers of workers with which builds are compared."""
    return [count for count in wish.workers if count <= 2]


def judged(wish):
    """What a check judges by ratios of times."""
    chosen = every(compared(wish), [OURS, BEFORE, AGAIN], few(wish))
    if "fibers" in wish.problems:
        chosen += every([SWITCH], [OURS, BOOST], [1]) + every([MESSAGE], [OURS, GO], [1])
    return chosen


def configurations(wish):
    wanted = judged(wish)
    if "fibers" in wish.problems:
        wanted += every(CASES, [OURS], [1]) + every([PROVISION], [OURS], [PROVISION_WORKERS])
    for problem, at_size in sized(wish).items():
        wanted += every([at_size], ["serial"], [1])
        wanted += every([at_size], [OURS, papers_policy(problem)], wish.workers)
    return wanted


def metric(rounds, problem, name, runtime=OURS):
    """Round -> the number of this name."""
    workers_of = PROVISION_WORKERS if problem == PROVISION else 1
    lines_of = rounds.column(problem, runtime, workers_of, "told")
    return {r: line[name] for r, line in lines_of.items()}


def against(rounds, problem, runtime):
    return ratios(metric(rounds, problem, "ns"), metric(rounds, problem, "ns", runtime))


def mean_over(rounds, problems, count, other):
    """Round by round: the geometric mean over the problems of today's time over the other's."""
    return geometric_mean(rounds, problems, (other, count), (OURS, count))


def build_checks(result):
    problems = compared(result.wish)
    listed = []
    for count in few(result.wish) if problems else []:
        for other, what in ((BEFORE, "the older build's"), (AGAIN, "its own in another run")):
            for relation, limit in (("<=", 1 + OFF_MOST), (">=", 1 - OFF_MOST)):
                listed.append((f"T{count} over {what}, geometric mean of {len(problems)} problems",
                               relation, limit, lambda rounds, c=count, o=other:
                               enough(mean_over(rounds, problems, c, o))))
    return listed


def fiber_checks(result):
    if "fibers" not in result.wish.problems:
        return []
    return [
        ("a switch between two fibers over Boost.Context's", "<=", 3.0,
         lambda rounds: enough(against(rounds, SWITCH, BOOST))),
        ("a message between two fibers over Go's", "<=", 1.0,
         lambda rounds: enough(against(rounds, MESSAGE, GO))),
        ("99th percentile of a message's latency beside a fiber that computes, ms", "<=",
         2.0 * TICK_MS, lambda rounds: list(metric(rounds, FAIRNESS, "p99_ms").values())),
        ("processor time of shares 3 and 1: off from 3, in parts of it", "<=", 0.05,
         lambda rounds: [abs(r / 3 - 1) for r in metric(rounds, SHARES, "ratio").values()]),
        ("processor time of two computations with provisioned vprocs: off from 1", "<=", 0.05,
         lambda rounds: [abs(r - 1) for r in metric(rounds, PROVISION, "ratio").values()]),
        ("memory of a fiber that waits, KiB", "<=", 12.0,
         lambda rounds: [b / 1024 for b in metric(rounds, MEMORY, "bytes").values()])]


def ivar_checks(result):
    """The paper's took four times as long with eight."""
    at_size = sized(result.wish).get("fib")
    if at_size is None or 2 not in result.wish.workers:
        return []
    return [("fib(29) with ivars: T2 over T1", "<=", 1.0,
             lambda rounds: over(rounds, at_size, (IVARS, 2), (IVARS, 1)))]


def checks(result):
    return checking.evaluate(result.measurement, fiber_checks(result) + ivar_checks(result) +
                             build_checks(result))


def cell(result, compute, *arguments):
    return value(compute, result.rounds, *arguments)


def values_of(rounds, problem, name, runtime=OURS):
    return list(metric(rounds, problem, name, runtime).values())


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
            ["two computations by work stealing that share two vprocs by provision, ratio",
             cell(result, values_of, PROVISION, "ratio")],
            ["fibers at once", cell(result, values_of, MEMORY, "fibers")],
            ["bytes of each, page tables counted", cell(result, values_of, MEMORY, "bytes")]]
    return Table("Fairness and memory", ["", "measured"], rows,
                 f"Ticks come each {TICK_MS} ms. The latency is from the send to the receive. The "
                 "shares are those of two computations, each with a scheduler of its own. What "
                 "waits has a small stack without a guard, since kernels before Linux 6.13 "
                 "have room for 29,700 with one; a guard takes no memory.")


def times(rounds, problem, runtime, count):
    return list(rounds.column(problem, runtime, count).values())


def over(rounds, problem, above, below):
    """A quotient of times, each of (runtime, workers)."""
    return ratios(rounds.column(problem, *above), rounds.column(problem, *below))


def table_1_rows(result, problem, at_size, most):
    policies = {OURS: "forks", IVARS: "ivars", GANG: "gang"}
    for runtime in (OURS, papers_policy(problem)):
        runs = {"seq": ("serial", 1), "one": (runtime, 1), "most": (runtime, most)}
        yield [problem, policies[runtime],
               *(cell(result, times, at_size, *run) for run in runs.values()),
               *(cell(result, over, at_size, runs[above], runs[below])
                 for above, below in (("one", "seq"), ("one", "most"), ("seq", "most")))]
    sequential, one, eight = PAPER[problem]
    yield [problem, "the paper, P = 8", sequential, one, eight, one / sequential, one / eight,
           sequential / eight]


def table_1(result):
    most = max(result.wish.workers)
    rows = [row for problem, at_size in sized(result.wish).items()
            for row in table_1_rows(result, problem, at_size, most)]
    return Table(f"Table 1 of the paper, with P = {most}: seconds",
                 ["problem", "by", "T_seq", "T_1", "T_P", "T_1 / T_seq", "T_1 / T_P",
                  "T_seq / T_P"],
                 rows, "By forks: native forks. By ivars: a fiber for each fork, which sets an "
                 "ivar, and work stealing, as in the paper's Figure 5. By gang: a one-touch future "
                 "for each fork, as in its Figure 4; arrays have pieces of 64 entries, as the "
                 "paper's have leaves.")


def before_table(result):
    rows = [[problem, *(cell(result, over, problem, (OURS, count), (other, count))
                        for count in few(result.wish) for other in (BEFORE, AGAIN))]
            for problem in compared(result.wish)]
    heads = [f"T{count}{control}" for count in few(result.wish) for control in ("", ", control")]
    said = "" if result.wish.before else \
        "No older build was given (--before DIR), so today's is compared with none."
    return Table("Today's time over that of an older build, and over its own in another run",
                 ["problem", *heads], rows, said)


def tables(result):
    return [cost_table(result), promise_table(result), table_1(result), before_table(result)]


def lines(result):
    return study_text.blocks(tables(result))


def speed_bars(result):
    """The last points of the curves that figures() has."""
    most = max(result.wish.workers)
    curves = speed_ups(result, sized(result.wish).values(), [OURS, IVARS, GANG], [most])
    groups = {at_size.partition("@")[0]: {
        runtime: points[most] for runtime, points in panel.items() if points}
              for at_size, panel in curves.items()}
    return Figure(f"Speed-up over the serial program, {most} workers",
                  panels.bars(groups, "T_seq / T_P", line_at=1))


def picture(result):
    """With an older build the comparison with it, else what figures() has."""
    shown = [BEFORE, AGAIN]
    groups = {problem: {other: known for other in shown if (
        known := cell(result, over, problem, (OURS, 1), (other, 1)))}
              for problem in compared(result.wish)}
    if not any(groups.values()):
        return speed_bars(result)
    return Figure("Today's time over that of an older build, and of today's once more, one worker",
                  panels.bars(groups, "ratio", line_at=1))


def figures(result):
    title = "Speed-up over the serial program, after the paper's Figure 9"
    curves = speed_ups(result, sized(result.wish).values(), [OURS, IVARS, GANG],
                       result.wish.workers)
    if not any(curve for panel in curves.values() for curve in panel.values()):
        return [Figure(title, None)]
    return [Figure(title, panels.curves(curves, "speed-up", line_at=1))]
