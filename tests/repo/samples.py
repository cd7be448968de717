# SPDX-License-Identifier: MIT
"""Shows each checker a good tree, in which it must find nothing, and bad ones, in which it must
find what is wrong.

usage: samples.py CHECKER
"""

import os
import sys
import tempfile

SPDX = "// SPDX-License-Identifier: MIT\n"
ORDER = r"memory_order|\w_(relaxed|acquire|release)\b"
SWITCH = r"\barch::resume\w*\s*\("


def lines(count, text="  step();\n"):
    return text * count


def long_function(head, count):
    return f"{head} {{\n{lines(count - 2)}}}\n"


def layers(root):
    import layers as checker

    return checker.check(root, ["config.h", "base", "arch", "join"])


LAYERS = [
    (None, "nopal/join/a.h", '#include "nopal/base/b.h"\n#include <vector>\n'),
    (None, "nopal/fork.h", '#include "nopal/join/a.h"\n#include "nopal/loop.h"\n'),
    (None, "nopal/base/a.h", '#include "nopal/config.h"\n'),
    (None, "nopal/base/a.h", '// #include "nopal/join/a.h"\n'),
    ("higher layer join", "nopal/base/a.h", '#include "nopal/join/a.h"\n'),
    ("higher layer arch", "nopal/base/a.cc", "#  include <nopal/arch/a.h>\n"),
    ("higher layer base", "nopal/config.h", '#include "nopal/base/a.h"\n'),
    ("public API", "nopal/join/a.h", '#include "nopal/fork.h"\n'),
    ("not one of the layers", "nopal/elsewhere/a.h", "int a;\n"),
    ("repository's root", "nopal/join/a.cc", '#include "a.h"\n'),
]


def seams(root):
    import seams as checker

    return checker.check(root, ORDER, SWITCH)


SEAMS = [
    (None, "nopal/base/a.h", "#include <atomic>\nstd::atomic<int> a;\n"),
    (None, "nopal/arch/a.h", 'inline void f() { asm volatile("nop"); }\n'),
    (None, "nopal/arch/a.S", "nop\n"),
    (None, "nopal/fork.h", 'scope() { asm volatile("" ::: "rsp"); }\n'),
    (None, "nopal/join/a.h", 'auto a = "asm"; // asm, std::atomic\n'),
    (None, "nopal/join/a.h", "x.load_acquire();\n"),
    (None, "nopal/join/a.h", "void f() { arch::resume(x); }\n"),
    ("atomics come from base/", "nopal/join/a.h", "#include <atomic>\n"),
    ("atomics come from base/", "nopal/arch/a.h", "#include <stdatomic.h>\n"),
    ("atomics come from base/", "nopal/join/a.h", "int f() { return __atomic_load_n(p, 0); }\n"),
    ("assembly belongs", "nopal/join/a.h", 'void f() { __asm__("nop"); }\n'),
    ("assembly belongs", "nopal/join/a.S", "nop\n"),
    ("assembly belongs", "nopal/fork.h", 'scope() { asm("" ::: "rsp"); asm("nop"); }\n'),
    ("switches stacks", "nopal/join/a.h", "x.load_acquire();\narch::resume_at(x);\n"),
]


def sizes(root):
    import sizes as checker

    return checker.check(root, 500, 400, 60, 100)


SIZES = [
    (None, "nopal/a.h", "namespace a {\n" + lines(300, "int f();\n") + "}\n"),
    (None, "nopal/a.h", long_function("void f()", 60)),
    (None, "nopal/a.h", "struct a {\n" + lines(70, "  int f() { return 1; }\n") + "};\n"),
    (None, "nopal/a.h", "class a final : b<c(1)> {\n" + lines(70, "  int d;\n") + "};\n"),
    (None, "nopal/a.h", "int a[] = {\n" + lines(70, "  1,\n") + "};\n"),
    (None, "tests/a_test.cc", "// " + "x" * 97 + "\n"),
    ("a function of 61 lines", "nopal/a.h", long_function("void f()", 61)),
    (":3: a function of 61", "nopal/a.h", "namespace a {\n\n" + long_function("f()", 61) + "}\n"),
    (
        "a function of 70 lines",
        "nopal/a.h",
        "template <class T>\nstruct a {\n" + long_function("  a() : b{1}, c(2)", 70) + "};\n",
    ),
    (
        "a function of 71 lines",
        "nopal/a.h",
        "template <class F>\n" + long_function("auto f(F f) -> a<F>", 70),
    ),
    ("a function of 80 lines", "tests/a_test.cc", long_function("TEST(a, b)", 80)),
    (
        "a function of 64 lines",
        "nopal/a.cc",
        "int f() {\n  if (x) {\n    auto s = \"}\"; // }\n  }\n" + lines(59) + "}\n",
    ),
    ("a function of 61 lines", "bench/a.py", "def f():\n" + lines(60, "    g()\n")),
    ("do not balance", "nopal/a.h", "void f() {\n"),
    ("401 lines, more than 400", "script/a.sh", lines(401, "true\n")),
    ("101 columns", "nopal/arch/a.S", "x" * 101 + "\n"),
    (
        "nopal/: 501 lines",
        "nopal/a.h",
        lines(400, "int a;\n"),
        "nopal/b.cc",
        lines(101, "int b;\n"),
    ),
]


def text(root):
    import text as checker

    return checker.check(root)


TEXT = [
    (None, "nopal/a.h", SPDX + "int a; // a todo list is not a note\n"),
    (None, "script/a", "#!/bin/bash\n# SPDX-License-Identifier: MIT\n"),
    (None, "docs/a.md", "No licence line here: https://example.org/home/page\n"),
    ("does not start with", "nopal/a.h", "int a;\n"),
    ("does not start with", "script/a", "#!/bin/bash\necho\n"),
    ("does not start with", "nopal/CMakeLists.txt", "project(a)\n"),
    ("a note to self", "nopal/a.h", SPDX + "// TO" "DO: more\n"),
    ("a note to self", "docs/a.md", "FIX" "ME\n"),
    ("a path of one machine", "docs/a.md", "see /wo" "rk/notes\n"),
    ("a path of one machine", "bench/a.py", "# SPDX-License-Identifier: MIT\nA = '/ho" "me/me'\n"),
    ("the host of a package index", "docs/a.md", "http://deb.debian" ".org/debian\n"),
    ("a conflict marker", "README.md", "<" * 7 + " one\n"),
    ("white space", "docs/a.md", "text \n"),
    ("a carriage return", "docs/a.md", "text\r\n"),
    ("does not end", "docs/a.md", "text"),
]


def headers(root):
    import shutil

    import headers as checker

    compiler = shutil.which("g++") or shutil.which("clang++-19")
    if not compiler:
        print("skipped: neither g++ nor clang++-19 is installed")
        sys.exit(77)
    return checker.check(root, [compiler])


HEADERS = [
    (None, "nopal/a.h", "#pragma once\n#include <cstddef>\ninline std::size_t a() { return 0; }\n"),
    ("nopal/a.h", "nopal/a.h", "#pragma once\ninline std::size_t a() { return 0; }\n"),
    ("redefinition", "nopal/a.h", "inline int a() { return 0; }\n"),
    ("nopal/a.h", "nopal/a.h", "#pragma once\ninline char a(int b) { return b; }\n"),
]


def formatted(root):
    import shutil

    import formatted as checker

    if not shutil.which(checker.TOOL):
        print(f"skipped: {checker.TOOL} is not installed")
        sys.exit(77)
    return checker.check(root)


FORMATTED = [
    (None, "nopal/a.h", "int f(int a) { return a; }\n"),
    ("places differ", "nopal/a.h", "int f( int a ){ return a ; }\n"),
]

CHECKERS = {
    "layers": (layers, LAYERS),
    "seams": (seams, SEAMS),
    "sizes": (sizes, SIZES),
    "text": (text, TEXT),
    "headers": (headers, HEADERS),
    "formatted": (formatted, FORMATTED),
}


def main(name):
    check, samples = CHECKERS[name]
    wrong = 0
    for expected, *tree in samples:
        with tempfile.TemporaryDirectory() as root:
            for path, content in zip(tree[::2], tree[1::2]):
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8", newline="") as file:
                    file.write(content)
            problems = check(root)
        good = not problems if expected is None else any(expected in one for one in problems)
        if not good:
            wrong += 1
            print(f"{tree[0]}: expected {expected or 'no problem'!r}, found {problems}\n{tree[1]}")
    print(f"{name}: {len(samples)} samples, {wrong} judged wrongly")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in CHECKERS:
        sys.exit(__doc__)
    main(sys.argv[1])
