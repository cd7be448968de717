# SPDX-License-Identifier: MIT
"""Compiles each header of nopal/ alone, with each compiler: it must include what it needs.

usage: headers.py ROOT [--public] COMPILER...

With --public, those that programs include. The first compiler is the one that builds the library.
With that one, a header that is the first include of a source beside it has been compiled by the
build.
"""

import concurrent.futures
import os
import re
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


def headers(root, public=False):
    """All, or those directly in nopal/ and nopal/c/."""
    return [path for path in tree.cpp_files(root, "nopal") if path.endswith(".h")
            and (not public or os.path.dirname(path) in ("nopal", "nopal/c"))]


def has_been_compiled(root, path):
    source = path.removesuffix(".h") + ".cc"
    if not os.path.exists(os.path.join(root, source)):
        return False
    if "#pragma once" not in tree.read(root, path):
        return False
    first = re.search(r"^\s*#\s*(\w+)\s*(\S*)", tree.read(root, source), re.MULTILINE)
    return first is not None and first.groups() == ("include", f'"{path}"')


def check(root, *compilers):
    public = compilers[0] == "--public"
    compilers = compilers[public:]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [
            pool.submit(compile_alone, root, compiler, path)
            for compiler in compilers
            for path in headers(root, public)
            if compiler != compilers[0] or not has_been_compiled(root, path)
        ]
        return [job.result() for job in jobs if job.result()]


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    tree.report(check(*sys.argv[1:]), len(headers(sys.argv[1], "--public" in sys.argv)))
