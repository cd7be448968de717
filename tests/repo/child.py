# SPDX-License-Identifier: MIT
"""The child of fork() waits for no lock that a thread of its parent holds (nopal/base/child.h): a
lock of a file begins anew there, a lock in an object is one of an object that each process makes,
and no static object is made behind a guard that another thread may hold.

usage: child.py ROOT ["FILE NAME: why it may"]...

Spin locks in objects are left out: each says in which process it was taken.
"""

import re
import sys

import tree

# Their threads are processes, or they are processes.
_OTHERS = ("nopal/mapped/", "nopal/process/")
_LOCK = r"(?:std::(?:recursive_|shared_|timed_)?mutex|std::condition_variable\w*|std::once_flag)"
_OF_FILE = re.compile(
    r"^(?:(?:inline|constinit|static|alignas\(\d+\)) )*"
    rf"(?:{_LOCK}|(?:base::)?spin_lock) (\w+)[;{{]",
    re.MULTILINE)
_IN_OBJECT = re.compile(rf"^[ \t]+(?:(?:mutable|alignas\(\d+\)) )*{_LOCK} (\w+)[;{{]", re.MULTILINE)
_GUARDED = re.compile(
    r"^[ \t]+static (?!constexpr|constinit|thread_local|inline|_)[^;(){}]*?\b(\w+)"
    r"(?: = (?!\[)[^;]*(?:\(|\bnew\b)|\{[^;}]+\};)", re.MULTILINE)


def check(root, *exceptions):
    allowed = {entry.partition(":")[0] for entry in exceptions}
    problems = []

    def tell(path, text, match, what):
        if f"{path} {match.group(1)}" not in allowed:
            line = tree.line_of(text, match.start(1))
            problems.append(f"{path}:{line}: {match.group(1)} {what}")

    for path in tree.code_files(root):
        if not path.startswith("nopal/") or path.startswith(_OTHERS) or path.endswith(".py"):
            continue
        text = tree.code_only(tree.read(root, path))
        for match in _OF_FILE.finditer(text):
            name = match.group(1)
            if not re.search(rf"\brenew\({name}\)|\b{name}\.begin_anew\(\)", text):
                tell(path, text, match, "does not begin anew in the child of fork()")
        for match in _IN_OBJECT.finditer(text):
            if "per_process<" not in text:
                tell(path, text, match, "is a lock of an object that no per_process makes")
        for match in _GUARDED.finditer(text):
            tell(path, text, match, "is made behind a guard; a per_process has none")
    return problems


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tree.report(check(*sys.argv[1:]), len(tree.code_files(sys.argv[1])))
