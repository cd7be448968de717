# SPDX-License-Identifier: MIT
"""The evaluation of cilk-m-pact10 (section 6) with workers that each see one linear stack."""

import json
import subprocess

from runner import checks as checking
from runner import panels
from runner.programs import AT_PAGES, HEAP_FRAMES, MAPPED
from runner.programs import PROBLEMS as ALL
from runner.rounds import NotMeasured, enough, geometric_mean, paired, ratios, value
from runner.studies import Figure, Table
from runner.studies import _mapped_paper as paper
from runner.studies._common import every, of_serial, metric, typical

ABOUT = "Cilk-M's evaluation: time, pages of stacks and heap, mappings per steal"
PROGRAMS = ["prefixes"]
PROBLEMS = ALL
ROUNDS = 15
SIZE = "quick"
THREADS = "nopal"
# No dead page is given back. The other counts those that live while strands wait.
KEEPS, COUNTED = f"{MAPPED}:budget:unlimited", f"{MAPPED}:budget:64M+census"
# The same where children begin at pages' boundaries, as the paper's footnote 8 has it.
KEEPS_AT_PAGES = f"{AT_PAGES}:budget:unlimited"
# The paper's number of workers, for space.
MANY = 16
COUNTS = [1, 2, 4, MANY]
# Time over that of workers that are threads: geometric means for one worker and two, and each.
TIME_MOST = {1: 1.02, 2: 1.10}
EACH_MOST = 1.25
CALLS_MOST = 3.0
# Pages a worker over those of one worker alone (the paper, section 6: no program used more).
ALONE_MOST = 2.5
# Microseconds of a steal, and of each segment that it maps.
STEAL_US, SEGMENT_US = 10, 3
# The frames of these have few variables, so on the heap they are small (the paper's Figure 10).
SMALL_FRAMES = ["fib", "fibx"]


def workers(_cores):
    return COUNTS


def twelve(wish):
    return [problem for problem in paper.SPACE if problem in wish.problems]


def judged_counts(wish):
    return [count for count in TIME_MOST if count in wish.workers]


def many(wish):
    return max(wish.workers)


def configurations(wish):
    wanted = every(wish.problems, [MAPPED], wish.workers)
    wanted += every(twelve(wish), ["profile"], [1]) + judged(wish)
    return wanted + every(twelve(wish), [COUNTED, KEEPS_AT_PAGES], [many(wish)]) + every(
        [p for p in paper.MEMORY if p in wish.problems], [HEAP_FRAMES], [many(wish)])


def judged(wish):
    return (every(twelve(wish), [MAPPED, THREADS], judged_counts(wish)) +
            every(twelve(wish), [KEEPS], [many(wish)]))


def extra(build, _wish):
    """What mapping a prefix costs, from the program `prefixes`."""
    program = build.bench / "prefixes"
    try:
        done = subprocess.run([str(program)], capture_output=True, text=True, check=True,
                              stdin=subprocess.DEVNULL, timeout=60)
        return {"prefixes": json.loads(done.stdout)["cases"]}
    except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        return {"prefixes": [], "failures": [f"The program prefixes gave nothing: {why}."]}


def over_threads(rounds, problem, count):
    return ratios(rounds.column(problem, MAPPED, count), rounds.column(problem, THREADS, count))


def mean_over_threads(rounds, problems, count):
    """A geometric mean of times, where that of speeds is known."""
    if set(problems) != set(paper.SPACE):
        raise NotMeasured("needs all twelve problems")
    return enough(geometric_mean(rounds, problems, (THREADS, count), (MAPPED, count)))


def most_pages(rounds, problem, runtime, count, field="stack_pages"):
    return max(rounds.column(problem, runtime, count, field).values())


def pages_over_bound(rounds, problem, count):
    s1, d = of_serial(rounds, problem)
    return [most_pages(rounds, problem, KEEPS, count) / (count * (s1 + d))]


def pages_over_alone(rounds, problem, count):
    """The paper's S1 is what the application has on one worker, so it holds what the runtime adds
    to the frames of the serial program."""
    alone = most_pages(rounds, problem, MAPPED, 1)
    return [most_pages(rounds, problem, KEEPS, count) / (count * alone)]


def heap_pages(rounds, problem, runtime, count):
    """Pages of the heap: as told, or what the memory has grown by besides the stacks."""
    try:
        return max(metric(rounds, problem, runtime, count, "heap_pages").values())
    except NotMeasured:
        grown = paired(*(rounds.column(problem, runtime, count, field)
                         for field in ("max_rss_kib", "rss_before_kib", "stack_pages")))
        return max(max(0, (peak - before) // 4 - pages) for peak, before, pages in grown.values())


def stacks_and_heap(rounds, problem, runtime, count):
    """The most pages of stacks, and of the heap."""
    return (most_pages(rounds, problem, runtime, count),
            heap_pages(rounds, problem, runtime, count))


def over_heap_frames(rounds, problem, count):
    ours, theirs = (sum(stacks_and_heap(rounds, problem, runtime, count))
                    for runtime in (KEEPS, HEAP_FRAMES))
    return [ours / theirs]


def calls_of(rounds, problem, count):
    """Round -> system calls. Files of before tell of those that map alone."""
    try:
        return metric(rounds, problem, MAPPED, count, "view_calls")
    except NotMeasured:
        return metric(rounds, problem, MAPPED, count, "view_maps")


def calls_per_steal(rounds, problems, count):
    """Of all these problems together: system calls that map, count or give back pages of stacks,
    over steals."""
    calls = steals = 0
    for problem in problems:
        calls += sum(calls_of(rounds, problem, count).values())
        steals += sum(metric(rounds, problem, MAPPED, count, "view_steals").values())
    if steals == 0:
        raise NotMeasured("nobody has stolen")
    return [calls / steals]


def prefix_checks(result):
    cases = result.extra["prefixes"]

    def worst(values):
        if not cases:
            raise NotMeasured("needs the program prefixes")
        return [max(map(values, cases))]
    return [("a prefix in r runs: crossings over r + 1", "<=", 1.0,
             lambda _: worst(lambda c: c["crossings"] / (c["runs"] + 1))),
            ("the same: us over 10 + 3 r", "<=", 1.0, lambda _: worst(
                lambda c: c["us"] / (STEAL_US + SEGMENT_US * c["runs"])))]


def checks(result):
    wish = result.wish
    problems, count = twelve(wish), many(wish)
    listed = []
    for n in judged_counts(wish):
        listed.append((f"T{n} over that of threads, geometric mean of twelve", "<=", TIME_MOST[n],
                       lambda r, n=n: mean_over_threads(r, problems, n)))
        listed += [(f"{p}: T{n} over that of threads", "<=", EACH_MOST,
                    lambda r, a=(p, n): enough(over_threads(r, *a))) for p in problems]
    listed += [(f"{p}: stack pages, none given back, over P (S1 + D), {count} workers", "<=", 1.0,
                lambda r, p=p: pages_over_bound(r, p, count)) for p in problems]
    listed += [(f"{p}: stack pages of each of {count} workers over those of one alone", "<=",
                ALONE_MOST, lambda r, p=p: pages_over_alone(r, p, count)) for p in problems]
    listed += [(f"{p}: pages of stacks and heap over those of {HEAP_FRAMES}, {count} workers",
                "<=", 1.0, lambda r, p=p: over_heap_frames(r, p, count))
               for p in problems if p in paper.MEMORY and p not in SMALL_FRAMES]
    if problems:
        listed.append((f"system calls per steal, {count} workers", "<=", CALLS_MOST,
                       lambda r: calls_per_steal(r, problems, count)))
    return checking.evaluate(result.measurement, listed + prefix_checks(result))


def known(compute, *arguments):
    try:
        return compute(*arguments)
    except NotMeasured:
        return None


def figure_8(result):
    wish = result.wish
    rows = [[p, *(value(over_threads, result.rounds, p, n) for n in judged_counts(wish)),
             typical(result, p, MAPPED, many(wish), "steals")] for p in twelve(wish)]
    return Table("Figure 8: time over that of workers that are threads",
                 ["program", *(f"T{n}" for n in judged_counts(wish)),
                  f"steals, P = {many(wish)}"], rows,
                 "The paper compares with Cilk-5, and its figure has no numbers in the text.")


def per_worker(pages, count):
    return None if pages is None else f"{pages / count:.2f}"


def figure_9(result):
    count = many(result.wish)
    rows = []
    for p in twelve(result.wish):
        d = typical(result, p, "profile", 1, "depth")
        s1 = typical(result, p, "profile", 1, "serial_pages")
        pages = known(most_pages, result.rounds, p, KEEPS, count)
        live = known(most_pages, result.rounds, p, COUNTED, count, "live_pages")
        bound = None if d is None or s1 is None else s1 + d
        alone = known(most_pages, result.rounds, p, MAPPED, 1)
        times = None if pages is None or not alone else f"{pages / (count * alone):.2f}"
        at_pages = known(most_pages, result.rounds, p, KEEPS_AT_PAGES, count)
        theirs = paper.SPACE[p]
        rows.append([p, d, s1, alone, per_worker(pages, count), bound, times, live,
                     per_worker(at_pages, count), *theirs, f"{theirs[2] / theirs[1]:.2f}"])
    return Table(f"Figure 9: stack pages per worker, P = {count}",
                 ["program", "D", "serial S1", "S1", "pages / P", "serial S1 + D",
                  "pages / (P S1)",
                  "live pages of all", "pages / P, children at boundaries", "paper: D", "S1",
                  "S16 / 16", "S16 / (16 S1)"], rows,
                 "Pages are all that stacks ever had: none that a strand has left is given back. "
                 "Live ones have frames of strands that wait, as if all others were given back at "
                 "once. Both are the most of all rounds. Where children begin at pages' boundaries "
                 "(the paper's footnote 8), forks that nobody takes cost pages, too. S1 is, as in "
                 "the paper, what one worker alone takes; the serial program takes less, and "
                 "the bound is of that.")


def figure_10(result):
    count = many(result.wish)
    rows = []
    for p in paper.MEMORY:
        if p in result.wish.problems:
            ours, theirs = (known(stacks_and_heap, result.rounds, p, runtime, count) or
                            (None, None) for runtime in (KEEPS, HEAP_FRAMES))
            rows.append([p, *ours, *theirs, *paper.MEMORY[p]])
    return Table(f"Figure 10: pages of stacks and heap, P = {count}",
                 ["program", "stacks", "heap", f"{HEAP_FRAMES}: stacks", "heap",
                  "paper, Cilk-M: stacks", "heap", "Cilk-5: stacks", "heap"], rows,
                 "The most of all rounds. Stacks: the most pages with memory at a time; with "
                 f"{HEAP_FRAMES} of each worker's stack, on which its scheduler runs too; with "
                 "Nopal of all stacks that strands were on, pooled ones too. Heap, on both sides: "
                 "what all other memory without a file grew by during the computation, so frames "
                 "on the heap, deques, lists and tables, without what starts a worker (as in the "
                 "paper's footnote 11) and without the input. The paper's Cilk-5 took up to 5.5 "
                 f"pages of heap a worker more than its Cilk-M; {HEAP_FRAMES} asks the system for "
                 "one page of a frame's size at a time, the least that such a heap can.")


def crossings(result):
    rows = []
    for p in twelve(result.wish):
        for count in result.wish.workers:
            counts = [known(metric, result.rounds, p, MAPPED, count, name)
                     for name in ("view_steals", "view_shows", "view_maps")]
            counts.append(known(calls_of, result.rounds, p, count))
            if None not in counts:
                rows.append([p, count, *(sum(column.values()) for column in counts),
                             value(calls_per_steal, result.rounds, [p], count)])
    return Table("Changes of views, all rounds",
                 ["program", "P", "steals", "views asked for", "mappings", "system calls",
                  "calls per steal"],
                 rows, "A join that goes on with another worker's frame asks for a view, too, and "
                 "so does each region that begins. What a process shows already takes no call. "
                 "System calls are the mappings, and those that count pages of stacks or give them "
                 "back.")


def prefixes(result):
    rows = [[case[name] for name in ("pages", "runs", "crossings", "page_wise_crossings", "us",
                                     "page_wise_us", "copy_us")]
            for case in result.extra["prefixes"]]
    return Table("Mapping a stolen prefix of m pages that lie in r runs, and a page of one's own",
                 ["m", "r", "crossings by runs", "page by page", "us by runs", "page by page",
                  "copied"], rows,
                 "Each time contains the first access to every page. The paper's kernel crosses "
                 "once; copies cannot keep pointers into the frames.")


def tables(result):
    return [figure_8(result), figure_9(result), figure_10(result), crossings(result),
            prefixes(result)]


def figures(result):
    wish = result.wish
    times = {}
    for p in twelve(wish):
        bars = {f"{MAPPED}": value(over_threads, result.rounds, p, n) for n in judged_counts(wish)}
        times[p] = {runtime: v for runtime, v in bars.items() if v}

    spaces = {}
    for p in twelve(wish):
        pages = value(pages_over_bound, result.rounds, p, many(wish))
        spaces[p] = {MAPPED: pages} if pages else {}
    return [Figure(f"Time over that of threads, {max(judged_counts(wish), default=1)} workers",
                   panels.bars(times, "T / threads'", line_at=1)),
            Figure(f"Stack pages over P (S1 + D), {many(wish)} workers",
                   panels.bars(spaces, "pages / (P (S1 + D))", line_at=1), spreads=False)]
