# SPDX-License-Identifier: MIT
"""What a newcomer asks first: what a fork costs, what more workers gain, what memory it takes."""

from runner import panels, study_text
from runner.programs import BOARD, base
from runner.rounds import NotMeasured, paired, speed, speed_up, value
from runner.studies import Figure, Table
from runner.studies._common import every, typical

ABOUT = "what a fork costs, the speed-up over the serial program, memory, the public board"
# The slowest runtime takes about half a second for so many forks.
FORKING = "fib@32"
# Their forks have work of microseconds, so that every runtime can gain from them.
GRAINED = ["cilksort", "fft@2097152", "strassen", "lu"]
# The public board's four programs, only where it was given by path.
OF_BOARD = ["board_fib", "board_skynet", "board_nqueens", "board_matmul"]
PROBLEMS = [FORKING, *GRAINED, *OF_BOARD]
ROUNDS = 6
SIZE = "quick"
OURS = "nopal"
SHOWN = [OURS, "openmp-gcc", "openmp-llvm", "tbb", "nowa", "fibril", "cheetah", "lace", "libfork",
         "taskflow"]
CENSUS = f"{OURS}:budget:64M+census"
BUDGET_MIB = 64
PAGE_KIB = 4
# With more workers the picture is of the speed-ups, which then say more than a fork does.
FEW_WORKERS = 2


def workers(cores):
    return sorted({1, cores})


def grained(wish):
    return [p for p in wish.problems if p in GRAINED]


def of_board(wish):
    return [p for p in wish.problems if p in OF_BOARD]


def judged(wish):
    """Not judged, but short, so that every round can have them."""
    return (every([p for p in wish.problems if p == FORKING], ["serial_call", *SHOWN], [1]) +
            every(of_board(wish), ["serial"], [1]) +
            every(of_board(wish), [OURS, *BOARD], wish.workers))


def once(wish):
    return (every(grained(wish), ["profile"], [1]) +
            every(grained(wish), [CENSUS], [max(wish.workers)]))


def configurations(wish):
    return (judged(wish) + every(grained(wish), ["serial"], [1]) +
            every(grained(wish), SHOWN, wish.workers) + once(wish))


def checks(_):
    return []


def fork_costs(result):
    """Runtime -> Value in ns, the cheapest first."""
    def cost(rounds, runtime):
        return list(rounds.ns_per_fork(FORKING, runtime).values())
    costs = {runtime: value(cost, result.rounds, runtime) for runtime in SHOWN}
    known = {runtime: cost for runtime, cost in costs.items() if cost}
    return dict(sorted(known.items(), key=lambda item: item[1].median))


def speed_ups(result, count):
    """Problem -> runtime -> Value."""
    groups = {}
    for problem in grained(result.wish):
        bars = {runtime: value(speed_up, result.rounds, problem, runtime, count)
                for runtime in SHOWN}
        groups[problem] = {runtime: known for runtime, known in bars.items() if known}
    return groups


def above_serial(rounds, problem, runtime, count):
    """Peak memory above that of the serial program, which holds the input, in MiB."""
    rows = paired(rounds.column(problem, runtime, count, "max_rss_kib"),
                  rounds.column(problem, "serial", 1, "max_rss_kib"))
    return [(kib - serial) / 1024 for kib, serial in rows.values()]


def seconds(rounds, problem, runtime, count):
    return list(rounds.column(problem, runtime, count).values())


def times_ours(rounds, problem, runtime, count):
    return speed(rounds, problem, (OURS, count), (runtime, count))


def name(problem):
    return problem.partition("@")[0]


def decimals(known):
    return f"{known.side} {known.median:.2f}".strip() if known else None


def fork_table(result):
    costs = fork_costs(result)
    ours = costs.get(OURS)
    rows = [[runtime, f"{cost.median:.1f}", f"{cost.p10:.1f} .. {cost.p90:.1f}",
             f"{cost.median / ours.median:.1f}" if ours else None]
            for runtime, cost in costs.items()]
    try:
        forks = f"{result.rounds.forks(FORKING, OURS):,}"
    except NotMeasured:
        forks = "its"
    number = FORKING.partition("@")[2]
    return Table(
        "Cost of a fork and join with one worker", ["runtime", "ns", "p10 .. p90", "over nopal's"],
        rows, f"The time of fib({number}) less that of serial_call, divided by {forks} forks: "
        "serial_call is the same program with calls in place of forks, which the compiler may not "
        "inline. Medians of all rounds.")


def speed_table(result):
    problems = grained(result.wish)
    def serial_s(problem):
        return value(lambda r: list(r.column(problem, "serial", 1).values()), result.rounds)
    rows = [["serial, seconds", 1, *(decimals(serial_s(p)) for p in problems)]]
    for count in result.wish.workers:
        groups = speed_ups(result, count)
        rows += [[runtime, count, *(decimals(groups[p].get(runtime)) for p in problems)]
                 for runtime in SHOWN if any(runtime in groups[p] for p in problems)]
    return Table("Speed-up over the serial program",
                 ["runtime", "workers", *map(name, problems)], rows,
                 "cilksort sorts integers, fft is a Fourier transform, strassen multiplies "
                 "matrices, lu factors one; each fork has microseconds of work. Clang compiles "
                 "openmp-llvm, which changes the speed of its serial parts too. Medians of "
                 "rounds in which all programs take turns.")


def board_table(result):
    """Nothing where the board is not in the build."""
    problems = of_board(result.wish)
    def cells(runtime, count, kept):
        return [decimals(value(kept, result.rounds, p, runtime, count)) for p in problems]
    rows = [["serial: times nopal's", 1, *cells("serial", 1, times_ours)]]
    for count in result.wish.workers:
        rows.append(["nopal, seconds", count, *cells(OURS, count, seconds)])
        rows += [[f"{runtime}: times nopal's", count, *cells(runtime, count, times_ours)]
                 for runtime in BOARD]
    rows = [row for row in rows if any(row[2:])]
    if not any(row[0].startswith("board") for row in rows):
        return []
    return [Table("The public board's four programs", ["", "workers", *problems], rows,
                  "The time of each over that of nopal with as many workers; above 1, nopal is "
                  "faster. The others are the board's own programs, by the same compiler, with "
                  "the same flags and allocator. Medians of all rounds.")]


def computed(compute, *figures):
    return None if None in figures else compute(*figures)


def counted_rows(result, problems, count):
    """The bounds, and the pages that the run with a census counted."""
    def figures_of(runtime, number, field):
        return [typical(result, problem, runtime, number, field) for problem in problems]
    s1, d = (figures_of("profile", 1, field) for field in ("serial_pages", "depth"))
    live, dead = (figures_of(CENSUS, count, field) for field in ("live_pages", "dead_pages"))
    return [["S1: stack pages of the serial program", *s1],
            ["D: depth of nested forks", *d],
            ["frames, KiB: bound P (S1 + D)",
             *(computed(lambda *pages: count * sum(pages) * PAGE_KIB, *pair)
               for pair in zip(s1, d))],
            ["frames, KiB: most counted",
             *(computed(lambda pages: pages * PAGE_KIB, pages) for pages in live)],
            ["unused pages, MiB: bound", *[BUDGET_MIB] * len(problems)],
            ["unused pages, MiB: most counted",
             *(computed(lambda pages: f"{pages * PAGE_KIB / 1024:.2f}", pages) for pages in dead)]]


def memory_table(result):
    problems = grained(result.wish)
    count = max(result.wish.workers)
    rows = counted_rows(result, problems, count)
    for runtime in SHOWN:
        peaks = [value(above_serial, result.rounds, p, runtime, count) for p in problems]
        if any(peaks):
            rows.append([f"peak above serial, MiB: {runtime}", *map(decimals, peaks)])
    return Table(f"Memory with {count} worker{'s' if count > 1 else ''}",
                 ["", *map(name, problems)], rows,
                 "P is the number of workers. What is counted are the pages of all stacks that "
                 "no worker runs on, with frames and without, whenever a worker leaves a stack, in "
                 "one run made for this. Peaks are of the whole process.")


def absent(result):
    """What this build does not have, in one sentence."""
    present = {base(runtime) for _, runtime, _ in result.measurement.configurations}
    lacking = [runtime for runtime in SHOWN if runtime not in present]
    if of_board(result.wish) and not present.intersection(BOARD):
        lacking.append("the public board")
    if not lacking:
        return []
    return study_text.wrapped(f"Not in this build: {', '.join(lacking)}. bench/README.md says how "
                              "to add them.")


def tables(result):
    return [fork_table(result), speed_table(result), memory_table(result), *board_table(result)]


def lines(result):
    return study_text.blocks(tables(result)) + absent(result)


def picture(result):
    fork, speeds, _ = figures(result)
    return fork if max(result.wish.workers) <= FEW_WORKERS else speeds


def figures(result):
    count = max(result.wish.workers)
    peaks = {p: {r: value(above_serial, result.rounds, p, r, count) for r in SHOWN}
             for p in grained(result.wish)}
    peaks = {name(p): {r: v for r, v in group.items() if v} for p, group in peaks.items()}
    speeds = {name(p): group for p, group in speed_ups(result, count).items()}
    number = FORKING.partition("@")[2]
    return [Figure(f"Cost of a fork and its join, one worker, fib({number})",
                   panels.ranking(fork_costs(result), "ns, logarithmic")),
            Figure(f"Speed-up over the serial program, {count} workers",
                   panels.bars(speeds, "T serial / T", line_at=1)),
            Figure(f"Peak memory above the serial program's, {count} workers",
                   panels.bars(peaks, "MiB"))]
