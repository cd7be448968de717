# SPDX-License-Identifier: MIT
"""Checks that a file of nopal/ that names a macro of config.h includes config.h itself. The header
of a .cc file, of the same path and stem, may include it in the file's place. And that one file
alone reads the environment, which a set-user-ID program must not obey.

usage: config.py ROOT

NOPAL_ABI is such a macro: a file that opened that namespace without the macro would declare other
things than it means, and no compiler would say so. The same holds for a macro in an #if.
"""

import re
import sys

import tree

_CONFIG = "nopal/config.h"
_ENVIRONMENT = "nopal/config/environment.cc"
_READS = re.compile(r"\b(?:secure_)?getenv\b|\benviron\b")
_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(NOPAL_\w+)", re.MULTILINE)


def includes(root, path, header):
    text = tree.code_only(tree.read(root, path), keep_strings=True)
    return re.search(rf'^[ \t]*#[ \t]*include[ \t]*"{re.escape(header)}"', text, re.MULTILINE)


def has_config(root, path):
    own = path.removesuffix(".cc") + ".h"
    if includes(root, path, _CONFIG):
        return True
    return own != path and includes(root, path, own) and includes(root, own, _CONFIG)


def check(root):
    problems = [
        f"{path}:{tree.line_of(tree.read(root, path), match.start())}: names {match[0]}, which "
        f"only {_ENVIRONMENT} does; ask config::variable"
        for path in tree.cpp_files(root, "nopal")
        if path != _ENVIRONMENT
        for match in _READS.finditer(tree.code_only(tree.read(root, path)))
    ]
    macros = set(_DEFINED.findall(tree.code_only(tree.read(root, _CONFIG))))
    for path in tree.cpp_files(root, "nopal"):
        text = tree.read(root, path)
        if path == _CONFIG or has_config(root, path):
            continue
        for match in re.finditer(r"\bNOPAL_\w+", tree.code_only(text)):
            if match[0] in macros:
                where = f"{path}:{tree.line_of(text, match.start())}"
                problems.append(f'{where}: names {match[0]} and does not include "{_CONFIG}"')
                break
    if not macros:
        problems.append(f"{_CONFIG}: defines no macro")
    return problems


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tree.report(check(sys.argv[1]), len(tree.cpp_files(sys.argv[1], "nopal")))
