# SPDX-License-Identifier: MIT
"""Checks that all C++ is as clang-format leaves it; skipped (exit 77) without clang-format-19.

usage: formatted.py ROOT
"""

import os
import shutil
import subprocess
import sys

import tree

TOOL = "clang-format-19"


def missing():
    """The name of the tool if it is not there."""
    return None if shutil.which(TOOL) else TOOL


def sources(root):
    return [path for path in tree.cpp_files(root) if not path.endswith(".S")]


def check(root):
    problems = []
    for path in sources(root):
        command = [TOOL, "--style=file", "--dry-run", "-Werror", os.path.join(root, path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            count = done.stderr.count("clang-format-violations")
            problems.append(f"{path}: {count} places differ; script/format changes them")
    return problems


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if missing():
        print(f"skipped: {missing()} is not installed")
        sys.exit(77)
    tree.report(check(sys.argv[1]), len(sources(sys.argv[1])))
