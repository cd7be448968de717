# SPDX-License-Identifier: MIT
"""Finds atomics that are written by an operator: `word = 1`, `word += 1`, `++word`. Each is an
operation whose order is seq_cst, and does not say so.

Part of seams.py. The rule reads text, so it searches for the names of atomics: in the file that
declares the atomic, the name alone, unless that file declares something else by the same name; in
all of nopal/, the name after `.` or `->`, unless another file declares something else by it. Not
seen: an atomic that is read by its name alone, one behind an alias of its type, and one that a
function returns.
"""

import functools
import re

import tree

_TYPE = re.compile(r"\batomic\s*(<)")
_DECLARED = re.compile(r"\s*(\**)\s*(?:const\s+)?&?\s*(\w+)\s*[;{=,)\[]")
_WRITTEN = r"\s*(?:[-+|&^]?=(?!=)|\+\+|--)"


def end_of_brackets(text, start):
    """The place behind the bracket that closes the one at `start`."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] == "<":
            depth += 1
        elif text[at] == ">" and text[at - 1] != "-":
            depth -= 1
            if depth == 0:
                return at + 1
    return len(text)


def declared(text):
    """name -> (whether it is a pointer to atomics, where it is declared)."""
    found = {}
    for match in _TYPE.finditer(text):
        name = _DECLARED.match(text, end_of_brackets(text, match.start(1)))
        if name:
            found[name[2]] = (name[1] != "", name.start(2))
    return found


@functools.lru_cache(maxsize=None)
def declared_otherwise(name, text, atomic_at):
    """True if something here, but for what is declared at `atomic_at`, seems to have this name."""
    if name not in text:
        return False
    pattern = rf"(\b\w+|>)(?:\s+[*&]*|[*&]+\s*)(?<!\w){name}\s*[;{{=,)\[:]"
    return any(
        match[1] not in ("return", "else", "case") and not match.start() < atomic_at < match.end()
        for match in re.finditer(pattern, text)
    )


def written(name, is_pointer, text, member):
    """Where an operator writes it: the name alone or, with `member`, after . or ->."""
    if name not in text:
        return []
    index = r"\s*\[[^\]]*\]" if is_pointer else r"(?:\s*\[[^\]]*\])?"
    start = r"(?:\.|->)" if member else r"(?<![:\w.>])"
    whole = start + name + r"\b" + index
    before = r"(?:\+\+|--)" + (r"[\w.>[\]-]+?" if member else "") + whole
    return [*re.finditer(whole + _WRITTEN, text), *re.finditer(before, text)]


def check(texts):
    """The problems of these texts: path -> code."""
    problems = []
    for path, text in texts.items():
        for name, (is_pointer, at) in declared(text).items():
            if declared_otherwise(name, text, at):
                continue
            found = [(path, m) for m in written(name, is_pointer, text, False) if m.start() != at]
            others = [its for other, its in texts.items() if other != path]
            if not any(declared_otherwise(name, its, -1) for its in others):
                for where, its in texts.items():
                    found += [(where, match) for match in written(name, is_pointer, its, True)]
            for where, match in found:
                line = tree.line_of(texts[where], match.start())
                problems.append(f"{where}:{line}: {match[0]!r} writes an atomic and names no order")
    return problems
