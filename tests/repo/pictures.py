# SPDX-License-Identifier: MIT
"""Checks that the pictures of HACKING.md are what script/pictures draws from the sources.

usage: pictures.py ROOT
"""

import os
import subprocess
import sys

import tree

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../script/pictures")


def check(root):
    command = [sys.executable, SCRIPT, "--check", "--root", root]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = (done.stdout + done.stderr).splitlines()
    return said if done.returncode == 0 or said else [f"{SCRIPT} ended with {done.returncode}"]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tree.report(check(sys.argv[1]), len(tree.cpp_files(sys.argv[1], "nopal")))
