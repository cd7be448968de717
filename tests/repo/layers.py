# SPDX-License-Identifier: MIT
"""Checks that a file of a layer includes only its own layer and lower ones.

usage: layers.py ROOT LAYER...     the layers, lowest first

A LAYER with a dot in it is one file directly in nopal/, ranked among the folders. The other
files directly in nopal/ are the public API: they may include anything and no layer includes them.
"""

import re
import sys

import tree

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def layer_of(path):
    """The layer of a path below nopal/: its folder, or its own name."""
    parts = path.split("/")
    return parts[1] if len(parts) > 1 else None


def check(root, *order):
    rank = {name: place for place, name in enumerate(order)}
    problems = []
    for path in tree.cpp_files(root, "nopal"):
        mine = layer_of(path)
        public = path.count("/") == 1 and mine not in rank
        if not public and mine not in rank:
            problems.append(f"{path}: nopal/{mine}/ is not one of the layers {' '.join(order)}")
            continue
        text = tree.code_only(tree.read(root, path), keep_strings=True)
        for match in _INCLUDE.finditer(text):
            where = f"{path}:{tree.line_of(text, match.start())}"
            problem = judge(match.group(1), match.group(2), mine, public, rank)
            if problem:
                problems.append(f"{where}: {problem}")
    return problems


def judge(quote, target, mine, public, rank):
    """What is wrong with one include, or None."""
    if not target.startswith("nopal/"):
        if quote == '"':
            return f'"{target}" is not written as a path from the repository\'s root'
        return None
    theirs = layer_of(target)
    if public:
        return None
    if theirs not in rank:
        return f"layer {mine} includes {target}, which belongs to the public API"
    if rank[theirs] > rank[mine]:
        return f"layer {mine} includes {target} of the higher layer {theirs}"
    return None


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    tree.report(check(*sys.argv[1:]), len(tree.cpp_files(sys.argv[1], "nopal")))
