# SPDX-License-Identifier: MIT
"""Checks that the core, each file, each function and each line stay small.

usage: sizes.py ROOT CORE_LINES IO_LINES PROCESS_LINES MAPPED_LINES C_LINES ALGORITHMS_LINES
       PSTL_LINES FILE_LINES FUNCTION_LINES LINE_COLUMNS

The core is nopal/ without nopal/io.h, nopal/io/, nopal/process/, nopal/mapped/, nopal/nopal.h,
nopal/c/, nopal/algorithms/ with its public headers, nopal/pstl/, and what arch/ has for mapped/ and
c/. These have limits of their own.
"""

import ast
import re
import sys

import tree

_ALGORITHMS = ("algorithm", "filter", "pipeline", "random", "scan", "sort", "worklist")
_PART = re.compile(
    r"nopal/(?:(io|nopal)[./]|(process|mapped|c|algorithms|pstl)/|arch/(?:\w*_)?(mapped|c)\.|"
    rf"({'|'.join(_ALGORITHMS)})\.h)"
)
# The rooms of public headers that have another name.
_ROOMS = {"nopal": "c", **dict.fromkeys(_ALGORITHMS, "algorithms")}
_DIRECTIVE = re.compile(r"^([ \t]*#(?:\\\n|[^\n])*|NOPAL_HIDDEN_(BEGIN|END)$)", re.MULTILINE)
_CONTAINER = re.compile(r"(inline\s+)?(namespace|class|struct|union|enum)\b|extern\s*\"\s*\"\s*$")
_FUNCTION_END = re.compile(
    r"\)\s*(const|noexcept(\s*\([^)]*\))?|override|final|mutable|&&?|->[^{};]*|\s)*$"
)


def strip_template(head):
    """The statement without its leading template<...> lists."""
    while True:
        head = head.lstrip()
        if not re.match(r"template\b", head):
            return head
        start = head.find("<")
        if start < 0:
            return head
        depth = 0
        for place in range(start, len(head)):
            depth += {"<": 1, ">": -1}.get(head[place], 0)
            if depth == 0:
                break
        head = head[place + 1 :]
        head = re.sub(r"^\s*requires\b[^{;]*?(?=\b(class|struct|union)\b)", "", head)


def is_container(head):
    """True if the braces that follow hold declarations; false if they hold statements or values."""
    head = re.sub(r"\[\[.*?\]\]|alignas\s*\([^)]*\)", " ", strip_template(head), flags=re.DOTALL)
    return bool(_CONTAINER.match(head.strip())) and not _FUNCTION_END.search(head)


def functions(text):
    """(first line, last line) of each outermost block that is no container; None if the braces do
    not balance."""
    text = _DIRECTIVE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), tree.code_only(text))
    found, stack, since = [], [], 0
    for match in re.finditer(r"[{};]", text):
        place, mark = match.start(), match[0]
        head = text[since:place]
        if mark == "{":
            outermost = all(kind == "container" for kind, _ in stack)
            kind = "container" if outermost and is_container(head) else "block"
            if re.search(r"=\s*$", head):
                kind = "value"
            head_start = since + len(head) - len(head.lstrip())
            stack.append((kind, tree.line_of(text, head_start if head.strip() else place)))
        elif mark == "}":
            if not stack:
                return None
            kind, first = stack.pop()
            if kind == "block" and all(outer == "container" for outer, _ in stack):
                found.append((first, tree.line_of(text, place)))
        since = place + 1
    return None if stack else found


def python_functions(text):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
    return [(node.lineno, node.end_lineno) for node in nodes]


def check_file(path, text, file_lines, function_lines, columns):
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    problems = []
    if len(lines) > file_lines:
        problems.append(f"{path}: {len(lines)} lines, more than {file_lines}")
    for number, line in enumerate(lines, 1):
        if len(line) > columns:
            problems.append(f"{path}:{number}: {len(line)} columns, more than {columns}")
    blocks = []
    if path.endswith((".h", ".cc")):
        blocks = functions(text)
    elif path.endswith(".py"):
        blocks = python_functions(text)
    if blocks is None:
        return problems + [f"{path}: its braces do not balance, so functions cannot be measured"]
    for first, last in blocks:
        size = last - first + 1
        if size > function_lines:
            where = f"{path}:{first}"
            problems.append(f"{where}: a function of {size} lines, more than {function_lines}")
    return problems


def check(root, *limits):
    parts = ("core", "io", "process", "mapped", "c", "algorithms", "pstl")
    most = dict(zip(parts, map(int, limits)))
    file_lines, function_lines, columns = map(int, limits[7:])
    problems, lines = [], dict.fromkeys(most, 0)
    for path in tree.code_files(root):
        text = tree.read(root, path)
        problems += check_file(path, text, file_lines, function_lines, columns)
        if path.startswith("nopal/") and path.endswith(tree.CPP):
            part = _PART.match(path)
            name = next(filter(None, part.groups())) if part else "core"
            lines[_ROOMS.get(name, name)] += text.count("\n")
    for part, count in lines.items():
        if count > most[part]:
            name = "nopal/: " if part == "core" else f"nopal/{part}: "
            rest = " without io, process, mapped, c, algorithms and pstl/" if part == "core" else ""
            problems.append(f"{name}{count} lines{rest}, more than {most[part]}")
    return problems


if __name__ == "__main__":
    if len(sys.argv) != 12:
        sys.exit(__doc__)
    tree.report(check(*sys.argv[1:]), len(tree.code_files(sys.argv[1])))
