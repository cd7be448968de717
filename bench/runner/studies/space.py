# SPDX-License-Identifier: MIT
"""What a budget for dead stack pages costs in time and in memory, and whether it is kept.

Questions of fibril-spaa16 (4.3, 4.4: unmapping costs nothing) and nowa-ipdps21 (V-B: it does).
"""

import statistics

from runner import checks as checking
from runner import panels
from runner.rounds import NotMeasured, enough, geometric_mean, speed, value
from runner.studies import Figure, Table
from runner.studies._common import every, of_serial, typical
from runner.studies._nowa_parts import FOURTEEN

ABOUT = "budgets for dead stack pages: time, memory, and what they promise"
# Those that leave many dead pages, or hardly do anything but suspend.
HOARDERS = ["suspended", "suspended@3000", "deep_leaves", "alternating", "lu_tiny"]
PROBLEMS = [*FOURTEEN, *HOARDERS]
ROUNDS = 15
SIZE = "quick"
OURS = "nopal"
KEEP, BUDGET, NONE = (f"{OURS}:budget:{size}" for size in ("unlimited", "64M", "0"))
# Small enough to be reached by programs of this size.
TIGHT, TIGHT_MIB = f"{OURS}:budget:2M", 2
POLICIES = [KEEP, BUDGET, TIGHT, NONE]
BUDGET_MIB = 64
PAGE_KIB = 4
# The programs that suspend most, with more workers than processors.
STRESSED = ["cholesky", "lu_tiny", "deep_leaves"]
STRESS_WORKERS = [2, 4, 8, 16, 32, 64]
GEOMETRIC_LEAST, EACH_LEAST = 0.98, 0.95
PEAK_MOST = 1.02


def census(runtime):
    return f"{runtime}+census"


CENSUSES = [census(KEEP), census(BUDGET), census(TIGHT)]
MIB_OF = {census(BUDGET): BUDGET_MIB, census(TIGHT): TIGHT_MIB}


def workers(cores):
    return [max(2, cores)]


def configurations(wish):
    wanted = every(wish.problems, ["profile"], [1])
    wanted += every(wish.problems, [*POLICIES, *CENSUSES], wish.workers)
    stressed = [p for p in STRESSED if p in wish.problems]
    return wanted + every(stressed, [*POLICIES, *CENSUSES], wish.narrow(STRESS_WORKERS))


def most(wish):
    return max(wish.workers)


def judged(wish):
    fourteen = [p for p in wish.problems if p in FOURTEEN]
    return every(fourteen, [KEEP, BUDGET], [most(wish)])


def over_keep(rounds, problem, runtime, count):
    return speed(rounds, problem, (runtime, count), (KEEP, count))


def peak_over_allowed(rounds, problem, count):
    """Peak RSS with a budget over that with none and the budget itself."""
    peaks = [statistics.median(rounds.column(problem, runtime, count, "max_rss_kib").values())
             for runtime in (BUDGET, NONE)]
    return [peaks[0] / (peaks[1] + BUDGET_MIB * 1024)]


def most_of(rounds, problem, runtime, count, field):
    return max(rounds.column(problem, runtime, count, field).values())


def dead_over_budget(rounds, problem, runtime, count):
    return [most_of(rounds, problem, runtime, count, "dead_pages") * PAGE_KIB /
            (MIB_OF[runtime] * 1024)]


def live_over_bound(rounds, problem, runtime, count):
    """Pages with frames, of stacks on which no thread ran, over P (S1 + D)."""
    s1, d = of_serial(rounds, problem)
    return [most_of(rounds, problem, runtime, count, "live_pages") / (count * (s1 + d))]


def counted_at(wish, problem):
    """The numbers of workers with which a census of this problem was taken."""
    counts = set(wish.workers)
    if problem in STRESSED:
        counts.update(wish.narrow(STRESS_WORKERS))
    return sorted(counts)


def worst(rounds, compute, problem, runtime, counts):
    return [max(compute(rounds, problem, runtime, count)[0] for count in counts)]


def checks(result):
    wish = result.wish
    count = most(wish)
    fourteen = [p for p in wish.problems if p in FOURTEEN]

    def mean(rounds):
        if set(fourteen) != set(FOURTEEN):
            raise NotMeasured("needs all fourteen problems")
        return enough(geometric_mean(rounds, fourteen, (BUDGET, count), (KEEP, count)))
    faster = "speed with a budget over unlimited"
    listed = [(f"{faster}, geometric mean of fourteen, {count} workers", ">=", GEOMETRIC_LEAST,
               mean)]
    for problem in fourteen:
        listed.append((f"{problem}: {faster}, {count} workers", ">=", EACH_LEAST,
                       lambda r, p=problem: enough(over_keep(r, p, BUDGET, count))))
    for problem in wish.problems:
        listed.append((f"{problem}: peak memory with a budget over that with none and the "
                       f"budget, {count} workers", "<=", PEAK_MOST,
                       lambda r, p=problem: peak_over_allowed(r, p, count)))
    for problem in wish.problems:
        counts = counted_at(wish, problem)
        range_of = f"{counts[0]} workers" if len(counts) == 1 else \
            f"{counts[0]} to {counts[-1]} workers"
        for runtime in MIB_OF:
            listed.append((f"{problem}: most dead pages over a budget of {MIB_OF[runtime]} MiB, "
                           f"{range_of}", "<=", 1.0, lambda r, p=problem, w=runtime, c=counts:
                           worst(r, dead_over_budget, p, w, c)))
        listed.append((f"{problem}: most live pages over P (S1 + D), {range_of}", "<=", 1.0,
                       lambda r, p=problem, c=counts:
                       max(worst(r, live_over_bound, p, w, c) for w in CENSUSES)))
    return checking.evaluate(result.measurement, listed)


def policy_rows(result, problem, count):
    d = typical(result, problem, "profile", 1, "depth")
    s1 = typical(result, problem, "profile", 1, "serial_pages")
    bound = None if d is None or s1 is None else s1 + d
    rows = []
    for runtime in POLICIES:
        figures_of = [typical(result, problem, runtime, count, field) for field in
                      ("steals", "unmaps", "page_counts", "minor_faults", "stacks", "stack_pages",
                       "max_rss_kib")]
        if all(figure is None for figure in figures_of):
            continue
        counted = [typical(result, problem, census(runtime), count, field)
                   for field in ("live_pages", "dead_pages")]
        rows.append([problem, runtime.partition(":")[2], count, s1, d, bound, *figures_of,
                     *counted, value(over_keep, result.rounds, problem, runtime, count)])
    return rows


HEAD = ["program", "policy", "P", "S1", "D", "S1 + D", "steals", "unmaps", "counts", "faults",
        "stacks", "stack pages", "peak RSS, KiB", "most live", "most dead", "speed over unlimited"]


def tables(result):
    wish = result.wish
    rows = [row for problem in wish.problems for row in policy_rows(result, problem, most(wish))]
    stress = [row for problem in STRESSED if problem in wish.problems
              for count in wish.narrow(STRESS_WORKERS)
              for row in policy_rows(result, problem, count)]
    note = ("S1 and D in pages and frames that fork, from the serial elision on a stack of its "
            "own. Stack pages are those with memory when the computation ends; most live and most "
            "dead are pages with and without frames of suspended and pooled stacks together, at "
            "any time, exactly counted in runs of their own. Unmaps give pages back, counts ask "
            "the kernel how many of a stack's dead pages have memory.")
    return [Table("Each budget", HEAD, rows, note),
            Table("Many suspensions, more workers than processors", HEAD, stress, note)]


def speeds(result, problems, count):
    groups = {}
    for problem in problems:
        bars = {runtime: value(over_keep, result.rounds, problem, runtime, count)
                for runtime in POLICIES[1:]}
        groups[problem] = {runtime: known for runtime, known in bars.items() if known}
    return groups


def pages(result, problems, count):
    def column(rounds, problem, runtime):
        return list(rounds.column(problem, runtime, count, "stack_pages").values())
    groups = {}
    for problem in problems:
        bars = {runtime: value(column, result.rounds, problem, runtime) for runtime in POLICIES}
        groups[problem] = {runtime: known for runtime, known in bars.items()
                           if known and known.median > 0}
    return groups


def dead_curves(result):
    panel = {}
    for problem in STRESSED:
        if problem not in result.wish.problems:
            continue
        panel[problem] = {}
        for runtime in CENSUSES:
            def column(rounds, count, p=problem, w=runtime):
                return [max(1, n) for n in rounds.column(p, w, count, "dead_pages").values()]
            points = {count: value(column, result.rounds, count)
                      for count in result.wish.narrow(STRESS_WORKERS)}
            panel[problem][runtime] = {count: v for count, v in points.items() if v}
    return panel


def figures(result):
    wish = result.wish
    count = most(wish)
    drawn = []
    for which, problems in (("", [p for p in wish.problems if p in FOURTEEN]),
                            (", programs that hoard", [p for p in wish.problems if p in HOARDERS])):
        drawn += [
            Figure(f"Speed of each budget over unlimited, {count} workers{which}",
                   panels.bars(speeds(result, problems, count), "T_unlimited / T", line_at=1)),
            Figure(f"Stack pages that have memory at the end, {count} workers{which}",
                   panels.bars(pages(result, problems, count), "pages", log=True)),
        ]
    drawn.append(
        Figure("Most dead pages of suspended and pooled stacks",
               panels.curves(dead_curves(result), "pages", log=True),
               f"Budgets: {BUDGET_MIB} MiB are {BUDGET_MIB * 256} pages, {TIGHT_MIB} MiB "
               f"{TIGHT_MIB * 256}."))
    return drawn
