# SPDX-License-Identifier: MIT
"""Python calls C, C forks, children call Python, Python calls C, and that forks.

usage: python.py LIBRARY [CASE LEVEL]     as the other programs of the matrix (foreign.h)
"""

import ctypes
import sys

CASE = "ctypes, and back"


def main(library, level):
    nopal = ctypes.CDLL(library)
    callback = ctypes.CFUNCTYPE(None, ctypes.c_int)
    nopal.nopal_interop_work.restype = ctypes.c_long
    nopal.nopal_interop_choose_level(level)
    calls = []
    wrong = []

    def visit(n):
        # A Python frame below and one above the call that forks.
        if [nopal.nopal_interop_work(n) for n in (5, 6)] != [5, 8]:
            wrong.append(n)
        calls.append(n)

    rounds = 0
    kept = callback(visit)
    while not wrong and not nopal.nopal_interop_enough():
        nopal.nopal_interop_for_each(4, kept)
        rounds += 1
    right = not wrong and len(calls) == 4 * rounds and set(calls) == {0, 1, 2, 3}
    moved = nopal.nopal_interop_moved()
    print(f"{2 * len(calls)} callbacks, {nopal.nopal_interop_elsewhere()} ended elsewhere, "
          f"{moved} moved{'' if right else ', and a result is wrong'}")
    return 0 if right and (level == 3 or moved == 0) else 1


if __name__ == "__main__":
    if len(sys.argv) == 2:
        print(CASE)
    elif len(sys.argv) == 4 and sys.argv[2] == CASE and sys.argv[3] in ("2", "3"):
        sys.exit(main(sys.argv[1], int(sys.argv[3])))
    else:
        sys.exit(__doc__)
