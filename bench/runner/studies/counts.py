# SPDX-License-Identifier: MIT
"""Tables 2 to 4 of fibril-spaa16 (section 5.2 to 5.4) at the paper's number of workers.

They are counts, which need no 72 processors: where workers share few, thieves come more seldom.
So a second series forces steals: most forks wait until a thief has come.
"""

import statistics

from runner import checks as checking
from runner import panels
from runner.rounds import NotMeasured, Value, paired, value
from runner.studies import Figure, Table
from runner.studies import _fibril_paper as paper
from runner.studies._common import every, of_serial, typical

ABOUT = "Fibril's counts with 16 and 72 workers: steals, unmaps, page faults, stack space"
PROBLEMS = paper.TWELVE
ROUNDS = 3
SIZE = "quick"
OURS, BOUNDED, PLAIN = "nopal-fibril", "nopal-cilkplus", "nopal"
# Its default is to keep no dead pages; a policy must be named, so that marks can follow it.
CENSUS, FORCED, FORCED_CENSUS = (f"{OURS}:budget:0+{marks}"
                                 for marks in ("census", "forced", "census+forced"))
# Where each fork waits for a thief, a problem of many forks would take hours.
FORCED_SIZES = {"fft": "quick", "heat": "2048", "lu": "quick", "rectmul": "quick",
                "strassen": "quick"}
# A stack is 1 MiB unless asked otherwise, as in the paper.
PAGES_RESERVED = 256
# The paper's: stack pages over S1 + D of a worker, and unmaps over steals.
PAGES_MOST, UNMAPS_LEAST, UNMAPS_MOST = 0.6, 0.33, 0.92


def workers(_cores):
    return [16, paper.THREADS]


def most(wish):
    return max(wish.workers)


def forced(problem):
    """The problem, with the size at which its steals are forced."""
    name = problem.partition("@")[0]
    return f"{name}@{FORCED_SIZES.get(name, 'test')}"


def series(wish, problem):
    """(what it is called, problem, runtime, runtime with a census, workers) of each."""
    return ([(str(count), problem, OURS, CENSUS, count) for count in wish.workers] +
            [(f"{count}, forced", forced(problem), FORCED, FORCED_CENSUS, count)
             for count in wish.workers])


def of_others(wish):
    return every(wish.problems, [PLAIN, BOUNDED, "tbb"], [most(wish)])


def configurations(wish):
    wanted = every([*wish.problems, *map(forced, wish.problems)], ["profile"], [1])
    for problem in wish.problems:
        for _, name, runtime, census, count in series(wish, problem):
            wanted += [(name, runtime, count), (name, census, count)]
    return wanted + of_others(wish)


def once(wish):
    return of_others(wish)


def at_the_end(rounds, problem, runtime, count):
    """Stack pages that have memory when the computation ends, for each worker. One worker is the
    main thread, whose own stack is not counted: it is taken for as large as that of the serial
    run."""
    s1, _ = of_serial(rounds, problem)
    return [(pages + s1) / count
            for pages in rounds.column(problem, runtime, count, "stack_pages").values()]


def at_most(rounds, problem, census, count):
    """Stack pages for each worker at any time: the most of the stacks on which no strand runs, and
    S1 for each that runs."""
    s1, _ = of_serial(rounds, problem)
    rows = paired(*(rounds.column(problem, census, count, field)
                    for field in ("live_pages", "dead_pages")))
    return [sum(pages) / count + s1 for pages in rows.values()]


def over_bound(rounds, series_of):
    """The larger of both, over S1 + D; the most of all series, and of their medians."""
    found = []
    for _, problem, runtime, census, count in series_of:
        for pages in (at_the_end(rounds, problem, runtime, count),
                      at_most(rounds, problem, census, count)):
            found.append(statistics.median(pages) / sum(of_serial(rounds, problem)))
    return [max(found)]


def quotient(rounds, problem, runtime, count, above, below="steals"):
    rows = paired(*(rounds.column(problem, runtime, count, field) for field in (above, below)))
    known = [a / b for a, b in rows.values() if b]
    if not known:
        raise NotMeasured(f"nothing was stolen in {problem}")
    return known


def stacks_over_bound(rounds, series_of):
    """Over D P, the number of Theorem 4.1."""
    found = []
    for _, problem, runtime, _, count in series_of:
        stacks = statistics.median(rounds.column(problem, runtime, count, "stacks").values())
        found.append(stacks / (of_serial(rounds, problem)[1] * count))
    return [max(found)]


def checks(result):
    wish = result.wish
    counts = " and ".join(map(str, wish.workers))
    listed = []
    for chosen, how in ((OURS, ""), (FORCED, ", forced steals")):
        for problem in wish.problems:
            asked = [row for row in series(wish, problem) if row[2] == chosen]
            listed.append((f"{problem}: stack pages over P (S1 + D), {counts} workers{how}", "<=",
                           PAGES_MOST, lambda r, s=asked: over_bound(r, s)))
        for problem in wish.problems:
            _, name, runtime, _, count = [row for row in series(wish, problem)
                                          if row[2] == chosen][-1]
            for relation, bound in ((">=", UNMAPS_LEAST), ("<=", UNMAPS_MOST)):
                listed.append((f"{problem}: unmaps over steals, {count} workers{how}", relation,
                               bound, lambda r, p=name, w=runtime, n=count:
                               quotient(r, p, w, n, "unmaps")))
    for problem in wish.problems:
        listed.append((f"{problem}: stacks over D P, {counts} workers, forced or not", "<=", 1.0,
                       lambda r, s=series(wish, problem): stacks_over_bound(r, s)))
    return checking.evaluate(result.measurement, listed)


def thousands(text):
    """20K as a number."""
    return int(text[:-1]) * 1000


def papers_unmaps():
    """Problem -> unmaps over steals."""
    return {problem: thousands(unmaps) / thousands(steals)
            for problem, (steals, unmaps, *_) in paper.OPERATIONS.items()}


def bound_of(result, problem):
    """D, S1 and their sum, as far as they are known."""
    d = typical(result, problem, "profile", 1, "depth")
    s1 = typical(result, problem, "profile", 1, "serial_pages")
    return d, s1, None if None in (d, s1) else d + s1


def of_each(result, theirs, ours):
    """A row of the paper's and of each series for every problem."""
    rows = []
    for problem in result.wish.problems:
        rows.append([problem, f"{paper.THREADS}, the paper", *theirs(problem)])
        rows += [[name, called, *ours(name, runtime, census, count)]
                 for called, name, runtime, census, count in series(result.wish, problem)]
    return rows


def table_2(result):
    def theirs(problem):
        steals, unmaps, *faults = paper.row(paper.OPERATIONS, problem) or [None] * 5
        ratio = papers_unmaps().get(problem.partition("@")[0])
        return [steals, None, unmaps, ratio, None, *faults]

    def ours(problem, runtime, _census, count):
        counted = [typical(result, problem, runtime, count, field)
                   for field in ("steals", "suspensions", "unmaps")]
        ratios = [value(quotient, result.rounds, problem, runtime, count, field)
                  for field in ("unmaps", "suspensions")]
        faults = [typical(result, problem, other, count, "minor_faults")
                  for other in (runtime, BOUNDED, "tbb")]
        return [*counted, *ratios, *faults]
    return Table("Table 2: steals, unmaps, page faults",
                 ["problem", "workers", "steals", "suspensions", "unmaps", "unmaps over steals",
                  "suspensions over steals", "faults", "faults, Cilk Plus", "faults, TBB"],
                 of_each(result, theirs, ours),
                 "A stack is unmapped where its worker leaves it to a stolen frame that waits "
                 "there, as in Fibril, and where it returns to the pool: when a join resumes a "
                 "frame on another stack, or its thread goes to sleep. Page faults are those "
                 f"during the computation. Here: {OURS}, {BOUNDED} in the place of Cilk Plus, "
                 "oneTBB.")


def table_3(result):
    def theirs(problem):
        d, s1, bound, pages = paper.row(paper.STACK_SPACE, problem) or [None] * 4
        return [d, s1, bound, pages, None, pages and pages / bound, None]

    def ours(problem, runtime, census, count):
        d, s1, bound = bound_of(result, problem)
        pages = [value(at_the_end, result.rounds, problem, runtime, count),
                 value(at_most, result.rounds, problem, census, count)]
        known = [found.median for found in pages if found]
        return [d, s1, bound, *pages, max(known) / bound if known else None,
                value(at_the_end, result.rounds, problem, PLAIN, count)]
    return Table("Table 3: stack pages for each worker",
                 ["problem", "workers", "D", "S1", "S1 + D", "pages at the end",
                  "pages at any time, at most", "the larger over S1 + D",
                  f"{PLAIN}, at the end"],
                 of_each(result, theirs, ours),
                 "D and S1 are those of the serial elision at this size, on a stack of its own. "
                 "Pages at any time are the most that stacks without a running strand had, exactly "
                 f"counted in runs of their own, and S1 for each strand that runs. Here: {OURS}; "
                 f"{PLAIN} keeps up to 64 MiB of dead pages.")


def grown(result, problem, runtime, count):
    peak = typical(result, problem, runtime, count, "max_rss_kib")
    before = typical(result, problem, runtime, count, "rss_before_kib")
    if peak is None or before is None:
        return None
    return f"{(peak - before) / 1024:.1f}/{peak / 1024:.1f}"


def table_4(result):
    def theirs(problem):
        *sizes, stacks, bounded = paper.row(paper.MEMORY, problem) or [None] * 5
        d = (paper.row(paper.STACK_SPACE, problem) or [None])[0]
        return [*sizes, stacks, bounded, d and d * paper.THREADS]

    def ours(problem, runtime, _census, count):
        d, _, _ = bound_of(result, problem)
        return [*(grown(result, problem, other, count) for other in (runtime, BOUNDED, "tbb")),
                *(typical(result, problem, other, count, "stacks") for other in (runtime, BOUNDED)),
                d and d * count]
    return Table("Table 4: increase of RSS / peak RSS in MB, and stacks",
                 ["problem", "workers", "Fibril", "Cilk Plus", "TBB", "stacks",
                  "stacks, Cilk Plus", "D P"],
                 of_each(result, theirs, ours),
                 "The increase is over what was resident before the computation. Theorem 4.1 lets "
                 f"there be D P stacks; each reserves {PAGES_RESERVED} pages.")


def tables(result):
    return [table_2(result), table_3(result), table_4(result)]


def drawn(result, theirs, ours):
    """For panels.bars: the paper's bar, and those of the most workers."""
    groups = {}
    for problem in result.wish.problems:
        name = problem.partition("@")[0]
        bars = {row[1]: ours(*row) for _, *row in series(result.wish, problem)
                if row[-1] == most(result.wish)}
        if any(bars.values()):
            groups[name] = {"the paper": Value(theirs[name]),
                            **{runtime: known for runtime, known in bars.items() if known}}
    return groups


def figures(result):
    def pages(problem, runtime, census, count):
        return value(over_bound, result.rounds, [(None, problem, runtime, census, count)])

    def unmaps(problem, runtime, _census, count):
        return value(quotient, result.rounds, problem, runtime, count, "unmaps")
    papers_pages = {name: row[3] / row[2] for name, row in paper.STACK_SPACE.items()}
    count = most(result.wish)
    return [Figure(f"Stack pages over P (S1 + D), {count} workers",
                   panels.bars(drawn(result, papers_pages, pages), "pages / P (S1 + D)",
                               line_at=PAGES_MOST),
                   "The larger of the pages at the end and of those at any time (Table 3)."),
            Figure(f"Unmaps over steals, {count} workers",
                   panels.bars(drawn(result, papers_unmaps(), unmaps), "unmaps / steals"))]
