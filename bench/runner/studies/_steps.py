# SPDX-License-Identifier: MIT
"""The scheduler's single steps, which the program `steps` measures: how it is run, and what its
samples say."""

import json
import statistics
import subprocess
import sys

from runner.programs import UsageError
from runner.rounds import Value
from runner.summary import percentile

PROGRAM = "steps"
# Each is a process for each number of workers, in turn, so that drifts of the machine meet all.
ROUNDS = 3
TIMEOUT_S = 30
WITH_ONE = ["fork"]
WITH_MORE = ["steal", "wake", "wake_all", "sleep"]
STEPS = WITH_ONE + WITH_MORE


def steps_with(count):
    return WITH_ONE if count == 1 else WITH_MORE


def words(count):
    return f"{PROGRAM} with {count} worker{'s' if count > 1 else ''}"


def said_by(build, *words):
    program = build.bench / PROGRAM
    done = subprocess.run([str(program), *words], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=TIMEOUT_S)
    if done.returncode != 0:
        because = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise ValueError(f"it ended with status {done.returncode}: {because}")
    return done.stdout


def cpus(build):
    """How many workers Nopal itself would start here: CPUs, affinity and the cgroup's quota."""
    try:
        return int(said_by(build, "--cpus"))
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"{build.bench / PROGRAM} does not tell the number of CPUs ({error}); "
                         "build it first.") from error


def one_run(build, count):
    """Step -> samples in nanoseconds, of one process."""
    line = json.loads(said_by(build, "--workers", str(count)))
    wanted = steps_with(count)
    if set(line) != {"workers", *wanted} or line["workers"] != count:
        raise ValueError("it did not print one JSON line with the steps expected")
    for step in wanted:
        if not line[step] or not all(isinstance(sample, (int, float)) for sample in line[step]):
            raise ValueError(f"it has no samples of {step}")
    return {step: line[step] for step in wanted}


def measure(build, counts):
    """Workers, as text for JSON -> step -> samples; and sentences about what failed."""
    taken = {str(count): {step: [] for step in steps_with(count)} for count in counts}
    failures = []
    broken = set()
    for number in range(1, ROUNDS + 1):
        print(f"steps of the scheduler, round {number} of {ROUNDS}", file=sys.stderr)
        for count in counts:
            if count in broken:
                continue
            try:
                for step, samples in one_run(build, count).items():
                    taken[str(count)][step] += samples
            except subprocess.TimeoutExpired:
                broken.add(count)
                failures.append(f"{words(count)} ran past {TIMEOUT_S} s and is not tried again.")
            except (OSError, ValueError) as error:
                broken.add(count)
                failures.append(f"{words(count)} failed: {error}.")
    return taken, failures


def value(taken, count, step, unit_ns=1):
    """The Value of a step, or None where it has no samples."""
    samples = [sample / unit_ns for sample in taken.get(str(count), {}).get(step, [])]
    if not samples:
        return None
    return Value(statistics.median(samples), percentile(samples, 0.1), percentile(samples, 0.9))
