# SPDX-License-Identifier: MIT
"""The seven strategies for a cactus stack (cilk-m-pact10, Figure 2 and section 3), measured.

Each row has a runtime that follows it. The programs wait for the clock rather than compute, so they
show the schedule of more workers than there are processors.
"""

import dataclasses

from runner import checks as checking
from runner import panels
from runner.programs import HEAP_FRAMES, MAPPED, STRATEGIES
from runner.rounds import NotMeasured, paired, ratios, value
from runner.studies import Figure, Table
from runner.studies._common import every, of_serial, metric, typical

ABOUT = "Cilk-M's table of strategies: reciprocity, waiting thieves, stack space"
COMPARING, CAPTIVES, SUSPENDED, ARMS = "comparing", "captives", "suspended", "arms"
PROBLEMS = [COMPARING, CAPTIVES, SUSPENDED, ARMS]
ROUNDS = 5
SIZE = "quick"
OURS = "nopal"
_, ONE_STACK, RESTRICTED, REUSING = STRATEGIES
# Pages are counted in runs of their own, which reclaim dead ones at each suspension, as the paper.
MAPPED_COUNTED = f"{MAPPED}:budget:0+census"
FEW_STACKS = "nopal-cilkplus:stacks:{P}"
# Four times the chains: what is buried grows with them, where nothing bounds it.
MORE_CAPTIVES = f"{CAPTIVES}@96"
# A linear stack of 1 MiB has room for so many frames that each begin at a page's boundary.
CHAIN = f"{SUSPENDED}@200"
# What a strategy that lets every thief go on reaches there of P times the speed of one worker.
SPEED_UP_LEAST = 0.6
# How much longer a thief that must wait takes, at least; with two workers none does.
STALL_FACTORS = {4: 1.2, 8: 1.5, 16: 2.0}
BURIED_LEAST = 2.0
PILED_LEAST = 0.25


@dataclasses.dataclass(frozen=True)
class Strategy:
    """A row of Figure 2 with the paper's words, and the runtime that follows it. {P}: the number of
    workers."""

    number: int
    title: str
    reciprocity: str
    time: str
    space: str
    runtime: str

    def with_workers(self, count):
        return self.runtime.replace("{P}", str(count))


FIGURE_2 = [
    Strategy(1, "Recompile everything", "no", "very strong", "very strong", HEAP_FRAMES),
    Strategy(2, "One stack per worker", "yes", "very strong", "no", ONE_STACK),
    Strategy(3, "Depth-restricted stealing", "yes", "no", "very strong", RESTRICTED),
    Strategy(4, "Limited-depth stacks", "yes", "no", "very strong", FEW_STACKS),
    Strategy(5, "New stack when needed", "yes", "very strong", "weak", OURS),
    Strategy(6, "Reuse ancestor stacks", "yes", "strong", "weak", REUSING),
    Strategy(7, "TLMM cactus stacks", "yes", "strong", "strong", MAPPED),
]
RECIPROCAL = [row for row in FIGURE_2 if row.reciprocity == "yes"]
WAITING = [row for row in FIGURE_2 if row.time == "no"]


def workers(cores):
    return [2, 4, 8] + ([16] if cores >= 16 else [])


def arms(count):
    return f"{ARMS}@{count}"


def parallel(wish):
    return [count for count in wish.workers if count > 1]


def most(wish):
    return max(parallel(wish), default=0)


def variants(problem, count):
    """The programs of a problem that run with so many workers."""
    if problem == ARMS:
        return [arms(count)] if count >= 3 else []
    return {CAPTIVES: [CAPTIVES, MORE_CAPTIVES], SUSPENDED: [CHAIN]}.get(problem, [problem])


def configurations(wish):
    wanted = []
    for problem in wish.problems:
        rows = [row for row in FIGURE_2 if problem == CAPTIVES or row.runtime != HEAP_FRAMES]
        for count in parallel(wish):
            names = variants(problem, count)
            wanted += every(names, ["profile"], [1])
            wanted += every(names, [row.with_workers(count) for row in rows], [count])
            if problem in (CAPTIVES, ARMS):
                wanted += every(names, [MAPPED_COUNTED], [count])
            if problem == CAPTIVES:
                wanted += every([CAPTIVES], [row.with_workers(count) for row in rows], [1])
    return wanted


def steals_when_right(rounds, row, counts):
    """All steals of the runs, 0 if one of them did not end with the right result."""
    steals = 0
    for count in counts:
        configuration = (COMPARING, row.with_workers(count), count)
        if configuration in rounds.measurement.failures:
            return [0]
        steals += sum(line["steals"] for line in
                      rounds.measurement.samples.get(configuration, {}).values())
    if not any((COMPARING, row.with_workers(count), count) in rounds.measurement.samples
               for count in counts):
        raise NotMeasured(f"needs {COMPARING} on {row.runtime}")
    return [steals]


def speed_up(rounds, row, count):
    """Over one worker of the same runtime."""
    runtime = row.with_workers(count)
    return ratios(rounds.column(CAPTIVES, runtime, 1), rounds.column(CAPTIVES, runtime, count))


def slower(rounds, row, count):
    return ratios(rounds.column(CAPTIVES, row.with_workers(count), count),
                  rounds.column(CAPTIVES, OURS, count))


def pages(rounds, problem, row, count):
    """Round -> pages of stacks, and of the heap where that has the frames."""
    runtime = row.with_workers(count)
    if runtime == MAPPED:
        both = paired(*(rounds.column(problem, MAPPED_COUNTED, count, field)
                        for field in ("live_pages", "dead_pages")))
        return {r: sum(of_stacks) for r, of_stacks in both.items()}
    stacks = rounds.column(problem, runtime, count, "stack_pages")
    if runtime != HEAP_FRAMES:
        return stacks
    try:
        heap = metric(rounds, problem, runtime, count, "frame_pages")
    except NotMeasured:  # files that were kept before
        heap = metric(rounds, problem, runtime, count, "heap_pages")
    return {r: sum(both) for r, both in paired(stacks, heap).items()}


def most_pages_over(rounds, problem, row, count, bound):
    """The most pages of all rounds over bound(P, S1, D)."""
    return [max(pages(rounds, problem, row, count).values()) /
            bound(count, *of_serial(rounds, problem))]


def strong(count, s1, d):
    return count * (s1 + d)


def time_checks(wish):
    listed = []
    for row in FIGURE_2:
        for count in parallel(wish):
            name = row.with_workers("P")
            if row not in WAITING:
                listed.append((f"{row.number}. {CAPTIVES}: speed-up of {name} over P, {count} "
                               "workers", ">=", SPEED_UP_LEAST, lambda r, a=(row, count):
                               [s / a[1] for s in speed_up(r, *a)]))
            elif count in STALL_FACTORS:
                listed.append((f"{row.number}. {CAPTIVES}: T{count} of {name} over {OURS}'s", ">=",
                               STALL_FACTORS[count], lambda r, a=(row, count): slower(r, *a)))
    return listed


# (row, problem, what the pages are divided by, relation, limit)
SPACE = [
    (1, MORE_CAPTIVES, "P (S1 + D)", strong, "<=", 1.0),
    (2, MORE_CAPTIVES, "P S1", lambda count, s1, d: count * s1, ">=", BURIED_LEAST),
    (3, MORE_CAPTIVES, "P (S1 + 1)", lambda count, s1, d: count * (s1 + 1), "<=", 1.0),
    (4, MORE_CAPTIVES, "P (S1 + 1)", lambda count, s1, d: count * (s1 + 1), "<=", 1.0),
    (5, MORE_CAPTIVES, "D P S1", lambda count, s1, d: d * count * s1, "<=", 1.0),
    (6, ARMS, "P^2 S1", lambda count, s1, d: count * count * s1, ">=", PILED_LEAST),
    (7, MORE_CAPTIVES, "P (S1 + D)", strong, "<=", 1.0),
    (7, ARMS, "P (S1 + D)", strong, "<=", 1.0),
]


def space_checks(wish):
    """With the most workers."""
    count = most(wish)
    listed = []
    for number, problem, name, bound, relation, limit in SPACE:
        if problem.partition("@")[0] not in wish.problems:
            continue
        row = FIGURE_2[number - 1]
        problem = arms(count) if problem == ARMS else problem
        listed.append((f"{number}. {problem}: pages of {row.with_workers(count)} over {name}, "
                       f"{count} workers", relation, limit,
                       lambda r, a=(problem, row, count, bound): most_pages_over(r, *a)))
    return listed


def checks(result):
    wish = result.wish
    listed = []
    if COMPARING in wish.problems:
        listed += [(f"{row.number}. {COMPARING} on {row.with_workers('P')}: steals, if the result "
                    "is right", ">=", 1, lambda r, w=row: steals_when_right(r, w, parallel(wish)))
                   for row in RECIPROCAL]
    if CAPTIVES in wish.problems:
        listed += time_checks(wish)
    return checking.evaluate(result.measurement, listed + space_checks(wish))


def said_of_reciprocity(result, row):
    if row not in RECIPROCAL:
        return "no: others' functions have no frames on the heap"
    try:
        steals = steals_when_right(result.rounds, row, parallel(result.wish))[0]
    except NotMeasured:
        return None
    return f"yes ({steals} steals)" if steals else "not shown"


def most_pages(result, problem, row, count):
    try:
        return max(pages(result.rounds, problem, row, count).values())
    except NotMeasured:
        return None


def figure_2(result):
    wish = result.wish
    count = most(wish)
    head = ["strategy", "paper: reciprocity", "time bound", "space bound", "here", "reciprocity",
            *(f"captives: T1 / T{n}" for n in parallel(wish)),
            *(f"{problem}: pages" for problem in (CAPTIVES, MORE_CAPTIVES, arms(count))),
            f"{CHAIN}: stacks"]
    rows = [[f"{row.number}. {row.title}", row.reciprocity, row.time, row.space,
             row.with_workers("P"), said_of_reciprocity(result, row),
             *(value(speed_up, result.rounds, row, n) for n in parallel(wish)),
             *(most_pages(result, problem, row, count)
               for problem in (CAPTIVES, MORE_CAPTIVES, arms(count))),
             typical(result, CHAIN, row.with_workers(count), count, "stacks")]
            for row in FIGURE_2]
    return Table("Figure 2: the strategies", head, rows,
                 "Reciprocity: qsort of libc with a comparator that forks; the right result, with "
                 "so many steals in all runs. captives has ample parallelism, but a thief that may "
                 "only steal deeper, or that must have a stack and finds none, waits there; with "
                 "two workers nobody has to wait. Its frames lie deep, and one stack per worker "
                 "buries them, the more of them the more chains there are. arms makes thieves take "
                 f"new stacks though they reuse those of ancestors. Pages are the most of all "
                 f"rounds with {count} workers; those of {HEAP_FRAMES} are of heap and stacks. "
                 f"{MAPPED}'s are the most at any time of stacks on which no strand runs, with a "
                 "budget of 0; those of the others have memory at the end, and their dead pages "
                 "are kept.")


def bounds(result):
    count = most(result.wish)
    rows = []
    for problem in (CAPTIVES, MORE_CAPTIVES, arms(count), CHAIN):
        d = typical(result, problem, "profile", 1, "depth")
        s1 = typical(result, problem, "profile", 1, "serial_pages")
        if d is not None and s1 is not None:
            rows.append([problem, s1, d, count * s1, count * (s1 + d), count * count * s1,
                         d * count * s1])
    return Table(f"Bounds on pages, P = {count}",
                 ["program", "S1", "D", "P S1", "P (S1 + D)", "P^2 S1", "D P S1"], rows,
                 "S1 and D in pages and frames that fork, from the serial elision on a stack of "
                 "its own.")


def tables(result):
    return [figure_2(result), bounds(result)]


def figures(result):
    wish = result.wish
    speeds = {}
    for count in parallel(wish):
        bars = {row.with_workers(count): value(speed_up, result.rounds, row, count)
                for row in FIGURE_2}
        speeds[f"{count} workers"] = {r: known for r, known in bars.items() if known}
    count = most(wish)
    spaces = {}
    for problem in (CAPTIVES, MORE_CAPTIVES, arms(count)):
        bars = {row.with_workers(count): value(
            lambda rounds, *a: list(pages(rounds, *a).values()), result.rounds, problem, row, count)
                for row in FIGURE_2}
        spaces[problem] = {r: known for r, known in bars.items() if known}
    return [Figure("captives: speed-up over one worker", panels.bars(speeds, "T1 / T_P")),
            Figure(f"Pages, {count} workers", panels.bars(spaces, "pages", log=True))]


def picture(result):
    return figures(result)[1]
