# SPDX-License-Identifier: MIT
"""The strategies for a cactus stack (cilk-m-pact10, Figure 2 and section 3), measured."""

import dataclasses

from runner import checks as checking
from runner import panels
from runner.programs import base
from runner.rounds import NotMeasured, paired, ratios, value
from runner.studies import Figure, Table
from runner.studies._common import every, typical

ABOUT = "Cilk-M's table of strategies: reciprocity, waiting thieves, stack space"
PROBLEMS = ["reciprocity", "captives", "suspended", "fibx", "cholesky"]
ROUNDS = 5
SIZE = "quick"
OURS = "nopal"
RESTRICTED = "nopal-depth-restricted"
REUSING = "nopal-reuse-ancestors"
BOUNDED = "nopal-cilkplus"
UNMAPPING = [f"{OURS}:dontneed", "nopal-fibril"]
# Their times need no processor for each worker: two wait for the clock, and of the first the result
# counts.
ANY_WORKERS = ["reciprocity", "captives", "suspended"]
# How much longer a thief that must wait takes for `captives`, at least; with two workers none does.
STALL_FACTORS = {4: 1.2, 8: 1.5, 16: 2.0}
# What a strategy that lets every thief go on reaches there of P times the speed of one worker.
SPEED_UP_LEAST = 0.6


@dataclasses.dataclass(frozen=True)
class Strategy:
    """A row of Figure 2 with the paper's words."""

    number: int
    title: str
    reciprocity: str
    time: str
    space: str
    # Ours that follow it. {P}: the number of workers.
    runtimes: list
    why_none: str = ""


FIGURE_2 = [
    Strategy(1, "Recompile everything", "no", "very strong", "very strong", [],
             "frames on the heap: no function that others compiled may call one that forks"),
    Strategy(2, "One stack per worker", "yes", "very strong", "no", [],
             "no preset leaves the depth of a stack without any bound"),
    Strategy(3, "Depth-restricted stealing", "yes", "no", "very strong", [RESTRICTED]),
    Strategy(4, "Limited-depth stacks", "yes", "no", "very strong",
             [BOUNDED, BOUNDED + ":bounded:{P}"]),
    Strategy(5, "New stack when needed", "yes", "very strong", "weak", [OURS, *UNMAPPING]),
    Strategy(6, "Recycle ancestor stacks", "yes", "strong", "weak", [REUSING]),
    Strategy(7, "TLMM cactus stacks", "yes", "strong", "strong", [],
             "maps stolen frames into another address space; all workers here share one"),
]


def workers(cores):
    return [2, 4, 8] + ([16] if cores >= 16 else [])


def with_workers(pattern, count):
    return pattern.replace("{P}", str(count))


def runtimes_for(count):
    return [with_workers(pattern, count) for row in FIGURE_2 for pattern in row.runtimes]


def parallel(wish):
    return [count for count in wish.workers if count > 1]


def counts_of(problem, wish):
    """Where time is computing there are no more workers than cores, unless asked."""
    if problem in ANY_WORKERS or wish.workers_asked:
        return parallel(wish)
    return [count for count in parallel(wish) if count <= max(2, wish.cores)]


def configurations(wish):
    wanted = every(wish.problems, ["profile"], [1])
    for problem in wish.problems:
        for count in counts_of(problem, wish):
            wanted += every([problem], runtimes_for(count), [1, count])
    return wanted


def most(problem, result):
    return max(counts_of(problem, result.wish), default=None)


def steals_when_right(rounds, runtimes):
    """All steals of the runs, 0 if one of them did not end with the right result."""
    steals = 0
    known = False
    for configuration, lines in rounds.measurement.samples.items():
        problem, runtime, count = configuration
        if problem != "reciprocity" or count == 1 or runtime not in runtimes:
            continue
        if configuration in rounds.measurement.failures:
            return [0]
        known = known or bool(lines)
        steals += sum(line["steals"] for line in lines.values())
    if not known:
        raise NotMeasured(f"needs reciprocity on {', '.join(runtimes)}")
    return [steals]


def speed_up(rounds, runtime, count):
    """Over one worker of the same runtime."""
    return ratios(rounds.column("captives", runtime, 1), rounds.column("captives", runtime, count))


def slower(rounds, runtime, count):
    return ratios(rounds.column("captives", runtime, count),
                  rounds.column("captives", OURS, count))


def pages_over_bound(rounds, problem, runtime, count):
    rows = paired(rounds.column(problem, runtime, count, "stack_pages"),
                  rounds.column(problem, "profile", 1, "serial_pages"),
                  rounds.column(problem, "profile", 1, "depth"))
    return [pages / (count * (s1 + d)) for pages, s1, d in rows.values()]


def stacks_over_bound(rounds, problem, runtime, count):
    rows = paired(rounds.column(problem, runtime, count, "stacks"),
                  rounds.column(problem, "profile", 1, "depth"))
    return [stacks / (count * d) for stacks, d in rows.values()]


def variants(pattern, wish):
    """A runtime's names for all worker counts."""
    return list(dict.fromkeys(with_workers(pattern, count) for count in parallel(wish)))


def reciprocity_checks(wish):
    return [(f"reciprocity on {pattern.replace('{P}', 'P')}: steals, if the result is right", ">=",
             1, lambda r, p=pattern: steals_when_right(r, variants(p, wish)))
            for row in FIGURE_2 for pattern in row.runtimes]


def stall_checks(wish):
    listed = []
    for count in parallel(wish):
        listed.append((f"captives: speed-up of {OURS} over P, {count} workers", ">=",
                       SPEED_UP_LEAST, lambda r, c=count: [s / c for s in speed_up(r, OURS, c)]))
        for runtime in (RESTRICTED, f"{BOUNDED}:bounded:{count}"):
            if count in STALL_FACTORS:
                listed.append((f"captives: T{count} of {runtime} over {OURS}'s", ">=",
                               STALL_FACTORS[count],
                               lambda r, w=runtime, c=count: slower(r, w, c)))
    return listed


def space_checks(result):
    listed = []
    for problem in result.wish.problems:
        count = most(problem, result)
        if problem == "reciprocity" or count is None:
            continue
        for runtime in UNMAPPING:
            listed.append((f"{problem}: stack pages of {runtime} over P (S1 + D), {count} workers",
                           "<=", 1.0, lambda r, a=(problem, runtime, count):
                           pages_over_bound(r, *a)))
        for runtime in (OURS, *UNMAPPING):
            listed.append((f"{problem}: stacks of {runtime} over D P, {count} workers", "<=", 1.0,
                           lambda r, a=(problem, runtime, count): stacks_over_bound(r, *a)))
    return listed


def checks(result):
    wish = result.wish
    listed = reciprocity_checks(wish) if "reciprocity" in wish.problems else []
    listed += stall_checks(wish) if "captives" in wish.problems else []
    return checking.evaluate(result.measurement, listed + space_checks(result))


def said_of_reciprocity(result, pattern):
    try:
        steals = steals_when_right(result.rounds, variants(pattern, result.wish))[0]
    except NotMeasured:
        return None
    return f"yes ({steals} steals)" if steals else "not shown"


def figure_2_rows(result, row):
    rows = []
    paper = [f"{row.number}. {row.title}", row.reciprocity, row.time, row.space]
    for pattern in row.runtimes:
        line = [*paper, pattern.replace("{P}", "P"), said_of_reciprocity(result, pattern)]
        line += [value(speed_up, result.rounds, with_workers(pattern, count), count)
                 for count in parallel(result.wish)]
        count = most("suspended", result)
        line += [typical(result, "suspended", with_workers(pattern, count or 0), count, field)
                 for field in ("stacks", "stack_pages")]
        rows.append(line)
    if not rows:
        rows.append([*paper, row.why_none] + [None] * (3 + len(parallel(result.wish))))
    return rows


def figure_2(result):
    count = most("suspended", result)
    head = ["strategy", "paper: reciprocity", "paper: time bound", "paper: space bound",
            "here", "reciprocity"]
    head += [f"captives: T1 / T{n}" for n in parallel(result.wish)]
    head += [f"suspended: stacks, P = {count}", "pages"]
    rows = [line for row in FIGURE_2 for line in figure_2_rows(result, row)]
    return Table("Figure 2: the strategies", head, rows,
                 "Reciprocity: qsort of libc with a comparator that forks, and frames compiled as "
                 "C between frames that are stolen; the right result, with so many steals in all "
                 "runs. captives has ample parallelism, but a thief that may only steal deeper, or "
                 "that must have a stack and finds none, waits there; its work is waiting for the "
                 "clock, so the speed-up is that of the schedule, also with more workers than "
                 "processors. With two workers nobody has to wait. "
                 f"{BOUNDED}:bounded:P has one stack for each worker, {BOUNDED} 2400.")


def space_rows(result, problem):
    count = most(problem, result)
    if count is None:
        return []
    d = typical(result, problem, "profile", 1, "depth")
    s1 = typical(result, problem, "profile", 1, "serial_pages")
    known = d is not None and s1 is not None
    bounds = [count * (s1 + d), d * count * s1] if known else [None, None]
    rows = []
    for runtime in runtimes_for(count):
        figures_of = [typical(result, problem, runtime, count, field) for field in
                      ("stacks", "stack_pages", "max_rss_kib", "rss_before_kib", "unmaps")]
        stacks, pages, peak, before, unmaps = figures_of
        increase = None if peak is None or before is None else peak - before
        rows.append([problem, runtime, count, stacks, pages, s1, d, *bounds, increase, unmaps])
    return rows


def space_table(result):
    rows = [line for problem in result.wish.problems if problem != "reciprocity"
            for line in space_rows(result, problem)]
    return Table("Stack space", ["program", "runtime", "P", "stacks", "stack pages", "S1", "D",
                                 "P (S1 + D)", "D P S1", "RSS increase, KiB", "unmaps"], rows,
                 "S1 and D in pages and frames that fork, from the serial elision on a stack of "
                 "its own. P (S1 + D) bounds the pages of a strategy that gives dead ones back, "
                 "D P S1 the pages of one that keeps them (D P stacks). Stacks and their pages "
                 "are those that exist when the computation ends.")


def tables(result):
    return [figure_2(result), space_table(result)]


def speed_up_figure(result):
    groups = {}
    for count in parallel(result.wish):
        bars = {runtime: value(speed_up, result.rounds, runtime, count)
                for runtime in runtimes_for(count)}
        groups[f"{count} workers"] = {name(r): v for r, v in bars.items() if v}
    return Figure("captives: speed-up over one worker", panels.bars(groups, "T1 / T_P"),
                  f"{BOUNDED}:bounded has one stack for each worker.")


def name(runtime):
    """One colour and one line in the legend for all numbers of stacks."""
    return f"{base(runtime)}:bounded" if ":bounded:" in runtime else runtime


def stacks_figure(result):
    groups = {}
    for problem in result.wish.problems:
        count = most(problem, result)
        if count is None:
            continue
        bars = {runtime: value(lambda rounds, a: list(rounds.column(*a, "stacks").values()),
                               result.rounds, (problem, runtime, count))
                for runtime in runtimes_for(count)}
        groups[f"{problem}, P = {count}"] = {name(r): v for r, v in bars.items() if v}
    return Figure("Stacks", panels.bars(groups, "stacks", log=True))


def figures(result):
    return [speed_up_figure(result), stacks_figure(result)]
