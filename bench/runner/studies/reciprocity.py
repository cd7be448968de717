# SPDX-License-Identifier: MIT
"""What it costs that serial code may call parallel code and be called by it (fibril-spaa16, 1).

Each fork records the floating-point control words, which is measured, not judged: it is the price
of what the library promises. The thread of an affine region helps nobody else. What single steps
cost (a region, a fork in a handler, a lent worker), fork_cost tells.
"""

from runner import checks as checking
from runner import panels
from runner.programs import SERIAL_RUNTIMES
from runner.rounds import enough, geometric_mean, paired, ratios, value
from runner.studies import Figure, Table
from runner.studies._common import every, typical
from runner.studies._nowa_parts import FOURTEEN

ABOUT = "what serial-parallel reciprocity costs: floating-point state, affine regions"
REGIONS = "regions"
PROBLEMS = [*FOURTEEN, REGIONS]
ROUNDS = 15
SIZE = "quick"
OURS, BARE = "nopal", "nopal-bare"
FREE, AFFINE = f"{REGIONS}@1", f"{REGIONS}@2"
AFFINE_MOST = 1.1


def workers(cores):
    return [max(2, cores)]


def fourteen_of(wish):
    return [p for p in wish.problems if p in FOURTEEN]


def configurations(wish):
    wanted = every(fourteen_of(wish), [SERIAL_RUNTIMES[0], OURS, BARE], [1])
    if REGIONS in wish.problems:
        wanted += every([FREE, AFFINE], [OURS], wish.workers)
    return wanted


def judged(wish):
    return [c for c in configurations(wish) if c[1] not in SERIAL_RUNTIMES]


def over_bare(rounds, problem):
    return ratios(rounds.column(problem, OURS, 1), rounds.column(problem, BARE, 1))


def ns_per_fork(rounds, problem):
    rows = paired(rounds.column(problem, OURS, 1), rounds.column(problem, BARE, 1))
    forks = rounds.forks(problem, OURS)
    return [(ours - bare) * 1e9 / forks for ours, bare in rows.values()]


def over_free(rounds, count):
    return ratios(rounds.column(AFFINE, OURS, count), rounds.column(FREE, OURS, count))


def checks(result):
    listed = [(f"unequal affine regions: time over that without, {count} workers", "<=",
               AFFINE_MOST, lambda r, n=count: enough(over_free(r, n)))
              for count in result.wish.workers if REGIONS in result.wish.problems]
    return checking.evaluate(result.measurement, listed)


def mean_over_bare(rounds, problems):
    return geometric_mean(rounds, problems, (BARE, 1), (OURS, 1))


def tables(result):
    rows = [[problem, typical(result, problem, OURS, 1, "forks"),
             *(value(lambda r, p=problem, w=runtime: list(r.column(p, w, 1).values()),
                     result.rounds) for runtime in (SERIAL_RUNTIMES[0], BARE, OURS)),
             value(over_bare, result.rounds, problem), value(ns_per_fork, result.rounds, problem)]
            for problem in fourteen_of(result.wish)]
    rows.append(["geometric mean", None, None, None, None,
                 value(mean_over_bare, result.rounds, fourteen_of(result.wish)), None])
    regions = [[count, *(value(lambda r, p=problem, n=count: list(r.column(p, OURS, n).values()),
                               result.rounds) for problem in (FREE, AFFINE)),
                typical(result, FREE, OURS, count, "steals"),
                typical(result, AFFINE, OURS, count, "steals"),
                value(over_free, result.rounds, count)]
               for count in result.wish.workers if REGIONS in result.wish.problems]
    return [Table("Control words recorded at each fork, one worker",
                  ["problem", "forks", "serial, s", "without, s", "with, s", "with over without",
                   "ns per fork"], rows,
                  "stmxcsr and fnstcw at each fork, so that a stolen continuation rounds as its "
                  "parent did. Without: a build of Nopal that leaves them out. The problems "
                  "whose time is not that of forks tell the noise."),
            Table("64 unequal pieces, each parallel in itself",
                  ["workers", "free, s", "affine, s", "steals, free", "steals, affine",
                   "affine over free"], regions,
                  "Affine: each piece ends on the thread that began it, which meanwhile runs "
                  "strands of that piece alone: work that is ready may find a worker waiting, "
                  "which greedy scheduling excludes.")]


def figures(result):
    groups = {}
    for problem in fourteen_of(result.wish):
        known = value(over_bare, result.rounds, problem)
        groups[problem] = {OURS: known} if known else {}
    return [Figure("Time with the control words recorded over time without, one worker",
                   panels.bars(groups, "T1 with / T1 without", line_at=1))]
