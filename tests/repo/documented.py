# SPDX-License-Identifier: MIT
"""Each name that the public headers (nopal/*.h and nopal/process/*.h) offer has a comment for a
documentation tool.

usage: documented.py ROOT

That is what stands in the namespaces nopal and nopal::process, and not in their detail: classes,
functions, concepts, and what `using` brings there. The comment begins with ///. Of several
declarations of one name in a header one has it. Its commands come in this order: @pre, @throws,
@par Threads, @par Cost, @par Paper.
"""

import pathlib
import re
import sys

import tree

_ORDER = ["@pre", "@throws", "@par Threads", "@par Cost", "@par Paper"]
_COMMAND = re.compile(r"///\s*(@par \w+|@\w+)")
_NAME = re.compile(
    r"(?:class|struct|enum class|concept) (?:NOPAL_TYPE )?(?P<type>\w+)"
    r"|using (?:\w+::)*(?P<used>\w+)\s*[;=]"
    r"|[^=({]*?(?P<function>\b[a-z_]\w*)\("
)
_PUBLIC = r"nopal::inline NOPAL_ABI(::process(::inline on_threads)?)? \{"
_OTHER_NAMESPACE = re.compile(rf"^namespace (?!{_PUBLIC})[^;{{]*\{{", re.MULTILINE)
_ATTRIBUTE = re.compile(r"\[\[[^\]]*\]\]\s*")


def _end(text, at, opening, closing):
    """Behind what closes the first of these that opens at `at` or later."""
    depth = 0
    for place in range(text.index(opening, at), len(text)):
        depth += {opening: 1, closing: -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    return len(text)


def _blank(text, begin, end):
    return text[:begin] + re.sub(r"[^\n]", " ", text[begin:end]) + text[end:]


def public_code(text):
    """The code alone, without what other namespaces have."""
    code = tree.code_only(text)
    while match := _OTHER_NAMESPACE.search(code):
        code = _blank(code, match.start(), _end(code, match.start(), "{", "}"))
    return code


def declared(line):
    """The name that this line declares, if it begins a declaration of the namespace."""
    line = _ATTRIBUTE.sub("", line).replace("decltype(auto)", "auto")
    if re.fullmatch(r"class \w+;", line):
        return None
    if line.startswith("template"):
        line = _ATTRIBUTE.sub("", line[_end(line, 0, "<", ">"):].strip())
    match = _NAME.match(line)
    return match and (match["type"] or match["used"] or match["function"])


def entities(text):
    """(line, name, lines of its comment) of each name of the namespace nopal that the text has.
    What stands there begins in the first column, and nothing else does."""
    lines, found, comment = text.split("\n"), [], []
    for number, code in enumerate(public_code(text).split("\n"), 1):
        written = lines[number - 1]
        if written.startswith("//"):
            comment.append(written)
        elif not written or written[0] in "#}" or code.startswith(("namespace", "NOPAL_")):
            comment = []
        elif code[:1].strip() and code[0] not in ")(" and (name := declared(code)):
            found.append((number, name, comment))
            comment = []
    return found


def problems_of(path, text):
    problems, seen, documented = [], {}, set()
    for number, name, comment in entities(text):
        seen.setdefault(name, number)
        if any(line.startswith("///") for line in comment):
            documented.add(name)
        commands = [match[1] for line in comment if (match := _COMMAND.match(line))]
        known = [_ORDER.index(each) for each in commands if each in _ORDER]
        if known != sorted(known):
            problems.append(f"{path}:{number}: the commands of {name} stand in another order than "
                            f"{', '.join(_ORDER)}")
    return problems + [f"{path}:{number}: {name} has no comment that begins with ///"
                       for name, number in seen.items() if name not in documented]


def headers(root):
    folders = pathlib.Path(root, "nopal"), pathlib.Path(root, "nopal", "process")
    return sorted(path for folder in folders for path in folder.glob("*.h"))


def check(root):
    return [problem for path in headers(root)
            for problem in problems_of(path.relative_to(root), path.read_text())]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tree.report(check(sys.argv[1]), len(headers(sys.argv[1])))
