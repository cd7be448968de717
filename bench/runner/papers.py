# SPDX-License-Identifier: MIT
"""The figures and tables of the papers that have numbers, and how ours follow from the samples of
the kept studies."""

import dataclasses
import statistics
from collections.abc import Callable

from runner.programs import OVER_TCP
from runner.rounds import NotMeasured, paired, value
from runner.studies import (_fibril_paper, _mapped_paper, _nodes_paper, _nowa_figures, _nowa_parts,
                            _nowa_paper, breakdown, cancellation, counts, fibril, mapped, nodes,
                            nowa, scaling, scheduling, strategies)
from runner.studies._common import of_serial, ratio, typical

LIBOMP = ("openmp-llvm-untied", "openmp-llvm")


@dataclasses.dataclass(frozen=True)
class Row:
    """`ours` makes a text of the Result of the kept study; without a study it is the text."""

    item: str
    theirs: str
    ours: Callable | str
    study: str | None = None


def number(x):
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}"


def shown(known):
    """A runner.rounds.Value."""
    if known is None:
        return "not measured"
    if known.side:
        return f"{known.side} {number(known.median)}"
    return f"{number(known.median)} ({number(known.p10)} to {number(known.p90)})"


def span(values):
    """From the least to the most of what is known."""
    known = [v for v in values if v is not None]
    if not known:
        return "not measured"
    least, most = number(min(known)), number(max(known))
    return least if least == most else f"{least} to {most}"


def medians(values):
    return [v.median for v in values if v]


def over(result, first, second, count, problems):
    """The range over problems of the median speed of one runtime over another."""
    return span(medians(ratio(result, p, first, second, count) for p in problems))


def stated(index):
    known = [row[index] for row in _fibril_paper.RATIOS.values() if row[index]]
    return span(known)


def fibril_speed(count):
    def text(result):
        problems = _fibril_paper.RATIOS
        return (f"{over(result, fibril.OURS, fibril.BOUNDED, count, problems)} and "
                f"{over(result, fibril.OURS, 'tbb', count, problems)}; `nopal` over TBB "
                f"{over(result, fibril.PLAIN, 'tbb', count, problems)}")
    return text


def counted(compute, unit=""):
    """The range over all problems of what `compute` tells of a series of the study `counts`, with
    the most workers, and the same of forced steals."""
    def text(result):
        wish = result.wish
        rows = [[row for row in counts.series(wish, problem) if row[-1] == counts.most(wish)]
                for problem in wish.problems]
        plain, forced = (span(medians(value(compute, result.rounds, row) for row in column))
                         for column in zip(*rows))
        return f"{plain}{unit} with {counts.most(wish)} workers; {forced} where forced"
    return text


def unmaps_over_steals(rounds, row):
    _, problem, runtime, _, count = row
    return counts.quotient(rounds, problem, runtime, count, "unmaps")


def stack_pages(rounds, row):
    return counts.over_bound(rounds, [row])


def stacks(rounds, row):
    _, problem, runtime, _, count = row
    return list(rounds.column(problem, runtime, count, "stacks").values())


def memory_over_tbb(result):
    count = counts.most(result.wish)

    def grown(problem, runtime):
        rows = paired(*(result.rounds.column(problem, runtime, count, field)
                        for field in ("max_rss_kib", "rss_before_kib")))
        return statistics.median(peak - before for peak, before in rows.values())
    quotients = []
    for problem in result.wish.problems:
        try:
            quotients.append(grown(problem, counts.OURS) / grown(problem, "tbb"))
        except NotMeasured:  # oneTBB was stopped
            continue
    return f"{span(quotients)}; {counted(stacks, ' stacks')(result)}"


def papers_memory():
    def grown(text):
        return float(text.split("/")[0])
    rows = _fibril_paper.MEMORY.values()
    return (f"{span(grown(ours) / grown(tbb) for ours, _, tbb, *_ in rows)}; "
            f"{span(row[3] for row in rows)} stacks")


def nowa_mean(first, second):
    return lambda result: shown(_nowa_figures.mean(result, result.wish.problems, first, second,
                                                   max(result.wish.workers)))


def madvise_memory(result):
    count = max(result.wish.workers)
    pairs = [[typical(result, p, runtime, count, "max_rss_kib")
              for runtime in (_nowa_parts.OURS, _nowa_parts.ADVISING)]
             for p in result.wish.problems]
    return span((kept - given) / 1024 for kept, given in pairs if None not in (kept, given))


def orders(result):
    count = max(result.wish.workers)
    speeds = [ratio(result, problem, _nowa_parts.OURS, "tbb", count)
              for problem in (_nowa_parts.UNSTEADY, _nowa_parts.SWAPPED)]
    return f"{shown(speeds[0])}; swapped {shown(speeds[1])}"


def openmp_fib(result):
    count = max(result.wish.workers)
    return " and ".join(shown(ratio(result, "fib", _nowa_parts.OURS, runtime, count))
                        for runtime in LIBOMP)


def mapped_over_threads(result):
    means = {count: value(mapped.mean_over_threads, result.rounds, mapped.twelve(result.wish),
                          count) for count in mapped.judged_counts(result.wish)}
    return ", ".join(f"T{count} {shown(mean)}" for count, mean in means.items())


def mapped_pages(result):
    count = mapped.many(result.wish)
    per_s1, per_bound = [], []
    for p in mapped.twelve(result.wish):
        s1, d = of_serial(result.rounds, p)
        pages = mapped.most_pages(result.rounds, p, mapped.KEEPS, count)
        per_s1 += mapped.pages_over_alone(result.rounds, p, count)
        per_bound.append(pages / (count * (s1 + d)))
    return f"{span(per_s1)} of P S1, {span(per_bound)} of P (S1 + D)"


def papers_pages():
    rows = _mapped_paper.SPACE.values()
    return (f"{span(pages / s1 for _, s1, pages in rows)} of P S1, "
            f"{span(pages / (s1 + d) for d, s1, pages in rows)} of P (S1 + D)")


def mapped_heap(result):
    count = mapped.many(result.wish)
    known = {p: mapped.known(mapped.over_heap_frames, result.rounds, p, count)
             for p in _mapped_paper.MEMORY}
    lacking = [p for p, quotient in known.items() if quotient is None]
    return (span(quotient[0] for quotient in known.values() if quotient) +
            (f"; {', '.join(lacking)} not measured" if lacking else ""))


def mapped_crossings(result):
    wish = result.wish
    known = mapped.known(mapped.calls_per_steal, result.rounds, mapped.twelve(wish),
                         mapped.many(wish))
    return "not measured" if known is None else number(known[0])


def papers_heap():
    """Stacks and heap of Cilk-M over those of Cilk-5, of those programs that we have."""
    return span((m + heap_m) / (c + heap_c) for m, heap_m, c, heap_c in
                _mapped_paper.MEMORY.values())


def strategies_shown(result):
    rows = [strategies.said_of_reciprocity(result, row) for row in strategies.FIGURE_2]
    shown_rows = sum(1 for row in rows if row and row != "not shown")
    judged = [row for row in strategies.checks(result) if row["holds"] is not None]
    return (f"{shown_rows} of {len(rows)} rows; {sum(row['holds'] for row in judged)} of "
            f"{len(judged)} checks of time, space and reciprocity hold")


def task_cycles(result):
    def column(rounds):
        return [cycles for cycles, _ in nodes.creation(rounds, nodes.PROCESS).values()]
    return shown(value(column, result.rounds))


def steal_time(result):
    near = value(nodes.steal_us, result.rounds, nodes.PROCESS)
    far = medians(value(nodes.steal_us, result.rounds, runtime) for runtime in OVER_TCP)
    return f"{shown(near)} us on one machine, {span(far)} over TCP"


def efficiencies(result):
    return span(medians(value(nodes.efficiency, result.rounds, p, nodes.PROCESS)
                        for p in nodes.scaled(result.wish))) + " from 1 to 2 processes"


def bytes_a_level(result):
    return span(medians(value(nodes.a_level, result.rounds, p)
                        for p in nodes.trees(result.wish) + nodes.large(result.wish)
                        if p in nodes.PAPERS_TREES))


def latencies(result):
    lines = nodes.metrics(result.rounds, nodes.LATENCY, nodes.PROCESS, nodes.TWO).values()
    times = {size: statistics.median(line[f"get_{size}"] for line in lines)
             for size in (8, 4096)}
    return ", ".join(f"{size} bytes {number(ns)} ns" for size, ns in times.items()) + \
        ", between processes of one machine"


def over_iso(result):
    def steal_ns(problem, runtime, count):
        known = [line for line in nodes.metrics(result.rounds, problem, runtime, count).values()
                 if line["steals"]]
        if not known:
            raise NotMeasured("nothing was stolen")
        return statistics.median(sum(line[f"{step}_cycles"] / line[nodes.STEPS[step]]
                                     for step in nodes.ALL_STEPS) / line["ghz"] for line in known)
    quotients = []
    for problem in nodes.compared(result.wish):
        for count in result.wish.workers:
            try:
                quotients.append(steal_ns(problem, nodes.PROCESS, count) /
                                 steal_ns(problem, nodes.ISO, count))
            except NotMeasured:
                continue
    return span(quotients)


def scheduling_ratio(above, below, policies):
    """The range of a quotient of Table 1, of these problems, by the paper's own policy."""
    def text(result):
        most = max(result.wish.workers)
        sized = scheduling.sized(result.wish)

        def span_of(runtime_of):
            def run(which, runtime):
                return ("serial", 1) if which == "seq" else (runtime, 1 if which == "one" else most)
            return span(medians(
                value(scheduling.over, result.rounds, sized[p], run(above, runtime_of(p)),
                      run(below, runtime_of(p))) for p in policies))
        with_p = f", P = {most}" if "most" in (above, below) else ""
        return (f"{span_of(scheduling.papers_policy)}; "
                f"by forks {span_of(lambda _: scheduling.OURS)}{with_p}")
    return text


def manticore(index, problems):
    def quotient(row):
        return row[index[0]] / row[index[1]]
    return span(quotient(scheduling.PAPER[p]) for p in problems)


REAL = [p for p in scheduling.PAPER if p != "fib"]


def scaling_speed(problems):
    """T_1 over T_8, as in the paper, and over that of the most workers."""
    def text(result):
        def speeds(count, forks):
            return span(medians(value(scaling.over_one, result.rounds, problem, runtime, count)
                                for problem in problems for runtime in scaling.by(problem)
                                if (runtime == scaling.OURS) == forks))
        return "; ".join(f"{speeds(count, False)}, by forks {speeds(count, True)}, P = {count}"
                         for count in (scheduling.PAPERS_VPROCS, max(result.wish.workers)))
    return text


def parts_of_forks(result):
    said = []
    for kind in breakdown.KINDS:
        name, share = breakdown.largest(result, kind)
        time = shown(value(breakdown.explained_time, result, kind))
        said.append(f"{kind.title}: {len(kind.parts)} parts, {time} of the time, "
                    f"{number(breakdown.explained(result, kind))} of the instructions; most: "
                    f"{name}, {number(share)}")
    return "; ".join(said)


def cancel_overhead(result):
    cores = result.wish.cores
    return span(medians(value(cancellation.overheads, result.rounds, count, cores)
                        for count in result.wish.workers))


def cancel_time(name):
    def text(result):
        return span(medians(value(cancellation.numbers, result.rounds, cancellation.CANCEL,
                                  cancellation.OURS, count, name)
                            for count in result.wish.workers)) + " us with 1 to 8 vprocs"
    return text


PAPERS = {
    "Fibril (SPAA'16), 72 threads": [
        Row("Figure 3: speed over Cilk Plus and TBB, one worker",
            f"{stated(0)} and {stated(1)}", fibril_speed(1), "fibril"),
        Row("Figure 4: the same in parallel", f"{stated(2)} and {stated(3)}", fibril_speed(2),
            "fibril"),
        Row("Table 2: unmaps over steals", "0.33 to 0.92", counted(unmaps_over_steals), "counts"),
        Row("Table 3: stack pages over P (S1 + D)",
            span(pages / bound for _, _, bound, pages in _fibril_paper.STACK_SPACE.values()),
            counted(stack_pages), "counts"),
        Row("Table 4: growth of memory over TBB's; stacks", papers_memory(), memory_over_tbb,
            "counts"),
    ],
    "Nowa (IPDPS'21), 256 threads": [
        Row("Figure 7: speed over Fibril", f"{_nowa_paper.OVER_FIBRIL['mean']}",
            nowa_mean(_nowa_parts.OURS, _nowa_parts.LOCKED), "nowa"),
        Row("Figure 7: over Cilk Plus", f"{_nowa_paper.OVER_CILKPLUS['mean']}",
            nowa_mean(_nowa_parts.OURS, "nopal-cilkplus"), "nowa"),
        Row("Figure 7: over TBB", f"{_nowa_paper.OVER_TBB['mean']}",
            nowa_mean(_nowa_parts.OURS, "tbb"), "nowa"),
        Row("Section V.A: knapsack over TBB", "0.21; above 1 when its spawns are swapped", orders,
            "nowa"),
        Row("Figure 8: speed with madvise over that without", f"{_nowa_paper.MADVISE['mean']}",
            nowa_mean(_nowa_parts.ADVISING, _nowa_parts.OURS), "nowa"),
        Row("Table II: MiB of memory that madvise saves",
            span(kept - given for kept, given in _nowa_paper.RSS.values()), madvise_memory, "nowa"),
        Row("Figure 9: Chase-Lev deque over THE", f"fib {_nowa_paper.CHASE_LEV['fib']}",
            nowa_mean(_nowa_parts.OURS, _nowa_parts.THE), "nowa"),
        Row("Figure 10: speed over libomp untied and tied", "8.68 and 5.47",
            lambda result: " and ".join(nowa_mean(_nowa_parts.OURS, runtime)(result) for runtime in
                                        LIBOMP), "nowa"),
        Row("Table III: the same for fib", "117 and 52.9", openmp_fib, "nowa"),
    ],
    "Cilk-M (PACT'10), 16 workers": [
        Row("Figure 2: strategies for a cactus stack", "seven rows, by argument",
            strategies_shown, "strategies"),
        Row("Figure 8: time over Cilk-5's", "a plot; similar for most",
            lambda result: f"over threads: {mapped_over_threads(result)}", "mapped"),
        Row("Figure 9: stack pages", papers_pages(), mapped_pages, "mapped"),
        Row("Figure 10: pages of stacks and heap over Cilk-5's, six programs",
            papers_heap(), lambda result: f"over heap frames: {mapped_heap(result)}", "mapped"),
        Row("Section 7: system calls of a steal", "2 m for m pages, or 1 with TLMM",
            mapped_crossings, "mapped"),
    ],
    "Uni-address threads (HPDC'15), up to 3,840 cores": [
        Row("Table 2: cycles of a task's creation",
            f"{_nodes_paper.CREATION['uni-address threads']}", task_cycles, "nodes"),
        Row("Figure 9: latency of a get", "a plot", latencies, "nodes"),
        Row("Table 3 and Figure 10: a steal",
            f"{_nodes_paper.STEAL_CYCLES / _nodes_paper.GHZ / 1000:.3g} us", steal_time, "nodes"),
        Row("Section 6.3: the same over iso-address", "0.71", over_iso, "nodes"),
        Row("Table 4: bytes of the region a level of UTS", f"{_nodes_paper.BYTES_A_LEVEL:,.0f}",
            bytes_a_level, "nodes"),
        Row("Figure 11: efficiency",
            f"{span(_nodes_paper.EFFICIENCY.values())} from 480 to 3,840 cores", efficiencies,
            "nodes"),
    ],
    "Manticore (ICFP'08), 8 processors": [
        Row("Figure 9 and Table 1: T_1 over T_seq, four programs",
            manticore((1, 0), REAL), scheduling_ratio("one", "seq", REAL), "scheduling"),
        Row("The same: T_1 over T_P", manticore((1, 2), REAL),
            scheduling_ratio("one", "most", REAL), "scheduling"),
        Row("The same: fib(29), T_1 over T_seq", manticore((1, 0), ["fib"]),
            scheduling_ratio("one", "seq", ["fib"]), "scheduling"),
        Row("The same: fib(29), T_1 over T_P", manticore((1, 2), ["fib"]),
            scheduling_ratio("one", "most", ["fib"]), "scheduling"),
        Row("The same on 16 cores: T_1 over T_P", manticore((1, 2), REAL),
            scaling_speed(REAL), "scaling"),
        Row("Figure 10: parts of fib's overhead", "five parts, 78 %",
            parts_of_forks, "breakdown"),
        Row("Figure 11: overhead with cancellation over that without", "2.5", cancel_overhead,
            "cancellation"),
        Row("Figure 12: time of cancel, 20 queens", "a plot, largely independent of processors",
            cancel_time("p50_us"), "cancellation"),
        Row("Figure 13: the same for each fiber", "a plot that falls with processors",
            cancel_time("us_per_strand"), "cancellation"),
    ],
}
