# SPDX-License-Identifier: MIT
"""Runs the programs of the interop matrix and prints what came out, as a table.

usage: table.py [--checks] PROGRAM=LIBRARY...
                --checks    the programs were built with NOPAL_CHECKS, so they must diagnose
                            what is unsafe; else this is not run

Exits with 1 if a cell is not as it should be. PROGRAM may hold arguments, split at spaces.
"""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from patience import SECONDS  # pylint: disable=wrong-import-position

# Calls that must not be made at level 3 (nopal/affine.h): why, and a word of a check build's
# message.
UNSAFE = {
    "dl_iterate_phdr": ("it holds a lock of the dynamic linker's, which belongs to a thread",
                        "dl_iterate_phdr"),
    "sqlite3_exec (serialized)": ("its mutex belongs to a thread", "mutex"),
    "a function (serialized)": ("its mutex belongs to a thread", "mutex"),
    "a collation (serialized)": ("its mutex belongs to a thread", "mutex"),
    "ctypes, and back": ("the interpreter's frames belong to a thread", "Python"),
}


def lines_of(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    return done.stdout.splitlines()


def run(command, case, level):
    """What the program said, and whether it ended well."""
    try:
        done = subprocess.run([*command, case, str(level)], capture_output=True, text=True,
                              timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"not done after {SECONDS} s", False, ""
    if done.returncode == 0:
        return done.stdout.strip(), True, ""
    said = (done.stdout + done.stderr).strip()
    last = said.splitlines()[-1][:120] if said else "no word"
    return f"exit {done.returncode}: {last}", False, said


def level_3(command, case, checks):
    """The text of the cell, and whether it is as it should be."""
    if case not in UNSAFE:
        text, well, _ = run(command, case, 3)
        return text, well
    why, word = UNSAFE[case]
    if not checks:
        return f"unsafe: {why}", True
    text, well, said = run(command, case, 3)
    if well or "nopal: " not in said or word not in said:
        return f"NOT DIAGNOSED: {text}", False
    return f"unsafe: {why}; diagnosed", True


def main(arguments):
    checks = "--checks" in arguments
    programs = [argument.rpartition("=") for argument in arguments if argument != "--checks"]
    if not programs or any(not program for program, _, _ in programs):
        sys.exit(__doc__)
    rows = []
    all_well = True
    for program, _, library in programs:
        command = program.split()
        for case in lines_of(command):
            text, well, _ = run(command, case, 2)
            third, third_well = level_3(command, case, checks)
            rows.append((library, case, text, third))
            all_well = all_well and well and third_well
    head = ("library", "call", "level 2: affine", "level 3: free migration")
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        cells = [cell.ljust(width) for cell, width in zip(row, widths)]
        print("interop: " + "  ".join(cells).rstrip())
    return 0 if all_well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
