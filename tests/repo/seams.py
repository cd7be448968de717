# SPDX-License-Identifier: MIT
"""Checks that atomics stay in base/, assembly in arch/, and that the two never meet.

usage: seams.py ROOT ORDER_PATTERN SWITCH_PATTERN

A file in which ORDER_PATTERN (a memory order) matches may hold no SWITCH_PATTERN (a stack switch).
"""

import re
import sys

import tree

_ATOMIC = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<(atomic|stdatomic\.h)>", re.MULTILINE)
_RAW_ATOMIC = re.compile(r"\bstd::atomic|\b__(?:atomic|sync)_\w+")
_ASM = re.compile(r"\b(asm|__asm|__asm__)\b")


def check(root, order_pattern, switch_pattern):
    order = re.compile(order_pattern)
    switch = re.compile(switch_pattern)
    problems = []
    for path in tree.cpp_files(root, "nopal"):
        text = tree.code_only(tree.read(root, path))
        if not path.startswith("nopal/base/"):
            for match in list(_ATOMIC.finditer(text)) + list(_RAW_ATOMIC.finditer(text)):
                where = f"{path}:{tree.line_of(text, match.start())}"
                problems.append(f"{where}: atomics come from base/, not from {match[0].strip()}")
        problems += assembly(path, text)
        first_order = order.search(text)
        first_switch = switch.search(text)
        if first_order and first_switch:
            where = f"{path}:{tree.line_of(text, first_switch.start())}"
            problems.append(
                f"{where}: {first_switch[0]!r} switches stacks in a file that names a memory "
                f"order ({first_order[0]!r}, line {tree.line_of(text, first_order.start())})"
            )
    return problems


def assembly(path, text):
    if path.startswith("nopal/arch/"):
        return []
    if path.endswith(".S"):
        return [f"{path}: assembly belongs in arch/"]
    return [
        f"{path}:{tree.line_of(text, match.start())}: assembly belongs in arch/"
        for match in _ASM.finditer(text)
    ]


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    tree.report(check(*sys.argv[1:4]), len(tree.cpp_files(sys.argv[1], "nopal")))
