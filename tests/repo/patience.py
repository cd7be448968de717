# SPDX-License-Identifier: MIT
"""No test states by itself how long it waits before it calls something a hang: tests/patience.h
states it for all, so that no limit is met on a loaded machine.

usage: patience.py ROOT
"""

import re
import sys

import tree

_LIMITS = re.compile(r"\btimeout=\d|\bTIMEOUT \d|\balarm\(\d")


def check(root):
    problems = []
    for path in tree.code_files(root):
        if not path.startswith("tests/") or path.startswith("tests/repo/"):
            continue
        text = tree.read(root, path)
        for match in _LIMITS.finditer(text):
            line = tree.line_of(text, match.start())
            problems.append(f"{path}:{line}: a limit of its own, {match.group(0)!r}")
    return problems


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tree.report(check(sys.argv[1]), len(tree.code_files(sys.argv[1])))
