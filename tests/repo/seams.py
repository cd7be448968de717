# SPDX-License-Identifier: MIT
"""Checks that atomics stay in base/ and assembly in arch/, that operations of atomics name their
orders, and that a file that changes stacks touches no atomic.

usage: seams.py ROOT SWITCHER...

A SWITCHER is a file that may change stacks, that is call a function nopal_arch_*; so may the files
of arch/, and no others. These files hold no memory order, no atomic, no operation of an atomic and
no fence: a fence is one half of a protocol, and the models check whole protocols.

Everywhere in nopal/ an operation of an atomic names its orders, a compare-and-swap both.

The rule reads text, so there are things that it does not see: a change of stacks through a pointer
or a macro; the use of an atomic by its name alone (operators.py says how far that is seen).
"""

import re
import sys

import operators
import tree

_ATOMIC = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<(atomic|stdatomic\.h)>", re.MULTILINE)
_RAW_ATOMIC = re.compile(r"\bstd::atomic|\b__(?:atomic|sync)_\w+")
_ASM = re.compile(r"\b(asm|__asm|__asm__)\b")

_SWITCH = re.compile(r"\bnopal_arch_\w+\s*\(|\barch::(?:suspend|park|resume|leave|call_on)\w*\s*\(")
# `stack::acquire(...)` and `stack::release(...)` are calls; an order is not called.
_ORDER_NAME = r"\b(?:memory_order\w*|relaxed|acq_rel|seq_cst|(?:acquire|release)\b(?!\s*\())"
_ORDER = re.compile(r"(?:\bbase::)?" + _ORDER_NAME)
_FENCE = re.compile(r"\b(?:\w*fence|\w*barrier|acquire_what_was_read|\w+_word)\s*\(")
_ATOMIC_TYPE = re.compile(r"\batomic\s*<")
_OPERATION = re.compile(
    r"(?:\.|->)\s*(load|store|exchange|fetch_\w+|compare_exchange_\w+|test_and_set)\s*(\()"
)


def check(root, *switchers):
    problems = []
    texts = {path: tree.code_only(tree.read(root, path)) for path in tree.cpp_files(root, "nopal")}
    for path, text in texts.items():
        found = atomics(path, text) + assembly(path, text)
        found += changes_of_stacks(path, text, switchers) + orders(text)
        problems += [f"{path}:{tree.line_of(text, at)}: {problem}" for at, problem in found]
    for path in switchers:
        if not _SWITCH.search(texts.get(path, "")):
            problems.append(f"{path}: is listed as a file that changes stacks, and changes none")
    return problems + operators.check(texts)


def atomics(path, text):
    if path.startswith("nopal/base/"):
        return []
    found = list(_ATOMIC.finditer(text)) + list(_RAW_ATOMIC.finditer(text))
    return [(m.start(), f"atomics come from base/, not from {m[0].strip()}") for m in found]


def assembly(path, text):
    if path.startswith("nopal/arch/"):
        return []
    if path.endswith(".S"):
        return [(0, "assembly belongs in arch/")]
    return [(match.start(), "assembly belongs in arch/") for match in _ASM.finditer(text)]


def changes_of_stacks(path, text, switchers):
    if path.startswith("nopal/arch/") or path in switchers:
        found = []
        for pattern in (_ORDER, _FENCE, _ATOMIC_TYPE, _OPERATION):
            found += [(m.start(), m[0].strip()) for m in pattern.finditer(text)]
        return [(at, f"{what!r} in a file that changes stacks") for at, what in found]
    return [
        (match.start(), f"{match[0]!r} changes stacks, which this file may not")
        for match in _SWITCH.finditer(text)
    ]


def orders(text):
    """Operations of atomics that leave an order to the default, which is seq_cst."""
    found = []
    for match in _OPERATION.finditer(text):
        named = re.findall(_ORDER_NAME, tree.in_parentheses(text, match.end() - 1))
        needed = 2 if match[1].startswith("compare_exchange") else 1
        if len(named) < needed:
            found.append((match.start(), f"{match[1]} names {len(named)} of {needed} orders"))
    return found


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    tree.report(check(*sys.argv[1:]), len(tree.cpp_files(sys.argv[1], "nopal")))
