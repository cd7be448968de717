# SPDX-License-Identifier: MIT
"""Checks that the libraries define nothing that another version of Nopal may define too.

usage: symbols.py ROOT NM VERSION HEADER... -- LIBRARY...

NM is the program that lists symbols, and VERSION two numbers, as 0.1. A symbol of an archive, or
one that a shared library shows, is right

    in nopal's inline namespace of the version (NOPAL_ABI in nopal/config.h)
    without a namespace, if its name ends with the version (nopal/arch/names.h)
    as a function that a HEADER declares for users, or a name that they give to the linker
    if nopal is no part of it, and another file may define it too: a template of others, compiled

A shared library gives all that it shows the version NOPAL_<VERSION>. So a process may contain
several versions. The rule is for builds without checks and without sanitizers.
"""

import re
import subprocess
import sys

import tree

_FOR_THE_LINKER = {"nopal_mapped_start", "nopal_plain_stacks"}
_DECLARED = re.compile(r"\b((?:nopal|fibril)_\w+)\(")
_SYMBOL = re.compile(r"^(?:[0-9a-f]+)? +([A-Za-z]) (\S+)$", re.MULTILINE)


def listed(nm, library):
    """(kind, name) of what the library defines for others, and what went wrong."""
    shared = [] if library.endswith(".a") else ["--dynamic"]
    command = [nm, "--extern-only", "--defined-only", *shared, library]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return [], [f"{nm}: {line}" for line in done.stderr.split("\n") if line]
    found = _SYMBOL.findall(done.stdout)
    return found, [] if found else [f"{library}: {nm} lists no symbol"]


def is_right(kind, name, version, declared):
    if name.startswith(("nopal_", "fibril_")):
        return name in declared or name.endswith(f"_{version}")
    if "nopal" in name:
        own = f"{len(version)}{version}"
        return name.count("5nopal") == name.count("5nopal" + own) > 0
    return kind in "WVu"


def check(root, nm, version, *rest):
    split = rest.index("--")
    declared = set(_FOR_THE_LINKER)
    for header in rest[:split]:
        declared.update(_DECLARED.findall(tree.code_only(tree.read(root, header))))
    node = f"NOPAL_{version}"
    inline_namespace = "v" + version.replace(".", "_")
    problems = []
    for library in rest[split + 1 :]:
        found, wrong = listed(nm, library)
        problems += wrong
        for kind, text in found:
            name, _, of_version = text.replace("@@", "@").partition("@")
            if kind == "A" and name == node:
                continue
            if not is_right(kind, name, inline_namespace, declared):
                problems.append(f"{library}: {name} has no version; see nopal/arch/names.h")
            if not library.endswith(".a") and of_version != node:
                problems.append(f"{library}: {name} is not shown as one of {node}")
    return sorted(set(problems))


if __name__ == "__main__":
    if len(sys.argv) < 6 or "--" not in sys.argv:
        sys.exit(__doc__)
    tree.report(check(*sys.argv[1:]), len(sys.argv) - sys.argv.index("--") - 1)
