# SPDX-License-Identifier: MIT
"""What can be measured: names, and the programs that a build directory holds."""

import json
import pathlib
import re

# Of manticore-icfp08, Table 1.
MANTICORE = ["raytracer", "barnes_hut", "merge_sort", "bitonic"]
PROBLEMS = ["fib", "integrate", "nqueens", "quicksort", "matmul", "heat",
            "knapsack", "knapsack_swapped", "rectmul", "strassen", "fibx", "cilksort",
            "fft", "lu", "cholesky", *MANTICORE]
SIZES = ["test", "quick", "paper"]
# They have one worker. `profile` is no competitor: it tells fork depth and stack pages.
SERIAL_RUNTIMES = ["serial", "serial_call", "profile"]
PRESETS = ["nopal", "nopal-nowa", "nopal-nowa-the", "nopal-fibril",
           "nopal-cilkplus"]
COUNTED = ["nopal-counted", "nopal-nowa-counted", "nopal-fibril-counted"]
IVARS, GANG = "nopal-ivars", "nopal-gang"
# After rows of cilk-m-pact10, Figure 2.
HEAP_FRAMES = "heap-frames"
STRATEGIES = [HEAP_FRAMES, "one-stack", "depth-restricted", "reuse-ancestors"]
# After nowa-ipdps21, section II.B.
CHILD_STEALING = "child-stealing"
MAPPED, AT_PAGES = "nopal-mapped", "nopal-mapped-pages"
BEFORE, AGAIN = "nopal-before", "nopal-again"
# Their workers are processes: forked from one, or begun by the launcher of an MPI.
PROCESS = "process"
LAUNCHED = ["process-openmpi", "process-mpich"]
# The same as if each process were on a machine of its own.
OVER_TCP = ["process-openmpi-tcp", "process-mpich-tcp"]
# The same, and MPI alone carries the data.
BY_MESSAGES = ["process-openmpi-messages", "process-mpich-messages"]
# Begun on two hosts, which are namespaces of this machine.
ON_HOSTS = ["process-openmpi-hosts", "process-mpich-hosts"]
# Forked from one, with the paper's queue, and with a region for each process.
OF_PAPER = ["process-the", "process-iso"]
PROCESSES = [PROCESS, *OF_PAPER, *LAUNCHED, *OVER_TCP, *BY_MESSAGES, *ON_HOSTS]
ITOYORI = "itoyori"
# These run programs that call themselves otherwise.
CALLED = {BEFORE: "nopal", AGAIN: "nopal"}
OWN_RUNTIMES = [*SERIAL_RUNTIMES, *PRESETS, *COUNTED, IVARS, GANG, MAPPED, AT_PAGES, *STRATEGIES,
                CHILD_STEALING, *CALLED, *PROCESSES]
# They have none but the four programs of the public board of runtimes.
BOARD = ["board-tbb", "board-libfork", "board-taskflow", "board-toomanycooks"]
RUNTIMES = {
    "serial": "the serial elision, baseline of every ratio",
    "serial_call": "the elision with every fork left a call, baseline of the cost of a fork",
    "profile": "the elision that tells its fork depth and its stack pages",
    "nopal": "Nopal, the stack is the deque",
    "nopal-nowa": "Nopal with the parts of Nowa: Chase-Lev deque, wait-free join",
    "nopal-nowa-the": "Nopal with the parts of Nowa's other variant: THE deque, wait-free join",
    "nopal-fibril": "Nopal with the parts of Fibril: THE deque, locked join, unmaps",
    "nopal-cilkplus": "Nopal with the parts of Cilk Plus: THE deque, locked join, few stacks",
    "nopal-counted": "Nopal, its atomics count",
    "nopal-nowa-counted": "nopal-nowa, its atomics count",
    "nopal-fibril-counted": "nopal-fibril, its atomics count",
    MAPPED: "Nopal on workers that each see one linear stack (nopal/mapped)",
    AT_PAGES: "the same, and each child begins at a page's boundary",
    HEAP_FRAMES: "frames on the heap as in Cilk-5: THE deque, two clones of each function",
    "one-stack": "stolen work runs below all else on the worker's only stack",
    "depth-restricted": "likewise, and nothing shallower than what waits there",
    "reuse-ancestors": "stolen work runs on an ancestor's stack, where one lies idle",
    CHILD_STEALING: "a closure for each forked child, which thieves take, as in oneTBB",
    "nopal-ivars": "Nopal, a fiber and an ivar for each fork, by work stealing",
    "nopal-gang": "Nopal, a one-touch future for each fork, by a gang",
    "nopal-before": "Nopal of an older build, by run.py --before",
    "nopal-again": "Nopal once more, the control of nopal-before",
    "process": "Nopal on processes that are forked from one",
    "process-the": "Nopal on processes with the queue of uni-address-hpdc15",
    "process-iso": "Nopal on processes that keep each task at addresses of its own",
    "process-openmpi": "Nopal on processes that Open MPI begins",
    "process-mpich": "Nopal on processes that MPICH begins",
    "process-openmpi-tcp": "Nopal on processes that Open MPI begins, over TCP",
    "process-mpich-tcp": "Nopal on processes that MPICH begins, over TCP",
    "process-openmpi-messages": "Nopal on processes that Open MPI begins, by its messages over TCP",
    "process-mpich-messages": "Nopal on processes that MPICH begins, by its messages over TCP",
    "process-openmpi-hosts": "Nopal on processes that Open MPI begins on two hosts",
    "process-mpich-hosts": "Nopal on processes that MPICH begins on two hosts",
    "boost": "Boost.Context's fibers",
    "go": "Go's goroutines and channels",
    "tokio": "Tokio's echo server, whose crates cargo fetches",
    "openmp-gcc": "OpenMP tasks of GCC",
    "openmp-llvm": "OpenMP tasks of LLVM",
    "openmp-gcc-untied": "untied OpenMP tasks of GCC",
    "openmp-llvm-untied": "untied OpenMP tasks of LLVM",
    "tbb": "oneTBB's task_group",
    "nowa": "Nowa, by path",
    "nowa-own": "the C programs of Nowa's authors, by path",
    "fibril": "Fibril, by path",
    "fibril-own": "the C programs of Fibril's authors, by path",
    "nopal-c-nowa": "the C programs of Nowa's authors with Nopal's fibril.h",
    "nopal-c-fibril": "the C programs of Fibril's authors with Nopal's fibril.h",
    "lace": "Lace, by path",
    "cheetah": "OpenCilk's runtime, forks lowered by hand, by path",
    "libfork": "libfork, by path",
    "taskflow": "Taskflow, by path",
    "ips4o": "the sort IPS4o, by path",
    "parlay": "parlaylib's sort, by path",
    "board-tbb": "the public board's program for oneTBB, by path",
    "board-libfork": "the public board's program for libfork, by path",
    "board-taskflow": "the public board's program for Taskflow, by path",
    "board-toomanycooks": "the public board's program for TooManyCooks, by path",
    ITOYORI: "Itoyori on processes that MPICH begins, by path",
}
# What a comparison of everything leaves out: they answer questions that only a study asks.
NOT_IN_ALL = ["profile", *COUNTED, IVARS, GANG, MAPPED, AT_PAGES, *STRATEGIES, CHILD_STEALING,
              *CALLED, *PROCESSES, "boost", "go", "tokio", "openmp-gcc-untied",
              "openmp-llvm-untied", ITOYORI,
              "nowa-own", "fibril-own", "nopal-c-nowa", "nopal-c-fibril", "ips4o", "parlay", *BOARD]
# What a program, a case of it or a runtime cannot do without: an OpenMP library reads it before the
# program begins; 256 pages, or 256 frames that begin at a page each, exceed the usual stack.
NEEDED = {"cancelling": {"OMP_CANCELLATION": "true"},
          "known_span@20": {"NOPAL_STACK_SIZE": "4M"}, "known_span@24": {"NOPAL_STACK_SIZE": "4M"},
          AT_PAGES: {"NOPAL_STACK_SIZE": "4M"}}
# Memory that a problem of this size takes: a study leaves it out where less is free.
MEMORY_GIB = {("strassen", "paper"): 11}
STACKS_MAX = 16384
POLICIES = ("budget:SIZE, in bytes or with a suffix K, M or G, budget:unlimited, stacks:N with N "
            f"from 1 to {STACKS_MAX}")
# Each may follow a policy, as +census, and has a variable that asks for it: the run counts live and
# dead pages, or its forks wait until a thief has come. Its time is not to be compared.
MARKS = {"census": "BENCH_CENSUS", "forced": "BENCH_FORCED"}
WORKERS_MAX = 1024


class UsageError(Exception):
    """A bad argument, said in one sentence."""


def choose(text, accepted, what, everything):
    """The names in a comma-separated list, in the order of `accepted`."""
    names = [name.strip() for name in text.split(",")]
    if "all" in names:
        names = names + list(everything)
    for name in names:
        if name != "all" and name not in accepted:
            raise UsageError(
                f"{what} '{name}' is not known; accepted are {', '.join(accepted)} and all.")
    return [name for name in accepted if name in names]


def base(runtime):
    """The runtime of RUNTIME or RUNTIME:POLICY."""
    return runtime.partition(":")[0]


def policy(runtime):
    """The stack policy of RUNTIME:POLICY; empty for the runtime's default."""
    return runtime.partition(":")[2]


def in_order(runtimes):
    """As RUNTIMES has them, each with its policies after it; those that left the project last."""
    place = {name: number for number, name in enumerate(RUNTIMES)}
    return sorted(runtimes, key=lambda runtime: (place.get(base(runtime), len(place)),
                                                 base(runtime), policy(runtime)))


def without_marks(text):
    return text.partition("+")[0]


def marks_of(text):
    return text.split("+")[1:]


def is_policy(text):
    if not set(marks_of(text)) <= set(MARKS):
        return False
    kind, _, amount = without_marks(text).partition(":")
    if kind == "budget":
        return re.fullmatch("[0-9]+[KMG]?|unlimited", amount) is not None
    return (kind == "stacks" and amount.isascii() and amount.isdigit() and
            1 <= int(amount) <= STACKS_MAX)


def environment_of(problem, runtime):
    """What the variables say that a program of RUNTIME:POLICY is run with."""
    text = policy(runtime)
    variables = {MARKS[mark]: "1" for mark in marks_of(text)}
    for name in (problem.partition("@")[0], problem, base(runtime)):
        variables.update(NEEDED.get(name, {}))
    if base(runtime).startswith("process-openmpi"):  # it refuses root, which containers run as
        variables.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    kind, _, amount = without_marks(text).partition(":")
    if kind:
        variables[{"budget": "NOPAL_STACK_BUDGET", "stacks": "NOPAL_MAX_STACKS"}[kind]] = amount
    return variables


def choose_runtimes(text, built):
    """The runtimes in a comma-separated list; ours may carry a stack policy."""
    names = [name.strip() for name in text.split(",")]
    everything = [name for name in built if name not in NOT_IN_ALL]
    choose(",".join(map(base, names)), list(RUNTIMES), "Runtime", everything)
    chosen = set()
    for name in names:
        if ":" not in name:
            chosen.update(everything if name == "all" else [name])
            continue
        if base(name) not in PRESETS:
            raise UsageError(f"Runtime '{name}' is not accepted: a stack policy can be named for "
                             f"{', '.join(PRESETS)} alone.")
        if not is_policy(policy(name)):
            raise UsageError(
                f"Stack policy '{policy(name)}' is not known; accepted are {POLICIES}, and "
                f"each of them with +{' or +'.join(MARKS)}.")
        chosen.add(name)
    return in_order(chosen)


def choose_workers(text):
    """The worker counts in a comma-separated list, ascending."""
    counts = set()
    for word in text.split(","):
        word = word.strip()
        if not word.isascii() or not word.isdigit() or not 1 <= int(word) <= WORKERS_MAX:
            raise UsageError(
                f"-t '{word}' is not a number of workers; accepted are numbers from 1 to "
                f"{WORKERS_MAX}, separated by commas.")
        counts.add(int(word))
    return sorted(counts)


def free_gib():
    text = pathlib.Path("/proc/meminfo").read_text(encoding="ascii")
    return int(re.search(r"MemAvailable: *(\d+) kB", text)[1]) / 2**20


def too_large(problem, size, gib):
    """Why so much memory is too little for the problem; None if it is enough."""
    name, _, own = problem.partition("@")
    needed = MEMORY_GIB.get((name, own if own in SIZES else size), 0)
    if needed <= gib:
        return None
    return f"{name} needs {needed} GiB of memory at size paper, and {gib:.1f} GiB are free."


class Build:
    """The benchmark programs of one build directory."""

    def __init__(self, directory):
        self.bench = pathlib.Path(directory) / "bench"
        try:
            listed = json.loads((self.bench / "programs.json").read_text())
        except (OSError, ValueError) as error:
            raise UsageError(
                f"{directory} holds no benchmarks ({error}); configure and build them first, or "
                "name another build directory with --build.") from error
        self.built = listed["built"]
        self.missing = listed["missing"]
        # Of programs that were packed and left their repository; else None.
        self.commit = listed.get("commit")
        # The folders of those in CALLED.
        self.folders = {}

    def compare_with(self, older):
        """Adds the programs of an older build, and those of this one once more as a control."""
        for runtime, build in ((BEFORE, older), (AGAIN, self)):
            called = CALLED[runtime]
            build.require([called])
            self.built[runtime] = build.built[called]
            self.folders[runtime] = build.bench

    def program(self, problem, runtime):
        name = base(runtime)
        folder = self.folders.get(name, self.bench)
        return folder / f"{problem.partition('@')[0]}-{CALLED.get(name, name)}"

    def launcher(self, runtime, workers):
        """The words before a program whose workers are processes that something else begins."""
        words = self.built.get(base(runtime), {}).get("launcher")
        return [*words, "-n", str(workers)] if words else []

    def has(self, problem, runtime):
        about = self.built.get(base(runtime))
        return about is not None and problem.partition("@")[0] in about["problems"]

    def why_not(self, runtime):
        """The reason why this runtime was not built."""
        return self.missing.get(base(runtime), "it is not part of this build")

    def require(self, runtimes):
        """Every runtime asked for must have been built."""
        for runtime in map(base, runtimes):
            if runtime not in self.built:
                raise UsageError(f"Runtime '{runtime}' was not built: {self.why_not(runtime)}.")

    def require_program(self, problem, runtime):
        """What programs.json lists must lie there."""
        program = self.program(problem, runtime)
        if not program.exists():
            raise UsageError(f"{program} does not exist; build it first (cmake --build "
                             f"{self.bench.parent}).")

    def configurations(self, problems, runtimes, workers):
        """(problem, runtime, workers) for all that exist, and a sentence for each left out."""
        chosen = []
        left_out = []
        for runtime in runtimes:
            without = [p for p in problems if not self.has(p, runtime)]
            if without:
                left_out.append(f"{runtime} has no program for {', '.join(without)}.")
            counts = [1] if runtime in SERIAL_RUNTIMES else workers
            for problem in problems:
                if problem in without:
                    continue
                self.require_program(problem, runtime)
                chosen += [(problem, runtime, count) for count in counts]
        if not chosen:
            raise UsageError("Nothing is left to measure: " + " ".join(left_out))
        return chosen, left_out

    def split(self, wanted, size):
        """Those of the configurations wanted that can run, and a sentence for each runtime that
        was not built or has not all of the programs, and for each problem that is too large."""
        chosen = []
        absent = {}
        large = {}
        gib = free_gib()
        for configuration in dict.fromkeys(wanted):
            problem, runtime, _ = configuration
            reason = too_large(problem, size, gib)
            if reason:
                large[reason] = None
            elif self.has(problem, runtime):
                self.require_program(problem, runtime)
                chosen.append(configuration)
            else:
                absent.setdefault(base(runtime), {})[problem] = None
        left_out = list(large)
        for runtime, problems in absent.items():
            if runtime not in self.built:
                left_out.append(f"{runtime} was not built: {self.why_not(runtime)}.")
            else:
                left_out.append(f"{runtime} has no program for {', '.join(problems)}.")
        if not chosen:
            raise UsageError("Nothing is left to measure: " + " ".join(left_out))
        return chosen, left_out

    def compilers(self):
        return {runtime: about["compiler"] for runtime, about in self.built.items()}
