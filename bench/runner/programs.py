# SPDX-License-Identifier: MIT
"""What can be measured: names, and the programs that a build directory holds."""

import json
import pathlib

PROBLEMS = ["fib", "integrate", "nqueens", "quicksort", "matmul", "heat"]
SIZES = ["test", "quick", "paper"]
SERIAL_RUNTIMES = ["serial", "serial_call"]
OWN_RUNTIMES = SERIAL_RUNTIMES + ["nopal", "nopal-split"]
RUNTIMES = {
    "serial": "the serial elision, baseline of every ratio",
    "serial_call": "the elision with every fork left a call, baseline of the cost of a fork",
    "nopal": "Nopal, the stack is the deque",
    "nopal-split": "Nopal with the split deque",
    "openmp-gcc": "OpenMP tasks of GCC",
    "openmp-llvm": "OpenMP tasks of LLVM",
    "tbb": "oneTBB's task_group",
    "nowa": "Nowa, by path",
    "fibril": "Fibril, by path",
    "lace": "Lace, by path",
    "libfork": "libfork, by path",
}
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

    def program(self, problem, runtime):
        return self.bench / f"{problem}-{runtime}"

    def has(self, problem, runtime):
        return runtime in self.built and problem in self.built[runtime]["problems"]

    def require(self, runtimes):
        """Every runtime asked for must have been built."""
        for runtime in runtimes:
            if runtime not in self.built:
                reason = self.missing.get(runtime, "it is not part of this build")
                raise UsageError(f"Runtime '{runtime}' was not built: {reason}.")

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
                if not self.program(problem, runtime).exists():
                    raise UsageError(f"{self.program(problem, runtime)} does not exist; build "
                                     f"it first (cmake --build {self.bench.parent}).")
                chosen += [(problem, runtime, count) for count in counts]
        if not chosen:
            raise UsageError("Nothing is left to measure: " + " ".join(left_out))
        return chosen, left_out

    def compilers(self):
        return {runtime: about["compiler"] for runtime, about in self.built.items()}
