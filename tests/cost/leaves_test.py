#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Counts the instructions of serial code in functions that fork, beside the serial elision's.

usage: leaves_test.py SOURCE-ROOT LIBRARY LEVELS COMPILER...

Compiles leaves.cc with each compiler at each of the levels ("-O2 -O3"), as it is and as its serial
elision, and runs each of its kinds under cachegrind with one worker, once for each of TIMES. The
difference of the two runs is the work itself. With nopal::leaf it must cost at most three
hundredths more than in the elision.
"""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from runner.studies import _counted  # pylint: disable=wrong-import-position

KINDS = ["product", "stencil", "sort", "bits", "histogram", "forces", "loop"]
TIMES = (1, 3)
AT_MOST = 1.03
# With vector instructions, but only those that valgrind knows.
PROCESSOR = "-march=x86-64-v3"
SKIPPED = 77


def build(root, library, compiler, level, folder):
    """Returns the two programs, first the one with forks, then its elision."""
    source = pathlib.Path(root) / "tests" / "cost" / "leaves.cc"
    programs = []
    for name, flags in (("nopal", []), ("serial", ["-DNOPAL_SERIAL"])):
        program = pathlib.Path(folder) / name
        subprocess.run([compiler, "-std=c++20", level, PROCESSOR, *flags, f"-I{root}", str(source),
                        library, "-pthread", "-o", str(program)], check=True)
        programs.append(str(program))
    return programs


def instructions(program, kind):
    """Returns the instructions of the work alone, and what the runs printed."""
    runs = [_counted.references(program, [kind, times], fields=1) for times in TIMES]
    return runs[1][1][0] - runs[0][1][0], [printed for printed, _ in runs]


def main():
    root, library, levels, *compilers = sys.argv[1:]
    if " avx2 " not in pathlib.Path("/proc/cpuinfo").read_text():
        print(f"skipped: this processor does not run {PROCESSOR}")
        sys.exit(SKIPPED)
    good = True
    for compiler in compilers:
        for level in levels.split():
            with tempfile.TemporaryDirectory() as folder:
                programs = build(root, library, compiler, level, folder)
                for kind in KINDS:
                    (ours, printed), (serial, expected) = (instructions(program, kind)
                                                           for program in programs)
                    fine = printed == expected and ours <= AT_MOST * serial
                    good &= fine
                    print(f"{pathlib.Path(compiler).name:12} {level}  {kind:9} {ours:11,} of the "
                          f"elision's {serial:11,}: {ours / serial:.3f}"
                          f"{'' if fine else '   BAD'}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
