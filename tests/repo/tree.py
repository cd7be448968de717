# SPDX-License-Identifier: MIT
"""What the repository's checkers share: finding files, blanking comments and strings, reporting."""

import functools
import os
import re
import sys

CPP = (".h", ".cc", ".S")
SCRIPTS = (".py", ".cmake", ".sh")
SKIPPED_FOLDERS = {".git", "build", "data", "__pycache__", ".cache", ".vscode", ".idea"}

_TOKEN = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
      | (?P<raw>\bR"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)")
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<separator>(?<=[0-9a-fA-F])'(?=[0-9a-fA-F]))
      | (?P<char>'(?:\\.|[^'\\\n])+')""",
    re.DOTALL | re.VERBOSE,
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"](nopal/[^">]+)[">]', re.MULTILINE)


def _blank(match):
    text = match.group(0)
    kind = match.lastgroup
    if kind == "separator":
        return text
    inner = re.sub(r"[^\n]", " ", text)
    if kind in ("string", "char") and len(text) >= 2:
        return text[0] + inner[1:-1] + text[-1]
    return inner


@functools.lru_cache(maxsize=None)
def code_only(text, keep_strings=False):
    """The text with comments, and strings unless kept, turned into spaces; lines stay where they
    are."""

    def replace(match):
        if keep_strings and match.lastgroup != "comment":
            return match.group(0)
        return _blank(match)

    return _TOKEN.sub(replace, text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def in_parentheses(text, start):
    """What stands between the parenthesis at `start` and the one that closes it."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return text[start + 1 : at]
    return text[start + 1 :]


def is_script(path):
    """True for a file without a suffix that starts with #!."""
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def files(root, folder=""):
    """Paths, relative to the root and sorted, of all files that are ours."""
    found = []
    for where, folders, names in os.walk(os.path.join(root, folder)):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        found += [os.path.relpath(os.path.join(where, name), root) for name in names]
    return sorted(found)


def cpp_files(root, folder=""):
    return [path for path in files(root, folder) if path.endswith(CPP)]


def code_files(root):
    """C++, assembly, Python, CMake and shell."""
    return [
        path
        for path in files(root)
        if path.endswith(CPP + SCRIPTS)
        or os.path.basename(path) == "CMakeLists.txt"
        or ("." not in os.path.basename(path) and is_script(os.path.join(root, path)))
    ]


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", newline="") as file:
        return file.read()


def included(root, path):
    """The files of nopal/ that this one includes."""
    return _INCLUDE.findall(code_only(read(root, path), keep_strings=True))


def report(problems, looked_at):
    """Prints each problem and ends the program; a check that looked at nothing has failed."""
    for problem in problems:
        print(problem)
    if not looked_at:
        print("nothing to check was found: is the first argument the repository's root?")
        sys.exit(1)
    print(f"{looked_at} files, {len(problems)} problems")
    sys.exit(1 if problems else 0)
