# SPDX-License-Identifier: MIT
"""What it costs that serial code may call parallel code and be called by it (fibril-spaa16, 1).

The thread of an affine region runs nothing else. The program fork_cost tells what single steps
cost: a region, a fork in a handler or within a floating_point guard, a call of nopal::blocking.
"""

from runner import checks as checking
from runner import panels
from runner.rounds import enough, ratios, value
from runner.studies import Figure, Table
from runner.studies._common import every, typical

ABOUT = "what serial-parallel reciprocity costs: affine regions"
REGIONS = "regions"
PROBLEMS = [REGIONS]
ROUNDS = 15
SIZE = "quick"
OURS = "nopal"
FREE, AFFINE = f"{REGIONS}@1", f"{REGIONS}@2"
AFFINE_MOST = 1.1


def workers(cores):
    return [max(2, cores)]


def configurations(wish):
    return every([FREE, AFFINE], [OURS], wish.workers) if REGIONS in wish.problems else []


def judged(wish):
    return configurations(wish)


def over_free(rounds, count):
    return ratios(rounds.column(AFFINE, OURS, count), rounds.column(FREE, OURS, count))


def checks(result):
    listed = [(f"unequal affine regions: time over that without, {count} workers", "<=",
               AFFINE_MOST, lambda r, n=count: enough(over_free(r, n)))
              for count in result.wish.workers]
    return checking.evaluate(result.measurement, listed)


def tables(result):
    rows = [[count, *(value(lambda r, p=problem, n=count: list(r.column(p, OURS, n).values()),
                            result.rounds) for problem in (FREE, AFFINE)),
             typical(result, FREE, OURS, count, "steals"),
             typical(result, AFFINE, OURS, count, "steals"),
             value(over_free, result.rounds, count)]
            for count in result.wish.workers]
    return [Table("64 unequal pieces, each parallel in itself",
                  ["workers", "free, s", "affine, s", "steals, free", "steals, affine",
                   "affine over free"], rows,
                  "Affine: each piece ends on the thread that began it, which meanwhile runs "
                  "strands of that piece alone: work that is ready may find a worker waiting, "
                  "which greedy scheduling excludes.")]


def figures(result):
    known = {f"{count} workers": value(over_free, result.rounds, count)
             for count in result.wish.workers}
    groups = {name: {OURS: ratio} for name, ratio in known.items() if ratio}
    return [Figure("Time of affine regions over that of free ones",
                   panels.bars(groups, "affine / free", line_at=1))]
