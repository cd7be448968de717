# SPDX-License-Identifier: MIT
"""Checks that shared libraries are built as distributions want them (hardening-check).

usage: hardened.py ROOT READELF VERSION LIBRARY...

All symbols are bound when the library is loaded, and then its tables become read-only (full RELRO);
no segment can be written and executed, and the code has no relocations; the stack is not
executable; functions with arrays mark their frames, and calls of the C library that write to arrays
are checked.
The name that programs are linked with ends with the VERSION, as 0.1. The rule is for optimised
builds without sanitizers.
"""

import re
import subprocess
import sys

import tree

# (what is missing, what readelf prints where it is there)
_NEEDED = (
    ("is not bound when it is loaded (-z now)", r"^.*\(FLAGS(?:_1)?\).*\b(?:BIND_)?NOW\b"),
    ("has tables that stay writable (-z relro)", r"^ *GNU_RELRO "),
    ("does not say that the stack is not executable (-z noexecstack)", r"^ *GNU_STACK .* RW +0x"),
    ("marks no frames (-fstack-protector-strong)", r" UND __stack_chk_fail\b"),
    ("has no checked calls (-D_FORTIFY_SOURCE)", r" UND __(?!stack_chk)\w+_chk\b"),
)
_REFUSED = (
    ("has a segment that can be written and executed", r"^ *\w+ .* RWE +0x"),
    ("has relocations in its code (it was compiled without -fPIC)", r"\bTEXTREL\b"),
)


def check(_root, readelf, version, *libraries):
    problems = []
    for library in libraries:
        command = [readelf, "-W", "--program-headers", "--dynamic", "--dyn-syms", library]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            problems.append(f"{library}: {done.stderr.strip()}")
            continue
        needed = (*_NEEDED, (f"has a name without {version} (SOVERSION)",
                             rf"\(SONAME\).*\.so\.{re.escape(version)}\]"))
        for wanted, rules in ((True, needed), (False, _REFUSED)):
            problems += [f"{library} {problem}" for problem, pattern in rules
                         if (re.search(pattern, done.stdout, re.MULTILINE) is not None) != wanted]
    return problems


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    tree.report(check(*sys.argv[1:]), len(sys.argv) - 4)
