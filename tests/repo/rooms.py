# SPDX-License-Identifier: MIT
"""Checks that a source defines what the header of its name declares, and that a file of another
room includes only the headers of a room that are its doors.

usage: rooms.py ROOT "SOURCE HEADER: WHY"... -- "ROOM DOOR..."...

A function that a source defines and others can call is declared in the header of the source's name,
or in a header of the same folder that has no source of its name, such as one that a source for each
library implements. An exception names a source and another header, without nopal/, that the source
may implement.

The DOORs are the headers of a room that other rooms include, named without .h; its other headers
are its own. A header that no other room includes is no door. What config.h names is included
through a macro, and needs no door. All headers of a room that is not named may be included.
"""

import os
import re
import sys

import tree

_UNSEEN = re.compile(r"^namespace \{$.*?^\} // namespace$", re.MULTILINE | re.DOTALL)
_ATTRIBUTE = re.compile(r"\[\[.*?\]\]\s*|__attribute__\(\(.*?\)\)", re.DOTALL)
_NO_FUNCTION = r"static|inline|template|using|class|enum|struct|return"
_FUNCTION = re.compile(
    rf"^(?!(?:{_NO_FUNCTION})\b)(?=\w)[^;{{}}()=\n]*?\b([\w:~]+)\(", re.MULTILINE)


def defined(text):
    """The names of the functions at the beginning of a line that others can call."""
    code = _ATTRIBUTE.sub("", tree.code_only(_UNSEEN.sub("", text)))
    for match in _FUNCTION.finditer(code):
        end = match.end() + len(tree.in_parentheses(code, match.end() - 1)) + 1
        if re.match(r"[^;{=]*\{", code[end:]):
            yield match[1].rpartition("::")[2]


def declares(text, name):
    return re.search(rf"(?<![\w.>]){re.escape(name)}\(", tree.code_only(text)) is not None


def entered(root, doors):
    """Problems with the headers of the rooms that others include."""
    open_ones = {room: set(names) for room, *names in map(str.split, doors)}
    unused = {(room, name) for room, names in open_ones.items() for name in names}
    problems = []
    for path in tree.cpp_files(root, "nopal"):
        for header in tree.included(root, path):
            room, _, name = header.removeprefix("nopal/").removesuffix(".h").partition("/")
            if not name or room not in open_ones or path.startswith(f"nopal/{room}/"):
                continue
            unused.discard((room, name))
            if name not in open_ones[room]:
                problems.append(f"{path}: {header} is no door of its room")
    return problems + [f"'{room} {name}': no other room includes it"
                       for room, name in sorted(unused)]


def definitions(root, exceptions):
    texts = {path: tree.read(root, path) for path in tree.cpp_files(root, "nopal")}
    names = {path.rpartition(".")[0] for path in texts if path.endswith(".cc")}
    headers = [path for path in texts if path.endswith(".h")]
    allowed = {tuple(f"nopal/{word}" for word in each.partition(":")[0].split()): each
               for each in exceptions}
    problems, needed = [], set()
    for path in texts:
        if not path.endswith(".cc"):
            continue
        own = path[:-2] + "h"
        mine = [header for header in headers if header == own or
                os.path.dirname(header) == os.path.dirname(path) and header[:-2] not in names]
        for name in defined(texts[path]):
            if any(declares(texts[header], name) for header in mine):
                continue
            others = [header for header in headers if declares(texts[header], name)]
            permitted = {(path, header) for header in others} & allowed.keys()
            needed |= permitted
            if not permitted:
                problems.append(f"{path}: defines {name}, which {own} does not declare but "
                                f"{' and '.join(others) or 'no header'}")
    return problems + [f"'{each}': nothing needs it" for pair, each in allowed.items()
                       if pair not in needed]


def check(root, *arguments):
    split = arguments.index("--")
    return definitions(root, arguments[:split]) + entered(root, arguments[split + 1 :])


if __name__ == "__main__":
    if "--" not in sys.argv[2:]:
        sys.exit(__doc__)
    tree.report(check(*sys.argv[1:]), len(tree.cpp_files(sys.argv[1], "nopal")))
