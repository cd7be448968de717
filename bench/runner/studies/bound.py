# SPDX-License-Identifier: MIT
"""The time bound T_P <= T1/P + c * Tinf (fibril-spaa16, Theorem 4.3; cilk-m-pact10, section 6),
held against computations whose work and span are known in closed form."""

import json
import statistics
import subprocess

from runner import checks as checking
from runner import draw
from runner.programs import MAPPED, UsageError
from runner.rounds import NotMeasured
from runner.studies import Figure, Table
from runner.studies._bound_fit import (Point, by_elements, by_seconds, fitted, smallest,
                                       two_terms)
from runner.studies._common import typical, up_to

ABOUT = "the time bound: T_P against T1/P + c * Tinf, parallelism from 2 to a million"
PROGRAMS = ["known_span_cases"]
PROBLEMS = ["known_span"]
ROUNDS = 15
SIZE = "quick"
OURS = "nopal"
RUNTIMES = [OURS, "nopal-nowa", "nopal-fibril", MAPPED]
# The first executes forks alone and tells what one costs; the next are the programs. Those behind
# them are one program below ever more ancestors, for c against S1 and D.
CASES = 16
CASES_BELOW = 8
FORKS_ALONE = 1
BELOW = [OURS, MAPPED]
# What a program may exceed the bound by, for the noise of the machine.
TOLERANCE = 0.10


def workers(cores):
    """More workers than cores say nothing of the bound, so they must be asked for."""
    return up_to(cores)


def case(number):
    return f"known_span@{number}"


def side_by_side(count):
    return f"side_by_side@{count}"


def parallel(wish):
    return [count for count in wish.workers if count > 1]


def configurations(wish):
    wanted = [(side_by_side(count), "serial", 1) for count in [1, *parallel(wish)]]
    for number in range(1, CASES + 1):
        counts = [1] if number == FORKS_ALONE else [1, *parallel(wish)]
        wanted += [(case(number), runtime, count) for runtime in RUNTIMES for count in counts]
        wanted.append((case(number), "profile", 1))
    for number in range(CASES + 1, CASES + CASES_BELOW + 1):
        wanted += [(case(number), runtime, count) for runtime in BELOW
                   for count in [1, *parallel(wish)]]
        wanted.append((case(number), "profile", 1))
    return wanted


def extra(build, wish):
    """The closed forms, from the program that has them."""
    program = build.bench / "known_span_cases"
    try:
        done = subprocess.run([str(program), "--size", wish.size], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, check=True)
        known = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        raise UsageError(f"{program} does not tell the cases ({error}); build it first.") from error
    expected = CASES + CASES_BELOW
    if len(known["cases"]) != expected:
        raise UsageError(f"{program} tells {len(known['cases'])} cases where {expected} are "
                         "expected; build it again.")
    return known


def programs(result):
    return [c for c in result.extra.get("cases", []) if FORKS_ALONE < c["n"] <= CASES]


def programs_below(result):
    return [c for c in result.extra.get("cases", []) if c["n"] > CASES]


def label(known):
    """The family with its sizes."""
    words = f"{known['family']} {known['levels']}"
    words += f", {known['grain']} units"
    if known["spine"]:
        words += f" by {known['spine']}"
    return words + (f", x {known['repeat']}" if known["repeat"] > 1 else "")


def many(result, count):
    """Says so where the workers have to share the cores."""
    words = f"{count} workers"
    if count > result.wish.cores:
        words += f" (oversubscribed: {result.wish.cores} cores)"
    return words


class Measured:
    """The points of one runtime and number of workers, round by round."""

    def __init__(self, result, runtime, count):
        self.result = result
        self.runtime = runtime
        self.count = count
        self.rounds = result.rounds

    def effective_workers(self):
        """Round -> how many times as fast as one plain thread so many of them are."""
        alone = self.rounds.column(side_by_side(1), "serial", 1)
        together = self.rounds.column(side_by_side(self.count), "serial", 1)
        return {r: self.count * alone[r] / together[r] for r in alone.keys() & together.keys()}

    def costs(self):
        """Round -> (seconds a unit, seconds a fork)."""
        units = self.result.extra["side_by_side_units"]
        unit = self.rounds.column(side_by_side(1), "serial", 1)
        bare = self.rounds.column(case(FORKS_ALONE), self.runtime, 1)
        forks = self.rounds.column(case(FORKS_ALONE), self.runtime, 1, "forks")
        return {r: (unit[r] / units, bare[r] / forks[r]) for r in unit.keys() & bare.keys()}

    def points(self, effective=False, cases=None):
        """Round -> its points; a round without its costs has none."""
        costs = self.costs()
        machine = self.effective_workers() if effective else {r: self.count for r in costs}
        found = {}
        for known in programs(self.result) if cases is None else cases:
            try:
                alone = self.rounds.column(case(known["n"]), self.runtime, 1)
                together = self.rounds.column(case(known["n"]), self.runtime, self.count)
            except NotMeasured:
                continue
            for r in sorted(alone.keys() & together.keys() & costs.keys() & machine.keys()):
                unit, fork = costs[r]
                found.setdefault(r, []).append(Point(
                    known["n"], alone[r], together[r], alone[r] / machine[r],
                    known["span"] * unit + known["path_forks"] * fork, known["path_forks"]))
        if not found:
            raise NotMeasured(f"needs known_span on {self.runtime}, -t 1,{self.count}")
        return found

    def typical_points(self, effective=False):
        """One point a program: the medians over its rounds. The excess is paired: that of each
        round is the difference of its own runs."""
        by_number = {}
        for points in self.points(effective).values():
            for p in points:
                by_number.setdefault(p.number, []).append(p)
        chosen = []
        for number, points in by_number.items():
            ideal = statistics.median(p.ideal for p in points)
            chosen.append(Point(
                number, statistics.median(p.t1 for p in points),
                ideal + statistics.median(p.excess for p in points), ideal,
                statistics.median(p.span for p in points), points[0].elements))
        return chosen

    def constants(self, measure=by_seconds, effective=False):
        """The fitted c of each round."""
        return [fitted(points, measure) for points in self.points(effective).values()]

    def constant(self, measure=by_seconds, effective=False):
        return statistics.median(self.constants(measure, effective))


def constant_of(measured, known):
    """The c of this program alone in each round, against what the machine lets T1/P be."""
    points = measured.points(effective=True, cases=[known])
    return [max(0.0, p.excess) / p.span for all_of in points.values() for p in all_of]


def ancestors(known):
    return f"{known['pages']} pages" if known["pages"] else f"{known['above']} open frames"


def space(result, known):
    """S1 + D in pages, or None."""
    parts = [typical(result, case(known["n"]), "profile", 1, field)
             for field in ("serial_pages", "depth")]
    return None if None in parts else sum(parts)


def over_bound(measured, number, c):
    values = [p.over_bound(c) for points in measured.points().values() for p in points
              if p.number == number]
    if not values:
        raise NotMeasured(f"needs {case(number)} on {measured.runtime}, -t 1,{measured.count}")
    return values


def most_over_machine(measured):
    """The program that exceeds most what the machine's own limit lets the bound be, by how much."""
    c = measured.constant(effective=True)
    by_number = {}
    for points in measured.points(effective=True).values():
        for p in points:
            by_number.setdefault(p.number, []).append(p.over_bound(c))
    return [max(statistics.median(values) for values in by_number.values())]


def least_space(result):
    """The smallest S1 + D of the programs, in pages: what the theorem lets c be."""
    found = [space(result, known) for known in programs(result)]
    return min((pages for pages in found if pages is not None), default=2)


def checks(result):
    listed = []
    for count in parallel(result.wish):
        measured = Measured(result, OURS, count)
        said = many(result, count)
        try:
            c = measured.constant()
            stated = f"c = {c:.3g}"
            most = max(p.t1 / p.span for p in measured.typical_points())
        except NotMeasured:
            c, stated, most = 0.0, "c not known", 1e6
        listed.append((f"c fitted, s per s of span, {said}; at most the least S1 + D", "<=",
                       least_space(result), lambda _, m=measured: m.constants()))
        listed.append((f"c that every program obeys, {said}; finite: below the parallelism", "<=",
                       most, lambda _, m=measured: [smallest(m.typical_points(), by_seconds)[0]]))
        listed.append((f"the worst program: T_P over T1/(P effective) + c Tinf, {said}", "<=",
                       1 + TOLERANCE, lambda _, m=measured: most_over_machine(m)))
        for known in programs(result):
            listed.append((f"{label(known)}: T_P over T1/P + c Tinf, {stated}, {said}", "<=",
                           1 + TOLERANCE, lambda _, m=measured, k=known, c=c:
                           over_bound(m, k["n"], c)))
        listed += [(f"{MAPPED} below {ancestors(known)}: c, at most S1 + D, {said}", "<=",
                    space(result, known) or 2, lambda _, k=known, n=count:
                    constant_of(Measured(result, MAPPED, n), k))
                   for known in programs_below(result)]
    return checking.evaluate(result.measurement, listed)


def fit_row(result, runtime, count):
    measured = Measured(result, runtime, count)
    by_number = {known["n"]: known for known in programs(result)}
    row = [runtime, many(result, count)]
    try:
        points = measured.typical_points()
        c_max, worst = smallest(points, by_seconds)
        c1, c = two_terms(points)
        row += [measured.constant(), smallest(points, by_seconds, TOLERANCE)[0], c_max,
                label(by_number[worst.number]) if worst else None,
                measured.constant(by_elements) * 1e6,
                smallest(points, by_elements, TOLERANCE)[0] * 1e6,
                smallest(points, by_elements)[0] * 1e6, c1, c]
    except NotMeasured:
        return row + [None] * 12
    try:
        points = measured.typical_points(effective=True)
        row += [statistics.median(measured.effective_workers().values()),
                measured.constant(effective=True), smallest(points, by_seconds)[0]]
    except NotMeasured:
        row += [None] * 3
    return row


def fit_table(result):
    allowed = f"{TOLERANCE:.0%} allowed"
    return Table(
        "The constant", ["runtime", "workers", "c fitted", f"c_max, {allowed}", "c_max",
                         "needed by", "fitted, us per fork of the path", allowed, "max",
                         "two terms: c1", "c", "P effective", "c fitted to it", "c_max"],
        [fit_row(result, runtime, count) for count in parallel(result.wish)
         for runtime in RUNTIMES],
        "c: seconds per second of span, fitted in each round by least squares, not negative; the "
        "median. c_max: the smallest c with which the median of every program obeys. Where the "
        "parallelism is large, the span is so short that a little noise in T_P asks for a large "
        f"c: with {allowed} on T1/P, that is gone. Two terms: T_P = c1 * T1/P + c * Tinf, fitted "
        "to the relative errors. P effective: how many times as fast as one thread so many plain "
        "threads are, that run the same units side by side without any runtime; where processors "
        "share a core it is less than P, and T1/P is a time that no scheduler could reach. The "
        "last two columns hold T_P against T1 over P effective.")


def case_table(result):
    rows = []
    for known in programs(result):
        row = [label(known), known["work"], known["span"], known["forks"], known["path_forks"]]
        row += [typical(result, case(known["n"]), "profile", 1, field)
                for field in ("depth", "serial_pages")]
        for count in parallel(result.wish):
            measured = Measured(result, OURS, count)
            try:
                p = next(p for p in measured.typical_points() if p.number == known["n"])
                row += [p.t1 / p.span, p.t1, p.tp, p.slow_down(count),
                        p.over_bound(measured.constant())]
            except (NotMeasured, StopIteration):
                row += [None] * 5
            row.append(typical(result, case(known["n"]), OURS, count, "steals"))
        rows.append(row)
    head = ["program", "work, units", "span, units", "forks", "on the path", "D", "S1, pages"]
    for count in parallel(result.wish):
        head += [f"T1/Tinf, {OURS}", "T1, s", f"T{count}, s", f"T{count} x {count} / T1",
                 f"T{count} over the bound", "steals"]
    return Table("The programs", head, rows,
                 "A unit is the same 64 dependent multiplications everywhere. Tinf is the units of "
                 "the longest path, as long as they take in a plain loop, and its forks, as long "
                 "as one takes in a tree of nothing but forks. D and S1 are measured: Theorem 4.3 "
                 "says c = O(S1 + D).")


def below_table(result):
    rows = []
    for known in programs_below(result):
        row = [ancestors(known), *(typical(result, case(known["n"]), "profile", 1, field)
                                   for field in ("depth", "serial_pages"))]
        for count in parallel(result.wish):
            for runtime in BELOW:
                try:
                    c = statistics.median(constant_of(Measured(result, runtime, count), known))
                except NotMeasured:
                    c = None
                row += [c, typical(result, case(known["n"]), runtime, count, "steals")]
        rows.append(row)
    head = ["below", "D", "S1, pages"]
    for count in parallel(result.wish):
        head += [word for runtime in BELOW
                 for word in (f"c, {runtime}, {many(result, count)}", "steals")]
    return Table("One program below ancestors", head, rows,
                 "c: (T_P - T1/(P effective)) over Tinf, the median. Pages are frames of plain "
                 "calls; open frames wait for a child, so that a thief may have taken each. A "
                 "thief of cilk-m-pact10 maps all pages of its ancestors, so c = O(S1 + D). Here "
                 "it maps one range for each stack that its process does not show yet.")


def tables(result):
    return [fit_table(result), case_table(result), below_table(result)]


def draw_panel(ax, result, count):
    """T_P * P / T1 against the parallelism; False if nothing was measured."""
    drawn = False
    for runtime in RUNTIMES:
        try:
            points = Measured(result, runtime, count).typical_points()
        except NotMeasured:
            continue
        ax.plot([p.t1 / p.span for p in points], [p.slow_down(count) for p in points], "o", ms=4,
                label=runtime, color=draw.colour(runtime), zorder=3 if runtime == OURS else 2)
        if runtime == OURS:
            draw_bounds(ax, Measured(result, runtime, count), points)
        drawn = True
    return drawn


def draw_bounds(ax, measured, points):
    count = measured.count
    ends = [p.t1 / p.span for p in points]
    low, high = min(ends) / 1.5, max(ends) * 1.5
    xs = [low * (high / low) ** (i / 100) for i in range(101)]
    c = measured.constant()
    ax.plot(xs, [1 + c * count / x for x in xs], "-", lw=1.2, color=draw.colour(OURS),
            label="T1/P + c Tinf, c fitted")
    ax.plot(xs, [max(1, count / x) for x in xs], ":", lw=1.0, color="#444444",
            label="no schedule is faster: T1/P, Tinf")
    try:
        machine = count / statistics.median(measured.effective_workers().values())
        theirs = measured.constant(effective=True)
        ax.plot(xs, [machine + theirs * count / x for x in xs], "--", lw=1.0, color="#c23b22",
                label="the same with P effective")
    except NotMeasured:
        pass
    ax.set_xscale("log")
    ax.set_xlim(low, high)
    heights = [p.slow_down(count) for p in points] + [1, 1 + c * count / min(ends)]
    ax.set_ylim(min(heights) * 0.85, max(heights) * 1.1)
    ax.annotate(f"c = {c:.2g}", (0.97, 0.05), xycoords="axes fraction", ha="right")


def figures(result):
    plots = draw.pyplot()
    counts = parallel(result.wish)
    title = "T_P x P / T1 against the parallelism T1 / Tinf"
    if not counts:
        return [Figure(title, None)]
    figure, grid = plots.subplots(1, len(counts), squeeze=False, layout="constrained",
                                  figsize=(max(8.5, 4.2 * len(counts)), 3.8))
    drawn = [draw_panel(ax, result, count) for ax, count in zip(grid[0], counts)]
    for ax, count in zip(grid[0], counts):
        ax.set_title(many(result, count))
        ax.set_xlabel("parallelism T1 / Tinf")
    grid[0][0].set_ylabel("T_P x P / T1")
    if not any(drawn):
        plots.close(figure)
        return [Figure(title, None)]
    draw.legend(figure, list(grid[0]))
    return [Figure(title, draw.svg(figure),
                   f"One mark a program, medians. The line is the bound with the c fitted to "
                   f"{OURS}; a mark above it by less than {TOLERANCE:.0%} counts as noise.",
                   spreads=False)]
