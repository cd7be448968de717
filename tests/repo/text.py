# SPDX-License-Identifier: MIT
"""Checks the text of every file: licence line, no notes to self, no traces of one machine.

usage: text.py ROOT
"""

import os
import re
import sys

import tree

_LICENCE = "SPDX-License-Identifier: MIT"
# Written in pieces, so that this file passes its own check.
_FORBIDDEN = (
    (r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b", "a note to self"),
    (r"(?<![\w.~}>)])/(work|home|root|Users)" r"/\w", "a path of one machine"),
    (
        r"deb\.debian" r"\.org|pypi" r"\.org|pythonhosted" r"\.org|crates" r"\.io|npmjs"
        r"\.(org|com)|artif" r"actory|index" r"-url|PIP_INDEX" r"_URL|gop" r"roxy",
        "the host of a package index",
    ),
    (r"^(<{7}|>{7}|={7})( |$)", "a conflict marker"),
    (r"[ \t]+$", "white space at the end of a line"),
    (r"\r", "a carriage return"),
)
_PATTERNS = [(re.compile(pattern, re.MULTILINE), name) for pattern, name in _FORBIDDEN]


def is_text(root, path):
    with open(os.path.join(root, path), "rb") as file:
        return b"\0" not in file.read()


def check(root):
    problems = []
    for path in tree.code_files(root):
        lines = tree.read(root, path).split("\n")
        first = lines[1] if lines[0].startswith("#!") and len(lines) > 1 else lines[0]
        if _LICENCE not in first:
            problems.append(f"{path}: does not start with the line {_LICENCE}")
    for path in tree.files(root):
        if not is_text(root, path):
            continue
        text = tree.read(root, path)
        for pattern, name in _PATTERNS:
            for match in pattern.finditer(text):
                where = f"{path}:{tree.line_of(text, match.start())}"
                problems.append(f"{where}: {name}: {match[0].strip()!r}")
        if text and not text.endswith("\n"):
            problems.append(f"{path}: the last line does not end")
    return problems


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tree.report(check(sys.argv[1]), len(tree.files(sys.argv[1])))
