# SPDX-License-Identifier: MIT
"""Checks that all C++ is as clang-format leaves it; skipped (exit 77) without clang-format-19.

usage: formatted.py ROOT
"""

import collections
import re
import shutil
import subprocess
import sys

import tree

TOOL = "clang-format-19"
FILES = 200


def missing():
    """The name of the tool if it is not there."""
    return None if shutil.which(TOOL) else TOOL


def sources(root):
    return [path for path in tree.cpp_files(root) if not path.endswith(".S")]


def check(root):
    found = collections.Counter()
    paths = sources(root)
    # Most of what the tool takes is its start, so each run has many files.
    for at in range(0, len(paths), FILES):
        command = [TOOL, "--style=file", "--dry-run", "-Werror", *paths[at : at + FILES]]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        places = re.findall(r"(?m)^(\S+?):\d+:\d+: .*clang-format-violations", done.stderr)
        found.update(places)
        if done.returncode != 0 and not places:
            return [f"{TOOL}: {done.stderr}"]
    return [
        f"{path}: {count} places differ; script/format changes them"
        for path, count in sorted(found.items())
    ]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if missing():
        print(f"skipped: {missing()} is not installed")
        sys.exit(77)
    tree.report(check(sys.argv[1]), len(sources(sys.argv[1])))
