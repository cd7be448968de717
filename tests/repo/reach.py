# SPDX-License-Identifier: MIT
"""Checks that a change of a header compiles a part of the tree anew, and not all.

usage: reach.py ROOT ROOM PERCENT

At most so many of all sources (*.cc) include a header of the room, directly or not. A macro that
names a header to include stands for each header that is defined to be its value somewhere.
"""

import collections
import re
import sys

import tree

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:[<"]([^">\n]+)[">]|(\w+))', re.MULTILINE)
_NAMES_A_HEADER = re.compile(r'^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+"([^"\n]+)"', re.MULTILINE)


def includes(root):
    """Path -> the paths that it includes."""
    texts = {path: tree.code_only(tree.read(root, path), keep_strings=True)
             for path in tree.cpp_files(root)}
    macros = collections.defaultdict(set)
    for text in texts.values():
        for name, header in _NAMES_A_HEADER.findall(text):
            macros[name].add(header)
    return {path: {header for literal, macro in _INCLUDE.findall(text)
                   for header in ({literal} if literal else macros[macro]) if header in texts}
            for path, text in texts.items()}


def reached(graph, start):
    found, waiting = set(), [start]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def check(root, room, percent):
    graph = includes(root)
    of_source = [reached(graph, path) for path in graph if path.endswith(".cc")]
    problems = []
    for header in graph:
        if not header.startswith(f"nopal/{room}/") or not header.endswith(".h"):
            continue
        share = 100 * sum(header in found for found in of_source) / max(1, len(of_source))
        if share > float(percent):
            problems.append(
                f"{header}: {share:.1f} % of the sources include it, more than {percent}")
    return problems


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    tree.report(check(*sys.argv[1:]), len(tree.cpp_files(sys.argv[1])))
