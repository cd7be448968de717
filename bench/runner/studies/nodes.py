# SPDX-License-Identifier: MIT
"""The same program on several processes, beside uni-address-hpdc15, section 6.

Workers are processes. With more of them than processors, the times say only that nothing breaks.
The threads of one process on the same processors are the limit of what processes can reach.
Process 0 tells what a steal and a task take.
"""

from runner import checks as checking
from runner import panels, study_text
from runner.programs import (BY_MESSAGES, ITOYORI, LAUNCHED, OF_PAPER, ON_HOSTS, OVER_TCP,
                             PROCESS, PROCESSES)
from runner.rounds import NotMeasured, enough, paired, ratios, value
from runner.studies import Figure, Table
from runner.studies import _nodes_figures as figures_of
from runner.studies import _nodes_paper as paper
from runner.studies._common import every, that_say_something

ABOUT = "processes: tasks, steals, memory and speed-up; BTC, UTS and NQueens of uni-address-hpdc15"
HAS_ALL = True
PROBLEMS = ["btc1", "btc2", "uts", "task_queens", "task_fib", "steal", "steal_slowly", "latency"]
ROUNDS = 15
SIZE = "quick"
SERIAL, THREADS = "serial_call", "nopal"
RUNTIMES = [PROCESS, *LAUNCHED]
FAR = OVER_TCP + BY_MESSAGES  # as between machines
BTC, QUEENS, FIB, STEAL, LATENCY = "btc1", "task_queens", "task_fib", "steal", "latency"
STEAL_SLOWLY = "steal_slowly"  # where a network lies between
# What --n chooses a tree by, its name, and the levels of those whose memory is looked at.
TREES = {"uts@1": "UTS T1", "uts@2": "UTS T2", "uts@3": "UTS T3", "uts@4": "UTS T4",
         "uts@5": "UTS T5", "uts@8": "UTS D=8", "uts@10": "UTS D=10"}
LARGE = {"uts@12": "UTS D=12", "uts@21": "UTS T1L", "uts@22": "UTS T2L", "uts@23": "UTS T3L"}
SMALL = {"uts@6": "UTS D=6"}
LEVELS = {"uts@6": 6, "uts@8": 8, "uts@10": 10, "uts@12": 12, "uts@3": 1572, "uts@23": 17844}
PAPERS_TREES = ["uts@6", "uts@8", "uts@10", "uts@12"]
NAMES = {"btc1": "BTC, iter 1", "btc2": "BTC, iter 2", QUEENS: "NQueens", FIB: "fib",
         **TREES, **LARGE, **SMALL}
TWO = 2
STEPS = {"look": "tries", "take": "steals", "copy": "steals", "suspend": "suspended",
         "resume": "suspended"}
CREATION_MOST, EFFICIENCY_LEAST, THREADS_MOST = 40, 0.95, 1.15
STEAL_US_MOST, STEAL_US_MOST_TCP, DELAY_US_MOST, OVER_ITOYORI_MOST = 1.0, 60, 50, 0.4
ISO = "process-iso"


def workers(_cores):
    return [1, 2, 4, 8]


def trees(wish):
    if "uts" not in wish.problems:
        return []
    return list(SMALL) if wish.size == "test" else list(TREES)


def large(wish):
    return list(LARGE) if wish.all and "uts" in wish.problems and wish.size != "test" else []


def computed(wish):
    """All that is computed on any number of processes, but the largest trees."""
    by_themselves = ("uts", STEAL, STEAL_SLOWLY, LATENCY)
    return [p for p in PROBLEMS if p in wish.problems and p not in by_themselves] + trees(wish)


def scaled(wish):
    """What is to run twice as fast on two processes."""
    return [p for p in computed(wish) if p in ("btc1", "btc2", QUEENS)] + trees(wish)[:1]


def compared(wish):
    """Trees on which the memory and the steals of iso-address are looked at."""
    return [p for p in trees(wish) if p in PAPERS_TREES]


def judged(wish):
    wanted = every(scaled(wish), RUNTIMES, [1, TWO]) + every(trees(wish)[:1], [THREADS], [TWO])
    return wanted + (every([BTC], [SERIAL, ITOYORI], [1]) if BTC in wish.problems else [])


def once(wish):
    return every(large(wish), [PROCESS, THREADS], [1, TWO])


def configurations(wish):
    counts = wish.workers
    wanted = every(computed(wish), [SERIAL], [1]) + judged(wish) + once(wish)
    wanted += every(computed(wish), [PROCESS], counts)
    wanted += every(computed(wish), [THREADS], [c for c in counts if c <= TWO])
    wanted += every(computed(wish), LAUNCHED, [c for c in counts if c <= TWO])
    wanted += every(trees(wish)[:1], FAR, [TWO]) + every(compared(wish), OF_PAPER, counts)
    wanted += every([p for p in scaled(wish) if p != "btc2"], ON_HOSTS, [TWO])
    wanted += every([p for p in (BTC,) if p in wish.problems], OF_PAPER, [1])
    near = [PROCESS, *OF_PAPER, *LAUNCHED]
    for problem, where in ((STEAL, near), (STEAL_SLOWLY, FAR), (LATENCY, RUNTIMES + OVER_TCP)):
        wanted += every([problem] if problem in wish.problems else [], where, [TWO])
    return wanted


def metrics(rounds, problem, runtime, count):
    """Round -> what process 0 tells."""
    return rounds.column(problem, runtime, count, "told")


def runtimes(result):
    """Those that have been measured."""
    known = {runtime for _, runtime, _ in result.measurement.configurations}
    return [runtime for runtime in PROCESSES if runtime in known]


def creation(rounds, runtime):
    """Cycles for each task that the serial elision does not need, and those of a full fence."""
    forks = rounds.forks(BTC, SERIAL)
    rows = paired(rounds.column(BTC, runtime, 1), rounds.column(BTC, SERIAL, 1),
                  metrics(rounds, BTC, runtime, 1))
    return {r: ((ours - base) * 1e9 * line["ghz"] / forks, line["fence_cycles"])
            for r, (ours, base, line) in rows.items()}


def over_itoyori(rounds, runtime):
    rows = paired(rounds.column(BTC, runtime, 1), rounds.column(BTC, SERIAL, 1),
                  rounds.column(BTC, ITOYORI, 1))
    return [(ours - base) / (theirs - base) for ours, base, theirs in rows.values()]


def has_itoyori(result):
    return (BTC, ITOYORI, 1) in result.measurement.configurations


def one_get_us(rounds, runtime, percent):
    name = f"one_get_{percent}"
    known = [line[name] / 1000 for line in metrics(rounds, LATENCY, runtime, TWO).values()
             if name in line]
    if not known:
        raise NotMeasured(f"{runtime} has not told {name}")
    return known


def beyond_fence(rounds, runtime):
    return [task - fence for task, fence in creation(rounds, runtime).values()]


def stealing(rounds, runtime):
    """What process 0 tells of the rounds in which it has stolen."""
    problem = STEAL_SLOWLY if runtime in FAR else STEAL
    known = [line for line in metrics(rounds, problem, runtime, TWO).values()
             if line["steals"] and line["suspended"]]
    if not known:
        raise NotMeasured(f"{runtime} has stolen nothing")
    return known


def step_ns(rounds, runtime, names):
    """Nanoseconds that these steps of a steal take together."""
    return [sum(line[f"{name}_cycles"] / line[STEPS[name]] for name in names) / line["ghz"]
            for line in stealing(rounds, runtime)]


ALL_STEPS = ["look", "take", "copy"]


def whole(runtime):
    """The steps of a steal. Over a network one message does all, which counts as `take`; `look` is
    then a message to which the answer was that there is nothing."""
    return ["take"] if runtime in FAR else ALL_STEPS


def steal_us(rounds, runtime):
    return [ns / 1000 for ns in step_ns(rounds, runtime, whole(runtime))]


def region(rounds, problem, runtime=PROCESS):
    """The most bytes of the region that process 0 has used, of all numbers of processes."""
    known = [line["region_used"] for p, r, count in rounds.measurement.configurations
             if (p, r) == (problem, runtime) and rounds.measurement.samples[p, r, count]
             for line in metrics(rounds, p, r, count).values()]
    if not known:
        raise NotMeasured(f"needs {problem} on {runtime}")
    return [max(known)]


def a_level(rounds, problem):
    return [used / LEVELS[problem] for used in region(rounds, problem)]


def speed_up(rounds, problem, runtime, count=TWO):
    return ratios(rounds.column(problem, runtime, 1), rounds.column(problem, runtime, count))


def efficiency(rounds, problem, runtime, count=TWO):
    return [quotient / count for quotient in speed_up(rounds, problem, runtime, count)]


def over_threads(rounds, problem, runtime):
    return ratios(rounds.column(problem, runtime, TWO), rounds.column(problem, THREADS, TWO))


def checks_of(result, runtime):
    wish = result.wish
    listed = []
    if runtime in OVER_TCP and STEAL_SLOWLY in wish.problems:
        listed.append((f"{runtime}: a steal from a busy process by one message, us", "<=",
                       STEAL_US_MOST_TCP, lambda rounds: steal_us(rounds, runtime)))
    if runtime in OVER_TCP and LATENCY in wish.problems:
        listed.append((f"{runtime}: 90 % of the gets of 8 bytes from a busy process, us", "<=",
                       DELAY_US_MOST, lambda rounds: one_get_us(rounds, runtime, 90)))
    if runtime not in RUNTIMES:
        return listed
    if BTC in wish.problems and has_itoyori(result):
        listed.append((f"{runtime}: a task beyond the elision's, over Itoyori's", "<=",
                       OVER_ITOYORI_MOST, lambda rounds: enough(over_itoyori(rounds, runtime))))
    if BTC in wish.problems:
        listed.append((f"{runtime}: cycles of a task beyond the elision's and a full fence's",
                       "<=", CREATION_MOST, lambda rounds: enough(beyond_fence(rounds, runtime))))
    if STEAL in wish.problems:
        listed.append((f"{runtime}: look, take and copy of a steal from a busy process, us", "<=",
                       STEAL_US_MOST, lambda rounds: steal_us(rounds, runtime)))
    for problem in scaled(wish):
        listed.append((f"{NAMES[problem]} on {runtime}: efficiency of 2 processes", ">=",
                       EFFICIENCY_LEAST,
                       lambda rounds, p=problem: enough(efficiency(rounds, p, runtime))))
    for problem in trees(wish)[:1]:
        listed.append((f"{NAMES[problem]} on {runtime}: 2 processes over 2 threads", "<=",
                       THREADS_MOST,
                       lambda rounds, p=problem: enough(over_threads(rounds, p, runtime))))
    return listed


def checks(result):
    listed = [(f"{NAMES[problem]}: bytes of the region for each level", "<=", paper.BYTES_A_LEVEL,
               lambda rounds, p=problem: a_level(rounds, p))
              for problem in trees(result.wish) + large(result.wish) if problem in PAPERS_TREES]
    for runtime in runtimes(result):
        listed += checks_of(result, runtime)
    return checking.evaluate(result.measurement, listed)


def itoyori_cycles(rounds):
    forks = rounds.forks(BTC, SERIAL)
    rows = paired(rounds.column(BTC, ITOYORI, 1), rounds.column(BTC, SERIAL, 1),
                  metrics(rounds, BTC, PROCESS, 1))
    return [(theirs - base) * 1e9 * line["ghz"] / forks for theirs, base, line in rows.values()]


def creation_table(result):
    def column(rounds, runtime, place):
        return [row[place] for row in creation(rounds, runtime).values()]
    rows = [[runtime, *(value(column, result.rounds, runtime, place) for place in (0, 1)),
             value(beyond_fence, result.rounds, runtime)] for runtime in runtimes(result)]
    if has_itoyori(result):
        rows.append([ITOYORI, value(itoyori_cycles, result.rounds), None, None])
    rows += [[f"the paper: {name}", cycles, None, None]
             for name, cycles in paper.CREATION.items()]
    return Table("Creation of a task, cycles (Table 2 of the paper)",
                 ["", "task", "full fence", "beyond it"], that_say_something(rows),
                 "BTC, iter 1, one process, less the serial elision whose spawns stay calls. The "
                 "queue can be stolen from at any time, so that each pop has a full fence, which "
                 "is timed by itself after each run. The paper's are of a Xeon E5-2660.")


def steal_table(result):
    def frame(rounds, runtime):
        return [line["stolen_bytes"] / line["steals"] for line in stealing(rounds, runtime)]
    rows = [[runtime, value(frame, result.rounds, runtime),
             *(value(step_ns, result.rounds, runtime, [name]) for name in STEPS),
             value(step_ns, result.rounds, runtime, whole(runtime))]
            for runtime in runtimes(result)]
    ns = {"all": paper.STEAL_CYCLES / paper.GHZ, "both": paper.SUSPEND_RESUME_CYCLES / paper.GHZ}
    return Table("One steal, nanoseconds (Table 3 and Figure 10 of the paper)",
                 ["", "bytes", *STEPS, "whole steal"], that_say_something(rows),
                 "Two processes steal one continuation from each other, whose child computes "
                 "meanwhile. A whole steal is look, take and copy, without the acknowledgement, "
                 "which nobody waits for. Between machines it is one message, timed as take, and "
                 "look is one that found nothing. The "
                 f"paper's seven operations take {ns['all']:,.0f} ns over its network, of which "
                 f"suspending and resuming are {ns['both']:,.0f}; the frame has 3,055 bytes.")


def delay_table(result):
    rows = [[runtime, *(value(one_get_us, result.rounds, runtime, part) for part in (50, 90, 99))]
            for runtime in runtimes(result)]
    return Table("One get of 8 bytes from a process that computes, microseconds",
                 ["", "50 %", "90 %", "99 %"], that_say_something(rows),
                 "Of each hundred, so many take no longer.")


def iso_table(result):
    def metric(rounds, problem, runtime, count, name):
        return [line[name] for line in metrics(rounds, problem, runtime, count).values()]

    def steal_ns(rounds, problem, runtime, count):
        known = [line for line in metrics(rounds, problem, runtime, count).values()
                 if line["steals"]]
        if not known:
            raise NotMeasured(f"{runtime} has stolen nothing in {problem}")
        return [sum(line[f"{step}_cycles"] / line[STEPS[step]] for step in ALL_STEPS) / line["ghz"]
                for line in known]
    rows = []
    for problem in compared(result.wish):
        for count in result.wish.workers:
            for runtime in (PROCESS, ISO):
                rows.append([f"{NAMES[problem]}, {count}", runtime,
                             *(value(metric, result.rounds, problem, runtime, count, name)
                               for name in ("region_size", "region_used", "page_faults")),
                             value(steal_ns, result.rounds, problem, runtime, count)])
    return Table("Iso-address beside uni-address (section 4 of the paper)",
                 ["tree and processes", "", "bytes reserved", "bytes used", "page faults",
                  "ns of a steal"], rows,
                 "Bytes of the regions in process 0, which has one for each process with "
                 "iso-address; faults since the session has begun. Over its network, a steal of "
                 "the paper takes 71 % of the time that it takes with iso-address.")


def region_table(result):
    def size(rounds, problem):
        return [line["region_size"] for line in metrics(rounds, problem, PROCESS, 1).values()]
    rows = []
    for problem in computed(result.wish) + large(result.wish):
        known = value(region, result.rounds, problem)
        levels = LEVELS.get(problem)
        rows.append([NAMES[problem], levels, known and int(known.median),
                     known and levels and known.median / levels,
                     value(size, result.rounds, problem)])
    for name, cases in paper.REGION.items():
        rows += [[f"the paper: {name}", depth, used, used / depth if name == "UTS" else None, None]
                 for depth, used in cases.items()]
    return Table("Bytes of the uni-address region (Table 4 of the paper)",
                 ["", "levels", "used", "a level", "size of the region"], rows,
                 "The most that process 0 has used, of all numbers of processes.")


def seconds_table(result):
    def seconds(rounds, problem, runtime, count):
        return list(rounds.column(problem, runtime, count).values())
    counts = sorted({1, TWO, *result.wish.workers})
    rows = []
    for problem in computed(result.wish) + large(result.wish):
        for runtime in [SERIAL, THREADS, *runtimes(result)]:
            if runtime in OF_PAPER:
                continue
            cells = [value(seconds, result.rounds, problem, runtime, c) for c in counts]
            if any(cells):
                rows.append([NAMES[problem], runtime, *cells,
                             value(efficiency, result.rounds, problem, runtime)])
    papers = ", ".join(f"{name} {part}" for name, part in paper.EFFICIENCY.items())
    return Table("Seconds, and the efficiency from 1 to 2 (Figure 11 of the paper)",
                 ["", "runtime", *map(str, counts), "efficiency"], rows,
                 f"Machine with {result.wish.cores} processors: more processes share them. The "
                 f"paper's efficiencies from 480 to 3,840 cores: {papers}.")


def tables(result):
    return [creation_table(result), steal_table(result), delay_table(result), iso_table(result),
            region_table(result), seconds_table(result)]


def lines(result):
    return study_text.blocks(tables(result))


def speed_up_panels(result):
    chosen = [p for p in computed(result.wish) if p not in ("uts@8", FIB)]
    found = {}
    for problem in chosen:
        panel = found[NAMES[problem]] = {}
        for runtime in [THREADS, *(r for r in runtimes(result) if r in RUNTIMES)]:
            points = {c: value(speed_up, result.rounds, problem, runtime, c)
                      for c in result.wish.workers}
            panel[runtime] = {c: known for c, known in points.items() if known}
    return found


def picture(result):
    """How much faster two processes are than one; of transports alone, what a steal takes."""
    speeds = {NAMES[problem]: {runtime: known for runtime in [THREADS, *RUNTIMES] if (
        known := value(speed_up, result.rounds, problem, runtime))}
              for problem in computed(result.wish)}
    if any(speeds.values()):
        return Figure("Speed-up of two processes, or threads, over one",
                      panels.bars(speeds, "T1 / T2", line_at=TWO))
    steals = {"a steal of 3 KB": {runtime: known for runtime in runtimes(result) if (
        known := value(steal_us, result.rounds, runtime))}}
    return Figure("A steal from a busy process", panels.bars(steals, "us, logarithmic", log=True))


def figures(result):
    samples = result.measurement.samples
    metrics_of = {runtime: [line["told"] for line in samples[LATENCY, runtime, TWO].values()]
                  for runtime in runtimes(result) if samples.get((LATENCY, runtime, TWO))}
    steps = {name: {runtime: known for runtime in runtimes(result)
                    if (known := value(step_ns, result.rounds, runtime, [name])) and known.median}
             for name in STEPS}
    return [Figure("Speed-up over one process (Figure 11 of the paper)",
                   panels.curves(speed_up_panels(result), "speed-up", line_at=1),
                   f"There are {result.wish.cores} processors."),
            Figure("Latency of the transports by size (Figure 9 of the paper)",
                   figures_of.latency(figures_of.latencies(metrics_of)),
                   "From a process that waits to one that computes."),
            Figure("Steps of a steal (Figure 10 of the paper)",
                   panels.bars(steps, "nanoseconds", log=True))]
