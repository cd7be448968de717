# SPDX-License-Identifier: MIT
"""Compiles and runs the code of a document, as a reader would paste it.

usage: blocks.py ROOT FOLDER PAGE COMPILER [ARGUMENT...]

Files are written to FOLDER. The ARGUMENTs are those of the compiler and the linker. A block
of code stands between fences, and the first of these says what it is:

  cpp            a program, if it has a main: a file by itself, which is compiled, and run. Else it
                 is a part of a file: its functions are compiled behind what stood before it
  cpp statements each piece between two blank lines is pasted into a function, and this is run in a
                 process of its own. A piece that awaits is pasted into a coroutine
  c              a program in C; it is compiled as one, without being linked
  python         a program, which is run where the module and numpy are found
  cmake, sh      lines for install.documents, and for a shell, which has to find each command
  text           no code

Nothing is included but what the block itself or one before it names, as #include or, in a comment,
as <name>; and, in front of all, <page>.h beside this file: what the page's pieces take for the
program's own. What README.md has in backquotes and begins with nopal:: is declared by the headers
that it names. A block without fences, by four blanks, is refused.
"""

import os
import re
import shutil
import subprocess
import sys

_FENCE = re.compile(r"^```(\S[^\n]*|)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_KINDS = ("cpp", "cpp statements", "c", "python", "cmake", "sh", "text")
_INCLUDE = re.compile(r"^#include\s+(<[^>\n]+>).*\n", re.MULTILINE)
_NAMED = re.compile(r"//[^\n]*")
_HEADER = re.compile(r"<((?:nopal/)?[\w/]+\.h|execution|algorithm)>")
_NAME = re.compile(r"`nopal::((?:\w+::)*\w+)(?:\([^`]*)?`")
_WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused"]
# A test waits no longer than this for a piece, in seconds.
_PATIENCE = 300


class Failed(Exception):
    """What is wrong, for a reader of the page."""


def blocks_of(text):
    """(line, kind, code) of each block."""
    found = []
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match[1] not in _KINDS:
            raise Failed(f"line {line}: a block is `{match[1]}`; it may be {', '.join(_KINDS)}")
        found.append((line, match[1], match[2]))
    return found


def refuse_indented(text):
    """Four blanks behind an empty line make a block, too, but in a list they do not."""
    before, above = "", ""
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("    ") and above == "" and not re.match(r"\d+\. |- ", before):
            raise Failed(f"line {number}: this block has no fences, which say what it is")
        if line and not line.startswith(" "):
            before = line
        above = line


def pieces_of(line, code):
    """(line, code) of each piece between two blank lines."""
    pieces = []
    for piece in re.split(r"\n\s*\n", code):
        pieces.append((line, piece.strip("\n")))
        line += piece.count("\n") + 2
    return pieces


class Source:
    """The file that the parts and pieces of a page become. The headers of a part come right before
    it, so the page has named them by then; a part sees what stood before, and may hide it."""

    def __init__(self, page, folder):
        self.page = page
        self.text = ""
        own = f"{page.rpartition('/')[2].removesuffix('.md')}.h"
        if os.path.exists(os.path.join(os.path.dirname(os.path.abspath(__file__)), own)):
            self.text = f'#include "{own}"\n'
        self.path = os.path.join(folder, own.replace(".h", ".cc"))
        self.included = []
        self.spaces = ""
        self.calls = []

    def include(self, headers):
        """Includes what was not included before."""
        new = [each for each in headers if each not in self.included]
        self.included += new
        self.text += "".join(f"#include <{each}>\n" for each in new)

    def mark(self, line):
        """What the compiler says is of this line of the page."""
        self.text += f'#line {line} "{self.page}"\n'

    def add_part(self, line, code):
        """Code that stands outside of functions."""
        self.include([name[1:-1] for name in _INCLUDE.findall(code)])
        self.spaces += f"namespace part_{line} {{ "
        self.text += self.spaces + "\n"
        self.mark(line + 1)
        self.text += _INCLUDE.sub("\n", code) + "}" * self.spaces.count("{") + "\n"

    def add_piece(self, line, code):
        """Code that stands in a function."""
        self.include(_HEADER.findall("\n".join(_NAMED.findall(code))))
        awaits = "co_await" in code
        name = f"piece_{line}"
        self.text += f"{self.spaces}\n{'coroutine' if awaits else 'auto'} {name}() {{\n"
        self.mark(line)
        self.text += f"{code}\n}}\n{'}' * self.spaces.count('{')}\n"
        path = "::".join(re.findall(r"part_\d+", self.spaces) + [name])
        self.calls.append((line, f"{path}().wait()" if awaits else f"{path}()"))

    def add_names(self, names):
        """Names that the page's text has."""
        self.text += '#line 1 "names in the text"\nnamespace names {\n'
        for number, name in enumerate(names):
            known = f"{{ using nopal::{name}; }}"
            if name in ("io", "process"):  # namespaces
                known = f"= nopal::{name};"
            self.text += f"namespace n{number} {known}\n"
        self.text += "}\n"

    def write(self):
        """Writes the file, whose program is told by its line which piece to run."""
        self.text += '#line 1 "main"\n#include <cstdlib>\nint main(int, char** arguments) {\n'
        for line, call in self.calls:
            self.text += f"  if (std::atoi(arguments[1]) == {line})\n    {call};\n"
        self.text += "}\n"
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(self.text)


def run(command, what):
    """Runs a command, which has to succeed."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=_PATIENCE, check=False
    )
    if done.returncode != 0:
        words = done.stdout.decode(errors="replace")[-4000:]
        raise Failed(f"{what}: status {done.returncode} of {' '.join(command)}\n{words}")


def check_shell(root, line, code):
    """A shell understands the lines, and their commands are programs of ours or of the system."""
    run(["bash", "-n", "-c", code], f"line {line}")
    for command in re.findall(r"^(?:[A-Z_]+=\S+ )*([\w./+-]+)", code, re.MULTILINE):
        ours = "/" in command and not command.startswith(("./", "build/"))
        if ours and not os.access(os.path.join(root, command), os.X_OK):
            raise Failed(f"line {line}: there is no program {command}")


def check_program(page, folder, line, kind, code, compiler):
    """A block that is a file by itself."""
    ending = ".c" if kind == "c" else ".cc"
    path = os.path.join(folder, f"program_{line}{ending}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(code)
    if kind == "c":
        run(["cc", "-std=c11", *[each for each in compiler[1:] if each.startswith("-I")],
             "-fsyntax-only", path], f"{page}, line {line}")
        return
    program = path.removesuffix(ending)
    run([compiler[0], *_WARNINGS, path, *compiler[1:], "-o", program], f"{page}, line {line}")
    run([program], f"{page}, line {line}, run")


def check_cpp(page, folder, blocks, names, compiler):
    """All blocks of C++ that are no programs, and the names in the text."""
    source = Source(page, folder)
    for line, kind, code in blocks:
        if kind == "cpp":
            source.add_part(line, code)
        else:
            for piece in pieces_of(line + 1, code):
                source.add_piece(*piece)
    if not source.included:
        return
    source.add_names(names)
    source.write()
    program = source.path.removesuffix(".cc")
    here = os.path.dirname(os.path.abspath(__file__))
    run([compiler[0], *_WARNINGS, f"-I{here}", source.path, *compiler[1:], "-o", program], page)
    for piece, _ in source.calls:
        run([program, str(piece)], f"{page}, line {piece}, run")


def targets_of(root):
    """What stands behind nopal:: in CMake."""
    found = set()
    for folder, _, files in os.walk(os.path.join(root, "nopal")):
        for name in files:
            if name == "CMakeLists.txt" or name.endswith(".cmake"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    found |= set(re.findall(r"\bnopal::(\w+)|EXPORT_NAME (\w+)", file.read()))
    return {name for pair in found for name in pair} | {"process_openmpi", "process_mpich"}


def check(root, page, folder, compiler):
    """Checks all blocks of a page."""
    with open(os.path.join(root, page), encoding="utf-8") as file:
        text = file.read()
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    parts = []
    refuse_indented(_FENCE.sub(lambda match: "\n" * match[0].count("\n"), text))
    for line, kind, code in blocks_of(text):
        if kind == "c" or (kind == "cpp" and re.search(r"\bint main\(", code)):
            check_program(page, folder, line, kind, code, compiler)
        elif kind.startswith("cpp"):
            parts.append((line, kind, code))
        elif kind == "sh":
            check_shell(root, line, code)
    names = []
    if page == "README.md":
        names = sorted(set(_NAME.findall(text)) - targets_of(root))
    check_cpp(page, folder, parts, names, compiler)


def main():
    try:
        check(sys.argv[1], sys.argv[3], sys.argv[2], sys.argv[4:])
    except Failed as failure:
        sys.exit(f"{sys.argv[3]}: {failure}")


if __name__ == "__main__":
    main()
