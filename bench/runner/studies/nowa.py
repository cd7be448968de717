# SPDX-License-Identifier: MIT
"""The evaluation of nowa-ipdps21 (section V), with our presets beside the original."""

import statistics

from runner import checks as checking
from runner.rounds import NotMeasured, enough, geometric_mean, ratios, speed
from runner.studies import _nowa_figures, _nowa_parts as parts
from runner.studies._common import every, straw_man_checks, straw_men, up_to

ABOUT = "Nowa's evaluation: wait-free join, deques, madvise, OpenMP"
PROBLEMS = parts.FOURTEEN
ROUNDS = 15
SIZE = "quick"
NOT_SLOWER = 0.95
OVER_TBB = 2.0

configurations = parts.configurations
figures = _nowa_figures.figures
tables = _nowa_figures.tables
picture = _nowa_figures.picture


def workers(cores):
    return up_to(cores)


def judged(wish):
    return (straw_men(parts.OURS, "nowa", wish.problems) +
            every(wish.problems, [parts.PLAIN, *parts.PRESETS, "tbb"], [parts.CHECKED]))


def over_fastest_preset(rounds, problem):
    """Speed of nopal over the preset whose median is lowest: it is slower than none, then."""
    columns = {runtime: rounds.column(problem, runtime, parts.CHECKED)
               for runtime in parts.PRESETS}
    fastest = min(columns, key=lambda runtime: statistics.median(columns[runtime].values()))
    ours = rounds.column(problem, parts.PLAIN, parts.CHECKED)
    return enough(ratios(columns[fastest], ours))


def over_tbb(rounds, problem):
    return enough(speed(rounds, problem, (parts.PLAIN, parts.CHECKED), ("tbb", parts.CHECKED)))


def mean_over_tbb(rounds, problems):
    missing = [problem for problem in parts.FINE if problem not in problems]
    if missing:
        raise NotMeasured(f"needs {', '.join(missing)}")
    return enough(geometric_mean(rounds, parts.FINE, (parts.PLAIN, parts.CHECKED),
                                 ("tbb", parts.CHECKED)))


def checks(result):
    problems = result.wish.problems
    many = f"{parts.CHECKED} workers"
    listed = straw_man_checks(parts.OURS, "nowa", problems)
    for problem in problems:
        if problem != parts.UNSTEADY:
            listed.append((f"{problem}: speed of nopal over the fastest preset, {many}", ">=",
                           NOT_SLOWER, lambda r, p=problem: over_fastest_preset(r, p)))
    listed.append((f"speed of nopal over oneTBB, geometric mean of {', '.join(parts.FINE)}, "
                   f"{many}", ">=", OVER_TBB, lambda r: mean_over_tbb(r, problems)))
    for problem in problems:
        listed.append((f"{problem}: speed of nopal over oneTBB, {many}", ">=", NOT_SLOWER,
                       lambda r, p=problem: over_tbb(r, p)))
    return checking.evaluate(result.measurement, listed)
