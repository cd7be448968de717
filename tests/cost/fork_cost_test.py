#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Counts the instructions and stores of a fork, which tell without noise whether it got dearer.

usage: fork_cost_test.py SHAPES VALGRIND COMPILER-ID COMPILER-VERSION

Runs the program of shapes.cc under cachegrind with one worker, each shape at two sizes. The
difference of the counts over that of the forks is what a fork and the work between two forks cost.
It must be the number below, give or take one: who makes it smaller writes the new number here.
"""

import os
import re
import subprocess
import sys

SIZES = {"fib": (20, 22), "lambda": (20, 22), "hundred": (100, 300), "invoke": (16, 18)}
# Per fork: instructions, stores.
EXPECTED = {
    "GNU 12": {
        "fib": (72.0, 21.0),
        "lambda": (98.0, 27.0),
        "hundred": (50.1, 11.0),
        "invoke": (143.2, 41.0),
    },
    "Clang 19": {
        "fib": (66.0, 19.0),
        "lambda": (93.0, 25.0),
        "hundred": (47.2, 10.3),
        "invoke": (142.0, 46.0),
    },
}
TOLERANCE = 1.0
SKIPPED = 77


def count(program, valgrind, shape, size):
    """Forks, instructions and stores of one run."""
    command = [valgrind, "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null",
               program, shape, str(size)]
    environment = {**os.environ, "NOPAL_NUM_WORKERS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    numbers = [re.search(pattern, done.stderr)[1].replace(",", "")
               for pattern in (r"I +refs: +([\d,]+)", r"D +refs:.*\+ +([\d,]+) wr")]
    return [int(done.stdout), *map(int, numbers)]


def per_fork(program, valgrind, shape):
    small, large = (count(program, valgrind, shape, size) for size in SIZES[shape])
    forks, instructions, stores = (b - a for a, b in zip(small, large))
    return instructions / forks, stores / forks


def main():
    program, valgrind, compiler, version = sys.argv[1:]
    name = f"{compiler} {version.partition('.')[0]}"
    if name not in EXPECTED:
        print(f"skipped: there are no numbers for {name}, only for {', '.join(EXPECTED)}")
        sys.exit(SKIPPED)
    good = True
    print(f"per fork with {name}   instructions           stores")
    for shape, expected in EXPECTED[name].items():
        counted = per_fork(program, valgrind, shape)
        fine = all(abs(a - b) <= TOLERANCE for a, b in zip(counted, expected))
        good &= fine
        print(f"{shape:20}" + "".join(f"  {a:7.2f} of {b:7.1f}" for a, b in zip(counted, expected)) +
              ("" if fine else "   BAD"))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
