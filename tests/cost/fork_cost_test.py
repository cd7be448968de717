#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Counts the instructions and stores of a fork: they show without noise whether it got dearer.

usage: fork_cost_test.py SHAPES COMPILER-ID COMPILER-VERSION

Runs the program of bench/shapes.cc under cachegrind with one worker, each shape at two sizes. The
difference of the counts, divided by the difference of the forks, is what a fork and the work
between two forks cost. It must be the number below, give or take one. A change that makes it
smaller writes the new number here.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from runner.studies import _counted  # pylint: disable=wrong-import-position

# Per fork: instructions, stores.
EXPECTED = {
    "GNU 12": {
        "fib": (72.0, 21.0),
        "lambda": (97.0, 27.0),
        "hundred": (47.2, 11.0),
        "invoke": (91.0, 30.0),
    },
    "Clang 19": {
        "fib": (66.0, 19.0),
        "lambda": (93.0, 25.0),
        "hundred": (42.2, 10.3),
        "invoke": (83.0, 27.0),
    },
}
TOLERANCE = 1.0
SKIPPED = 77


def main():
    program, compiler, version = sys.argv[1:]
    name = f"{compiler} {version.partition('.')[0]}"
    if name not in EXPECTED:
        print(f"skipped: there are no numbers for {name}, only for {', '.join(EXPECTED)}")
        sys.exit(SKIPPED)
    good = True
    print(f"per fork with {name}   instructions           stores")
    for shape, expected in EXPECTED[name].items():
        counts = _counted.of_shape(program, shape)
        counted = [counts["instructions"], counts["stores"]]
        fine = all(abs(a - b) <= TOLERANCE for a, b in zip(counted, expected))
        good &= fine
        columns = [f"{a:7.2f} of {b:7.1f}" for a, b in zip(counted, expected)]
        print(f"{shape:20}  {'  '.join(columns)}{'' if fine else '   BAD'}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
