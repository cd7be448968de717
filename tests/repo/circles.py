# SPDX-License-Identifier: MIT
"""Checks that no files of nopal/ include each other in a circle.

usage: circles.py ROOT "UNIT UNIT ..."...     the circles that are allowed; paths lack nopal/

A UNIT is a header and the source of its name, which count as one: sched/park is sched/park.h and
sched/park.cc. An argument that is no circle, or not a whole one, is a problem too, so the list
only shrinks.
"""

import collections
import sys

import tree


def unit_of(path):
    return path.removeprefix("nopal/").rpartition(".")[0]


def includes(root):
    """Unit -> the units that it includes."""
    graph = collections.defaultdict(set)
    for path in tree.cpp_files(root, "nopal"):
        unit = unit_of(path)
        graph[unit].update(map(unit_of, tree.included(root, path)))
        graph[unit].discard(unit)
    return dict(graph)


def circles(graph):
    """The largest sets of units of which each includes each other, directly or not."""
    reached = {}
    for unit in graph:
        found, waiting = set(), [unit]
        while waiting:
            new = graph.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        reached[unit] = found
    together = {frozenset(other for other in reached[unit] if unit in reached.get(other, ()))
                for unit in graph if unit in reached[unit]}
    return sorted(together, key=sorted)


def check(root, *allowed):
    found = circles(includes(root))
    known = {frozenset(words.split()): words for words in allowed}
    problems = [f"'{' '.join(sorted(circle))}': a circle of includes" for circle in found
                if circle not in known]
    return problems + [f"'{words}' is no circle any more, or not a whole one; take it off the list"
                       for circle, words in known.items() if circle not in found]


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tree.report(check(*sys.argv[1:]), len(tree.cpp_files(sys.argv[1], "nopal")))
