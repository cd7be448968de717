# SPDX-License-Identifier: MIT
"""How far nineteen problems scale from 1 to 16 workers, and what the scheduler's steps take
meanwhile: what script/scaling packs for machines with more cores. Those of manticore-icfp08 run by
the paper's own policies too, as in its Figure 9, and so does its fib(29)."""

import sys

from runner import panels, programs, study_text
from runner.checks import FORKING
from runner.rounds import NotMeasured, Value, paired, ratios, speed_up, value
from runner.studies import Figure, Table, _steps, scheduling
from runner.studies._common import every, metric
from runner.study_page import number

ABOUT = "nineteen problems at 1, 2, 4, 6, 8, 16 workers; forks, steals, sleeping and waking"
PROGRAMS = [_steps.PROGRAM]
PROBLEMS = programs.PROBLEMS
ROUNDS = 7
SIZE = "quick"
# Of ten minutes; the rest is for writing, and for a machine that is slow to start programs.
WITHIN_S = 570
# Compilers unroll the recursion of their serial elision, which is no cost of a fork.
CALLED = [*FORKING, "fibx"]
OURS = "nopal"
COUNTS = [1, 2, 4, 6, 8, 16]
# The paper's fib, too small for forks to gain much; it stands beside "fib".
PAPERS_FIB = scheduling.TABLE_1["fib"]
PAPER = "Manticore, 2008"
MACHINE = "plain threads"
STEP_TITLES = {
    "fork": "fork and join that nobody steals, ns",
    "steal": "from a fork to its thief, us",
    "wake": "from a fork to a thief that slept, us",
    "wake_all": "until every worker has work, all having slept, us",
    "sleep": "until every idle worker sleeps, us"}
STEP_UNITS_NS = {"fork": 1}
MICROSECOND = 1000


def workers(cores):
    return [count for count in COUNTS if count <= cores] or [1]


def side_by_side(count):
    return f"side_by_side@{count}"


def is_called(problem):
    return problem in [*CALLED, PAPERS_FIB]


def by(problem):
    """The runtimes of ours that run it."""
    papers = [*programs.MANTICORE, PAPERS_FIB]
    return [OURS, scheduling.papers_policy(problem)] if problem in papers else [OURS]


def shown(problems):
    return [*problems, *([PAPERS_FIB] if "fib" in problems else [])]


def configurations(wish):
    counts = sorted({1, *wish.workers})
    problems = shown(wish.problems)
    called = [p for p in problems if is_called(p)]
    return (every(wish.problems, ["serial"], [1]) + every(called, ["serial_call"], [1]) +
            [c for p in problems for c in every([p], by(p), counts)] +
            every([side_by_side(count) for count in counts], ["serial"], [1]))


def extra(build, wish):
    """The CPUs and the steps of the scheduler; says which numbers of workers do not fit."""
    allowed = _steps.cpus(build)
    notes = []
    absent = [count for count in COUNTS if count > allowed and count not in wish.workers]
    if absent:
        notes.append(f"This machine lets a program use {cpus(allowed)}: {listed(absent)} workers "
                     "were left out.")
    crowded = [count for count in wish.workers if count > allowed]
    if crowded:
        notes.append(f"This machine lets a program use {cpus(allowed)}: {listed(crowded)} workers "
                     "(marked *) have to share, and their figures say nothing of scaling.")
    for note in notes:
        print(note, file=sys.stderr)
    taken, failures = _steps.measure(build, sorted({1, *wish.workers}))
    return {"cpus": allowed, "notes": notes, "steps": taken, "failures": failures}


def cpus(count):
    return f"{count} CPU{'s' if count > 1 else ''}"


def listed(counts):
    words = [str(count) for count in counts]
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def checks(_):
    return []


def counts_of(result):
    return sorted({1, *result.wish.workers})


def head_of(result, count):
    """Marks the workers that had to share CPUs."""
    return f"{count}*" if count > result.extra["cpus"] else str(count)


def over_one(rounds, problem, runtime, count):
    """T1 / TP, round by round."""
    return ratios(rounds.column(problem, runtime, 1), rounds.column(problem, runtime, count))


def over_serial(rounds, problem, runtime, count):
    """Of some problems the serial program is that whose forks stay calls."""
    if not is_called(problem):
        return speed_up(rounds, problem, runtime, count)
    return ratios(rounds.column(problem, "serial_call", 1), rounds.column(problem, runtime, count))


def part_over_serial(rounds, part, runtime, count):
    """Of barnes_hut, which tells the seconds of its parts."""
    return ratios(metric(rounds, "barnes_hut", "serial", 1, part),
                  metric(rounds, "barnes_hut", runtime, count, part))


def over_one_thread(rounds, count):
    """How many times as fast as one plain thread so many of them are."""
    rows = paired(rounds.column(side_by_side(1), "serial", 1),
                  rounds.column(side_by_side(count), "serial", 1))
    return [count * alone / together for alone, together in rows.values()]


def ns_per_fork(rounds, problem, count):
    """The processors' time that is not the program's own, for each fork."""
    forks = rounds.forks(problem, OURS)
    rows = paired(rounds.column(problem, OURS, count), rounds.column(problem, "serial_call", 1))
    return [(count * more - base) * 1e9 / forks for more, base in rows.values()]


def by_count(result, compute, *arguments):
    """Workers -> Value, of those that were measured."""
    known = {count: value(compute, result.rounds, *arguments, count)
             for count in counts_of(result)}
    return {count: entry for count, entry in known.items() if entry}


def step_values(result, step):
    known = {count: _steps.value(result.extra["steps"], count, step,
                                 STEP_UNITS_NS.get(step, MICROSECOND))
             for count in counts_of(result)}
    return {count: entry for count, entry in known.items() if entry}


def cells(result, values, form="{:.2f}"):
    return [form.format(values[count].median) if count in values else None
            for count in counts_of(result)]


def head(result, first):
    return [first, *(head_of(result, count) for count in counts_of(result))]


def speed_table(result, title, compute, note):
    rows = [[problem if runtime == OURS else f"{problem} by {runtime}",
             *cells(result, by_count(result, compute, problem, runtime))]
            for problem in shown(result.wish.problems) for runtime in by(problem)]
    rows.append([MACHINE, *cells(result, by_count(result, over_one_thread))])
    return Table(title, head(result, "workers"), rows, note)


def parts_table(result):
    """Tree and forces of barnes_hut."""
    rows = [[f"{name} by {runtime}",
             *cells(result, by_count(result, part_over_serial, part, runtime))]
            for part, name in (("build_s", "tree"), ("forces_s", "forces"))
            for runtime in by("barnes_hut")]
    return Table("barnes_hut: speed-up of its parts over the serial program",
                 head(result, "workers"), rows)


def step_table(result):
    rows = [[f"{problem}: cost of a fork, ns",
             *cells(result, by_count(result, ns_per_fork, problem), "{:.3g}")]
            for problem in result.wish.problems if problem in FORKING]
    for step in _steps.STEPS:
        values = step_values(result, step)
        rows.append([STEP_TITLES[step],
                     *(number(values[count].median) if count in values else None
                       for count in counts_of(result))])
    return Table("Steps of the scheduler", head(result, "workers"), rows,
                 "The cost of a fork is P TP less the time of the same program with calls in place "
                 "of forks, over the number of forks, with P workers. The others are medians, each "
                 "with a reading of the clock.")


def seconds_table(result):
    def seconds(problem, runtime):
        return value(lambda rounds: list(rounds.column(problem, runtime, 1).values()),
                     result.rounds)
    rows = [[problem, *map(decimals, (seconds(problem, name)
                                      for name in ("serial", "serial_call", OURS)))]
            for problem in result.wish.problems]
    return Table("Seconds with one worker", ["", "serial", "serial_call", OURS], rows,
                 "serial_call: forks stay calls, which the compiler may not inline.")


def decimals(known):
    return f"{known.median:.3f}" if known else None


def tables(result):
    about = " ".join(result.extra["notes"])
    return [speed_table(result, "Speed-up over one worker, T1 / TP", over_one,
                        f"The last row is what the machine gives: so many threads that do the same "
                        f"work side by side, without any runtime. {about}".strip()),
            speed_table(result, "Speed-up over the serial program", over_serial,
                        f"Of {', '.join(CALLED)} the serial program is serial_call, whose forks "
                        "are calls: a compiler that inlines them unrolls the recursion."),
            *([parts_table(result)] if "barnes_hut" in result.wish.problems else []),
            step_table(result), seconds_table(result)]


def lines(result):
    return study_text.blocks(tables(result))


def curves(result, compute):
    machine = by_count(result, over_one_thread)
    found = {}
    for problem in shown(result.wish.problems):
        points = {runtime: by_count(result, compute, problem, runtime) for runtime in by(problem)}
        if any(points.values()):
            found[problem] = {**points, **({MACHINE: machine} if machine else {})}
    return found


def with_paper(found):
    """The first and the last points of the paper's Figure 9."""
    for problem in filter(found.get, [*programs.MANTICORE, PAPERS_FIB]):
        sequential, one, eight = scheduling.PAPER[problem.partition("@")[0]]
        found[problem][PAPER] = {1: Value(sequential / one, None, None),
                                 8: Value(sequential / eight, None, None)}
    return found


def step_figure(result):
    found = {step: {OURS: step_values(result, step)} for step in _steps.WITH_MORE}
    return panels.curves({name.replace("_", " "): panel for name, panel in found.items()},
                         "us, logarithmic", log=True)


def fork_figure(result):
    found = {problem: {OURS: by_count(result, ns_per_fork, problem)}
             for problem in result.wish.problems if problem in FORKING}
    return panels.curves(found, "ns per fork")


def picture(result):
    """One bar for each problem, with the most workers; the line is what plain threads reach."""
    count = max(counts_of(result))
    bars = {problem: {OURS: known} for problem in result.wish.problems
            if (known := value(over_one, result.rounds, problem, OURS, count))}
    threads = value(over_one_thread, result.rounds, count)
    return Figure(f"Speed-up of {count} workers over one; the line: {MACHINE}, without a runtime",
                  panels.bars(bars, "T1 / TP", line_at=threads and threads.median))


def figures(result):
    machine = f"Grey: {MACHINE} that do the same work side by side, without any runtime."
    return [Figure("Speed-up over one worker", panels.curves(curves(result, over_one),
                                                             "T1 / TP", line_at=1), machine),
            Figure("Speed-up over the serial program",
                   panels.curves(with_paper(curves(result, over_serial)), "T serial / TP",
                                 line_at=1), f"{machine} Black: the paper's."),
            Figure("Cost of a fork", fork_figure(result)),
            Figure("Stealing, waking, sleeping", step_figure(result),
                   "Medians; lines from the 10th to the 90th percentile.")]
