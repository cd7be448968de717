# SPDX-License-Identifier: MIT
"""Instructions, loads and stores per fork, which cachegrind counts without noise."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

SHAPES = {"fib": (20, 22), "lambda": (20, 22), "hundred": (100, 300), "invoke": (16, 18)}
# For --n. The harness forks for a fixed time before.
PROBLEMS = {"fib": (20, 27), "five_words": (20, 27), "hundred": (500, 3000)}
FIELDS = ["instructions", "loads", "stores"]
PATTERNS = [r"I +refs: +([\d,]+)", r"D +refs:.*\( *([\d,]+) rd", r"D +refs:.*\+ +([\d,]+) wr"]
TIMEOUT_S = 300


def references(program, words, fields=3):
    """What the program prints, and the first of FIELDS; to count instructions alone takes half."""
    command = ["valgrind", "--tool=cachegrind", f"--cache-sim={'no' if fields == 1 else 'yes'}",
               "--cachegrind-out-file=/dev/null", program, *map(str, words)]
    done = subprocess.run(command, env={**os.environ, "NOPAL_NUM_WORKERS": "1"}, text=True,
                          capture_output=True, check=False, timeout=TIMEOUT_S)
    if done.returncode != 0:
        because = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise ValueError(f"it ended with status {done.returncode}: {because}")
    found = [re.search(pattern, done.stderr) for pattern in PATTERNS[:fields]]
    if None in found:
        raise ValueError("cachegrind printed no counts")
    return done.stdout, [int(match[1].replace(",", "")) for match in found]


def strip(program, to):
    """Valgrind does not read all debug information."""
    done = subprocess.run(["strip", "-g", "-o", to, program], check=False, capture_output=True)
    if done.returncode != 0:
        raise ValueError(f"strip ended with status {done.returncode}")


def per_fork(small, large):
    """Of two runs, each (forks, counts): what one more fork adds."""
    forks = large[0] - small[0]
    return {name: (b - a) / forks for name, a, b in zip(FIELDS, small[1], large[1])}


def of_shape(program, shape):
    runs = []
    for size in SHAPES[shape]:
        printed, counts = references(program, [shape, size])
        runs.append((int(printed), counts))
    return per_fork(*runs)


def of_problem(program, problem):
    runs = []
    for number in PROBLEMS[problem]:
        printed, counts = references(program, ["--size", "test", "--workers", "1", "--n", number])
        runs.append((json.loads(printed.strip().splitlines()[-1])["forks"], counts))
    return per_fork(*runs)


def measure(build, runtimes):
    """"RUNTIME: PROBLEM" or "nopal: SHAPE" -> FIELDS per fork; and sentences about what failed."""
    if shutil.which("valgrind") is None:
        return {}, ["Instructions were not counted: valgrind was not found (valgrind)."]
    wanted = {f"{name}: {problem}": (f"{problem}-{name}", lambda p, q=problem: of_problem(p, q))
              for problem in PROBLEMS for name in runtimes if build.has(problem, name)}
    for shape in SHAPES:
        if shape not in PROBLEMS:
            wanted[f"nopal: {shape}"] = ("shapes", lambda p, s=shape: of_shape(p, s))
    counts, failures = {}, []
    with tempfile.TemporaryDirectory() as scratch:
        for name, (program, count) in wanted.items():
            bare = pathlib.Path(scratch) / program
            try:
                strip(build.bench / program, bare)
                counts[name] = count(str(bare))
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                failures.append(f"The instructions of {name} were not counted: {error}.")
    return counts, failures
