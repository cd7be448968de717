# SPDX-License-Identifier: MIT
"""Compiles each header of nopal/ alone, with each compiler: it must include what it needs.

usage: headers.py ROOT COMPILER...
"""

import concurrent.futures
import os
import subprocess
import sys

import tree

_FLAGS = "-std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror".split()


def compile_alone(root, compiler, path):
    """The first complaint about one header, or None."""
    program = f'#include "{path}"\n#include "{path}"\n'
    command = [compiler, *_FLAGS, "-I", ".", "-x", "c++", "-"]
    # It runs in the root, for that is where it looks for "nopal/..." first.
    done = subprocess.run(
        command, cwd=root, input=program, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return None
    errors = [line for line in done.stderr.split("\n") if "error" in line]
    return f"{path}: {os.path.basename(compiler)}: {(errors or [done.stderr])[0]}"


def headers(root):
    return [path for path in tree.cpp_files(root, "nopal") if path.endswith(".h")]


def check(root, *compilers):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [
            pool.submit(compile_alone, root, compiler, path)
            for compiler in compilers
            for path in headers(root)
        ]
        return [job.result() for job in jobs if job.result()]


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    tree.report(check(*sys.argv[1:]), len(headers(sys.argv[1])))
