# SPDX-License-Identifier: MIT
"""What workers without work cost, counted, from 2 to 256 workers.

A machine with two cores cannot show what many workers do to one another's caches and interrupts; it
can count it. The library nopal-counted gives each thread a cache of its own and counts what moves
(counted/directory.h); the ordinary one, beside it, tells processor time and rates. Where a count
per steal grows with the number of workers, it limits how many workers a program can have.
"""

from runner import checks as checking
from runner import draw, study_text
from runner.rounds import NotMeasured, value
from runner.studies import Figure, Table
from runner.studies._common import every
from runner.studies._series import GROWS, Series, over

ABOUT = "what idle workers cost: barriers, lines and locks per steal and per second, 2 to 256"
PROBLEMS = ["idle"]
ROUNDS = 5
SIZE = "quick"
OURS, COUNTED = "nopal", "nopal-counted"
SERIAL, FORKS, BURSTS = "idle@1", "idle@2", "idle@3"
COUNTS = {"remote_writes": "remote lines written", "copies_lost": "copies lost by that",
          "remote_reads": "remote lines read", "rmws": "read-modify-writes",
          "fences": "full fences", "spin_locks": "spin locks taken", "mutexes": "mutexes locked",
          "barriers": "barriers", "interruptions": "threads interrupted by them",
          "futex_waits": "falls asleep", "futex_wakes": "wakes"}
# Those of the calls need no counting atomics.
OF_CALLS = ["mutexes", "barriers", "interruptions", "futex_waits", "futex_wakes"]
# The counts whose growth is judged: a thread's own fences and calls disturb no other.
JUDGED = ["remote_writes", "copies_lost", "remote_reads", "spin_locks", "mutexes", "barriers",
          "interruptions"]
# A colour for each of these.
LINES = ["#1b7f3b", "#1f5fa8", "#17a2a2", "#5e3008", "#d4a017", "#d65fb4", "#c23b22"]


def workers(_cores):
    return [2, 4, 8, 16, 32, 64, 128, 256]


def configurations(wish):
    counts = [count for count in wish.workers if count > 1]
    return every([SERIAL, FORKS, BURSTS], [OURS, COUNTED], counts)


PER_STEAL = Series("one strand that forks, per steal", FORKS, lambda what: what, "steals")
PER_SECOND = Series("one strand that forks, per second", FORKS, lambda what: what, "seconds")
START = Series("start of a burst, per steal", BURSTS, lambda what: f"start.{what}", "start.steals")
END = Series("end of a burst, per steal of the burst", BURSTS, lambda what: f"end.{what}",
             "start.steals")
ASLEEP = Series("beside a serial thread, per second", SERIAL, lambda what: what, "seconds")
JUDGED_SERIES = [PER_STEAL, START, END]


def asleep_counts(rounds, counts):
    """All that sleepers did together, in the rounds of any number of workers."""
    found = [sum(ASLEEP.column(rounds, COUNTED, count, what)[number] for what in COUNTS)
             for count in counts for number in ASLEEP.column(rounds, COUNTED, count, "rmws")]
    if not found:
        raise NotMeasured(f"needs {SERIAL} on {COUNTED}")
    return found


def counts_of(result):
    return [count for count in result.wish.workers if count > 1]


def checks(result):
    counts = counts_of(result)
    listed = [("beside a serial thread: all counts of sleeping workers, per second", "<=", 0.0,
               lambda rounds: asleep_counts(rounds, counts))]
    for series in JUDGED_SERIES:
        for what in JUDGED:
            listed.append((f"{series.title}: {COUNTS[what]}, exponent of the number of workers",
                           "<=", GROWS, lambda rounds, s=series, w=what:
                           s.exponents(rounds, COUNTED, counts, w)))
    return checking.evaluate(result.measurement, listed)


def sentences(result):
    """Which of the judged counts grow, for each series."""
    said = []
    for series in JUDGED_SERIES:
        known = {what: value(series.exponents, result.rounds, COUNTED, counts_of(result), what)
                 for what in JUDGED}
        growing = [f"{COUNTS[what]} (exponent {exponent.median:.2f})"
                   for what, exponent in known.items() if exponent and exponent.median > GROWS]
        level = [COUNTS[what] for what, exponent in known.items()
                 if exponent and exponent.median <= GROWS]
        title = series.title[:1].upper() + series.title[1:]
        if growing or level:
            said.append(f"{title}: with the number of workers grow "
                        f"{', '.join(growing) or 'none of the counts'}. These do not: "
                        f"{', '.join(level) or 'none'}.")
    return said


def of_rounds(result, series, count, what):
    return value(lambda r: list(series.column(r, COUNTED, count, what).values()), result.rounds)


def series_table(result, series, note=""):
    rows = [[count, *(of_rounds(result, series, count, what) for what in COUNTS)]
            for count in counts_of(result)]
    exponents = [value(series.exponents, result.rounds, COUNTED, counts_of(result), what)
                 for what in COUNTS]
    return Table(series.title[:1].upper() + series.title[1:], ["workers", *COUNTS.values()],
                 [*rows, ["exponent", *exponents]], note)


def others_cpu(rounds, count):
    """Processors that all threads but the strand's own took."""
    whole = over(rounds, FORKS, OURS, count, ("cpu_s", "seconds"))
    own = over(rounds, FORKS, OURS, count, ("own_cpu_s", "seconds"))
    return [whole[r] - own[r] for r in whole]


def other_programs(rounds, count):
    """Processors that other programs took meanwhile; the kernel's count is one of ticks."""
    whole = over(rounds, FORKS, OURS, count, ("machine_busy_s", "seconds"))
    own = over(rounds, FORKS, OURS, count, ("cpu_s", "seconds"))
    return [max(0.0, whole[r] - own[r]) for r in whole]


def ordinary_table(result):
    """The same strand with the library as it is used."""
    def rate(count, name, runtime=OURS):
        return value(lambda r: list(over(r, FORKS, runtime, count, (name, "seconds")).values()),
                     result.rounds)
    rows = [[count, rate(count, "forks"), rate(count, "steals"),
             value(others_cpu, result.rounds, count), rate(count, "own_cpu_s"),
             value(other_programs, result.rounds, count),
             *(rate(count, what) for what in OF_CALLS), rate(count, "steals", COUNTED)]
            for count in counts_of(result)]
    return Table("One strand that forks, per second, with the ordinary library",
                 ["workers", "forks", "steals", "processors of the others", "of the strand",
                  "of other programs",
                  *(COUNTS[what] for what in OF_CALLS), "steals, counted"], rows,
                 "A child of 30 us is forked and joined again and again: its continuation is "
                 "nothing but the join. Whatever thieves do is in vain. The strand's own "
                 "processor time is that of the children. Where other programs take processors, "
                 "thieves have less time, and so fewer steals.")


def tables(result):
    return [series_table(result, ASLEEP, "The main thread computes, all workers sleep."),
            ordinary_table(result),
            series_table(result, PER_STEAL,
                         "Counted as if each thread had a processor and a cache of its own. A "
                         "line is remote if another thread has it; copies lost: the threads that "
                         "had it, summed. Threads interrupted: awake at each barrier, the caller "
                         "left out. The last row is the slope of the logarithms against the "
                         "number of workers, over the larger half of these. "
                         + " ".join(sentences(result)[:1])),
            series_table(result, PER_SECOND, "The counting library is slower than the ordinary "
                         "one, so its rates are lower bounds."),
            series_table(result, START,
                         "From one worker awake until each has a leaf. "
                         + " ".join(sentences(result)[1:2])),
            series_table(result, END,
                         "From the moment when all have a leaf until all but one sleep again. "
                         + " ".join(sentences(result)[2:]))]


def lines(result):
    return study_text.blocks(tables(result))


def draw_series(ax, result, series):
    """False if nothing was measured."""
    drawn = False
    for what, colour in zip(JUDGED, LINES):
        points = {}
        for count in counts_of(result):
            known = of_rounds(result, series, count, what)
            if known and known.median > 0:
                points[count] = known.median
        if points:
            ax.plot(list(points), list(points.values()), "o-", ms=3, lw=1.2,
                    color=colour, label=COUNTS[what])
            drawn = True
    if drawn:
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_xticks(counts_of(result), [str(count) for count in counts_of(result)])
        ax.minorticks_off()
    ax.set_title(series.title)
    ax.set_xlabel("workers")
    return drawn


def series_figure(result, lines, shown):
    """A panel for each series, so many lines of them."""
    plots = draw.pyplot()
    title = "Counts against the number of workers"
    columns = len(shown) // lines
    figure, grid = plots.subplots(lines, columns, squeeze=False, layout="constrained",
                                  figsize=(10, 3.75 * lines))
    axes = [ax for row in grid for ax in row]
    drawn = [draw_series(ax, result, series) for ax, series in zip(axes, shown)]
    if not any(drawn):
        plots.close(figure)
        return Figure(title, None)
    draw.legend(figure, axes)
    return Figure(title, draw.svg(figure), "Both axes are logarithmic: a line that rises as the "
                   "diagonal of a square of two by two is proportional to the number of workers.",
                  spreads=False)


def picture(result):
    return series_figure(result, 1, [PER_STEAL, START, END])


def figures(result):
    return [series_figure(result, 2, [PER_STEAL, PER_SECOND, START, END])]
