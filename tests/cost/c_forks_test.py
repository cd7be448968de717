#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Counts the instructions and stores of a fork in C, as fork_cost_test.py does in C++.

usage: c_forks_test.py SOURCE-ROOT LIBRARIES COMPILER...

Compiles c_forks.c with each compiler of C and runs its shapes under cachegrind with one worker. A
fork must cost no more than the number below: for fib that is less than a fork in C++. A number
that names a shape is that of the arguments, of which six are in registers.
"""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from runner.studies import _counted  # pylint: disable=wrong-import-position

# Per fork: instructions, stores; of GCC 12 and Clang 19, whichever has more, and one.
AT_MOST = {
    "fib": (61.6, 17.5), "eight": (117.2, 38.1), "0": (44.2, 13.1), "6": (51.2, 13.1),
    "7": (77.2, 25.1), "10": (83.2, 30.1), "16": (101.2, 42.1), "invoke": (191.2, 55.1),
    "ten": (149.2, 50.1),
}
# GCC makes the base case a function of its own, which saves no registers (nopal/arch/c.h).
AT_MOST_BY_GCC = {"ten": (134.2, 45.5)}
SIZES, TIMES = (20, 22), (2000, 6000) # of what calls itself, and of loops


def counted(program, shape):
    runs = []
    for size in TIMES if shape.isdigit() else SIZES:
        printed, counts = _counted.references(program, [shape, size])
        runs.append((int(printed), counts))
    found = _counted.per_fork(*runs)
    return [found["instructions"], found["stores"]]


def main():
    root, libraries, *compilers = sys.argv[1:]
    good = True
    for compiler in compilers:
        with tempfile.TemporaryDirectory() as folder:
            program = str(pathlib.Path(folder) / "c_forks")
            subprocess.run([compiler, "-std=gnu11", "-O2", f"-I{root}", f"-I{root}/nopal/c",
                            f"{root}/tests/cost/c_forks.c", *libraries.split(";"), "-lstdc++",
                            "-pthread", "-Wl,--strip-debug", "-o", program], check=True)
            by_gcc = {} if "clang" in pathlib.Path(compiler).name else AT_MOST_BY_GCC
            for shape, limits in (AT_MOST | by_gcc).items():
                counts = counted(program, shape)
                fine = all(a <= b for a, b in zip(counts, limits))
                good &= fine
                columns = [f"{a:7.2f} of {b:7.1f}" for a, b in zip(counts, limits)]
                print(f"{pathlib.Path(compiler).name:10} {shape:6} instructions, stores  "
                      f"{'  '.join(columns)}{'' if fine else '   BAD'}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
