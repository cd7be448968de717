# SPDX-License-Identifier: MIT
"""Shows each rule small trees that are wrong in one way each, which the rule must find.

usage: samples.py COMPILER RULE...

A sample is (what the rule must say, or None for nothing; path -> text; arguments). In an argument
ROOT stands for the tree, and CXX for the compiler. A rule without samples fails.
"""

import importlib
import os
import sys
import tempfile

from built_samples import HARDENED_SAMPLES, SYMBOLS_SAMPLES

LAYERS = "config.h base stack sched"
SPDX = "// SPDX-License-Identifier: MIT\n"


def include(*paths):
    return "".join(f'#include "{path}"\n' for path in paths)


def in_base(text):
    return {"nopal/base/a.h": text}


SEES = in_base("void f() { sched::start(); }\n")
LAYERS_SAMPLES = [
    ("higher layer sched", in_base(include("nopal/sched/b.h")), [LAYERS]),
    ("higher layer sched", in_base("#include <nopal/sched/b.h>\n"), [LAYERS]),
    ("higher layer base", {"nopal/config.h": include("nopal/base/a.h")}, [LAYERS]),
    ("public API", in_base(include("nopal/fork.h")), [LAYERS]),
    ("repository's root", in_base(include("b.h")), [LAYERS]),
    (None, {"nopal/fork.h": include("nopal/sched/b.h")}, [LAYERS]),
    (None, in_base("// " + include("nopal/sched/b.h")), [LAYERS]),
    ("not one of the layers", {"nopal/elsewhere/a.h": ""}, [LAYERS]),
    ("names sched::", SEES, [LAYERS]),
    (None, SEES, [LAYERS, "nopal/base/a.h sched: it may"]),
    ("nothing needs", in_base(""), [LAYERS, "nopal/base/a.h sched: it may"]),
    ("is no exception", SEES, [LAYERS, "nopal/base/a.h sched"]),
    ("adds to sched::", {"nopal/mutex.cc": "void sched::wait() {\n}\n"}, [LAYERS]),
    ("adds to base::", {"nopal/stack/a.h": "namespace nopal::base {\nint r;\n}\n"}, [LAYERS]),
    (None, {"nopal/stack/a.h": "namespace nopal::base {\nstruct r;\n}\n"}, [LAYERS]),
]


def linked(expected, symbol, *exceptions):
    """Two objects: sched/b.cc defines sched::start, and base/a.cc has this symbol too."""
    objects = [f"ROOT/CMakeFiles/x.dir/{source}.cc.o" for source in ("base/a", "sched/b")]
    says = f"{objects[0]}: {symbol}\n{objects[1]}: 0 T nopal::sched::start()\n"
    files = {"nopal/base/a.cc": "", "nopal/sched/b.cc": "", "nm": f"#!/bin/sh\necho '{says}'\n"}
    return (expected, files, ["ROOT/nm", LAYERS, *exceptions, "--", *objects])


CALLS_SAMPLES = [
    linked("uses nopal::sched::start()", "U nopal::sched::start()"),
    linked(None, "U nopal::sched::start()", "nopal/base/a.cc nopal::sched::start: it may"),
    linked("nothing needs", "U nopal::other()", "nopal/base/a.cc nopal::sched::start: it may"),
    linked("a name of the layer sched", "0 T nopal::sched::other()"),
    ("no object of it", {"nopal/base/a.cc": ""}, ["nm", LAYERS, "--"]),
    ("is its source", {}, ["nm", LAYERS, "--", "ROOT/CMakeFiles/x.dir/base/a.cc.o"]),
]



SWITCHER = "nopal/fork.h"
SWITCHES = "arch::nopal_arch_suspend(frame);\n"


def beside_a_switch(expected, text):
    return (expected, {SWITCHER: SWITCHES + text}, [SWITCHER])


def in_stack(expected, text):
    return (expected, {SWITCHER: SWITCHES, "nopal/stack/a.h": text}, [SWITCHER])


def written(expected, text):
    """An operation on an atomic of the same file."""
    return in_stack(expected, "base::atomic<int> word{0};\n" + text)


SEAMS_SAMPLES = [
    in_stack("atomics come from base/", "#include <atomic>\n"),
    in_stack("atomics come from base/", "std::atomic<int> a;\n"),
    in_stack("atomics come from base/", "__atomic_fetch_add(&a, 1, 0);\n"),
    in_stack("assembly belongs", 'asm volatile("" ::: "rsp");\n'),
    ("assembly belongs", {SWITCHER: SWITCHES, "nopal/stack/a.S": ""}, [SWITCHER]),
    in_stack(None, '// asm("nop"); std::atomic\n'),
    in_stack("which this file may not", "arch::nopal_arch_resume(x);\n"),
    in_stack("which this file may not", "arch::resume(x);\n"),
    ("changes none", {SWITCHER: ""}, [SWITCHER]),
    *(beside_a_switch("in a file that changes stacks", text) for text in (
        "f(base::acquire);\n", "f(memory_order_relaxed);\n", "full_fence();\n",
        "light_barrier();\n", "base::atomic<int> word{0};\n", "word.store(1);\n")),
    beside_a_switch(None, "stack::release(own);\n"),
    written("store names 0 of 1", "word.store(1);\n"),
    written("weak names 1 of 2", "word.compare_exchange_weak(a, b, relaxed);\n"),
    written(None, "word.compare_exchange_weak(a, b, relaxed, relaxed);\n"),
    *(written("writes an atomic", text) for text in (
        "word = 1;\n", "word |= 1;\n", "++word;\n", "word--;\n", "--self->idle.word;\n")),
]

CONFIG = {"nopal/config.h": "#define NOPAL_ABI parts\n"}
NAMES_ABI = "namespace NOPAL_ABI {}\n"
CONFIG_SAMPLES = [
    ("names NOPAL_ABI and", {**CONFIG, "nopal/a.h": NAMES_ABI}, []),
    ("names NOPAL_ABI and", {**CONFIG, "nopal/a.h": f"/*\n{include('nopal/config.h')}*/\n"
                             + NAMES_ABI}, []),
    (None, {**CONFIG, "nopal/a.h": include("nopal/config.h") + NAMES_ABI,
            "nopal/a.cc": include("nopal/a.h") + NAMES_ABI}, []),
    *((f"names {reads}, which ", {**CONFIG, "nopal/io/a.cc": f"auto* a = {text};\n"}, [])
      for reads, text in (("getenv", 'std::getenv("A")'), ("secure_getenv", 'secure_getenv("A")'),
                          ("environ", "*environ"))),
    (None, {**CONFIG, "nopal/config/environment.cc": 'auto* a = secure_getenv("A");\n'}, []),
    (None, {**CONFIG, "nopal/a.cc": '// getenv\nauto* a = "getenv";\n'}, []),
]

CIRCLE = {"nopal/sched/a.h": "", "nopal/sched/a.cc": include("nopal/sched/a.h", "nopal/sched/b.h"),
          "nopal/sched/b.h": include("nopal/sched/c.h"),
          "nopal/sched/c.h": include("nopal/sched/a.h")}
CIRCLES_SAMPLES = [
    ("'sched/a sched/b sched/c': a circle", CIRCLE, []),
    ("'sched/a sched/b sched/c': a circle", CIRCLE, ["sched/a sched/b"]),
    ("no circle any more", CIRCLE, ["sched/a sched/b sched/c", "sched/a sched/d"]),
    (None, CIRCLE, ["sched/a sched/b sched/c"]),
]

ROOM = {"nopal/sched/a.h": "void f();\n", "nopal/sched/b.h": "void g();\n",
        "nopal/sched/a.cc": "void f() {\n}\n[[noreturn]] void g() {\n}\n"}
B_CC = {"nopal/sched/b.cc": "namespace {\nvoid own() {\n}\n} // namespace\n"}
OPEN = ["--", "stack a"]
ENTERS = {"nopal/stack/a.h": "", "nopal/sched/c.h": include("nopal/stack/a.h")}
ROOMS_SAMPLES = [
    (None, ROOM, ["--"]),
    ("a.cc: defines g, which nopal/sched/a.h does not declare but nopal/sched/b.h",
     {**ROOM, **B_CC}, ["--"]),
    (None, {**ROOM, **B_CC}, ["sched/a.cc sched/b.h: it may", "--"]),
    ("nothing needs", ROOM, ["sched/a.cc sched/b.h: it may", "--"]),
    (None, ENTERS, OPEN),
    ("stack/b.h is no door", {**ENTERS, "nopal/fork.h": include("nopal/stack/b.h")}, OPEN),
    ("no other room includes it", {"nopal/stack/b.h": include("nopal/stack/a.h")}, OPEN),
]


def of_size(expected, text, path="nopal/a.cc"):
    """At most 40 lines of each part, 20 of a file, 3 of a function, 30 columns."""
    return (expected, {path: text}, ["40"] * 7 + ["20", "3", "30"])


SIZES_SAMPLES = [
    of_size("41 lines without io, process, mapped, c, algorithms and pstl/", "//\n" * 41),
    of_size("nopal/io: 41 lines", "//\n" * 41, "nopal/io/a.h"),
    of_size("nopal/process: 41 lines", "//\n" * 41, "nopal/process/a.h"),
    of_size("nopal/mapped: 41 lines", "//\n" * 41, "nopal/mapped/a.h"),
    of_size("nopal/c: 41 lines", "//\n" * 41, "nopal/arch/a_c.S"),
    of_size("nopal/c: 41 lines", "//\n" * 41, "nopal/nopal.h"),
    of_size("nopal/algorithms: 41 lines", "//\n" * 41, "nopal/algorithms/a.h"),
    of_size("nopal/algorithms: 41 lines", "//\n" * 41, "nopal/sort.h"),
    of_size("nopal/pstl: 41 lines", "//\n" * 41, "nopal/pstl/a.h"),
    of_size("21 lines, more than 20", "//\n" * 21),
    of_size("21 lines, more than 20", "#!/bin/bash\n" + "true\n" * 20, "script/a"),
    of_size("31 columns", "x" * 31 + "\n"),
    of_size("a function of 4 lines", "void f() {\n  g();\n  g();\n}\n"),
    of_size("a function of 4 lines", "class c {\n  c()\n      : a(1) {\n    g();\n  }\n};\n"),
    of_size("a function of 4 lines", "template <class F>\nauto f(F g) -> a<F> {\n  g();\n}\n"),
    of_size("a function of 4 lines", 'int f() {\n  a = "}"; // }\n  g();\n}\n'),
    of_size("a function of 4 lines", "def f():\n    g()\n    g()\n    g()\n", "tests/a.py"),
    of_size(None, "struct s {\n" + "  int f() { g(); }\n" * 9 + "};\n"),
    of_size(None, "int a[] = {\n" + "  1,\n" * 9 + "};\n"),
    of_size("do not balance", "namespace a {\n"),
]


def text_of(expected, text, path="README.md"):
    return (expected, {path: text}, [])


# Words that the rule looks for are in pieces, so that this file passes it.
TEXT_SAMPLES = [
    text_of("does not start with", "int a;\n", "nopal/a.h"),
    text_of("does not start with", "#!/bin/bash\ntrue\n", "script/a"),
    text_of("a note to self", SPDX + "// TO" "DO: more.\n", "nopal/a.h"),
    text_of("a note to self", "FIX" "ME\n"),
    text_of(None, "A todo list is no note.\n"),
    text_of("a path of one machine", "see /wo" "rk/notes\n"),
    text_of(None, "https://example.org/home/page\n"),
    text_of("the host of a package index", "http://deb.debian" ".org/debian\n"),
    text_of("a conflict marker", "<" * 7 + " one\n"),
    text_of("white space", "a \n"),
    text_of("a carriage return", "a\r\n"),
    text_of("does not end", "a"),
]

STEPS_OF = "of docs/pictures/steal.svg is not true any more: nopal/"
FLOORS = {"tests/repo/CMakeLists.txt": f'set(layers "{LAYERS}")\n'}
def offered(expected, text):
    """A public header."""
    return (expected, {"nopal/a.h": f"namespace nopal::inline NOPAL_ABI {{\n{text}}}\n"}, [])


DOCUMENTED_SAMPLES = [
    offered("f has no comment", "// What it does.\nvoid f();\n"),
    offered("g has no comment", "template <class T>\n  requires is<T>\nT g(T one) {\n}\n"),
    offered("callable has no comment", "template <class F>\nconcept callable = is<F>;\n"),
    ("b has no comment", {"nopal/process/a.h": "namespace nopal::inline NOPAL_ABI::process {\n"
                                               "class b {\n};\n}\n"}, []),
    offered("another order", "/// Calls.\n/// @throws a\n/// @pre b\nvoid f();\n"),
    offered(None, "/// Calls.\n/// @pre b\n/// @throws a\nvoid f();\nvoid f(int);\n"),
    offered(None, "/// A class.\nclass a {\n  void f();\n};\nnamespace detail {\nvoid g();\n}\n"),
]

# The tree in which each sample of `documents` writes one file.
SMALL = {
    "nopal/fork.h": "struct scope;\n",
    "nopal/noun.h": "struct noun {\n  int* first = nullptr; // a field\n  int second[2]{};\n"
    "  int size() const { return 2; }\n  int own_ = 0;\n};\n",
    "nopal/config/options.cc": 'const char* const known[] = {"NOPAL_SEED"};\n',
    "examples/a.cc": "// An example.\n\nint a;\nint b;\n",
    "tests/api/a_test.cc": "TEST(suite, test) {}\n",
    "tests/plugin/CMakeLists.txt": "plugin_test(calls plugin_program 8)\n",
    "CMakeLists.txt": 'option(NOPAL_CHECKS "check" OFF)\n',
    "CMakePresets.json": '{"configurePresets": [{"name": "check", "cacheVariables": '
    '{"NOPAL_CHECKS": "ON"}}]}',
}


NOUN = "## noun (`nopal/noun.h`)\n\n- {}: the owner.\n"


def written_in(path, expected, text):
    return (expected, {**SMALL, path: text}, [])


DOCUMENTS_SAMPLES = [
    written_in("a.md", "there is no nopal/none.h", "See `nopal/none.h`."),
    written_in("a.md", "there is no docs/none.md", "See [the page](docs/none.md)."),
    written_in("a.md", "there is no <nopal/none.h>", "`<nopal/none.h>`"),
    written_in("a.md", "there is no none.cc", "none.cc switches stacks."),
    written_in("a.md", "nothing is called nopal::none", "`nopal::none` forks."),
    written_in("a.md", "nothing reads NOPAL_NONE", "NOPAL_NONE=1 shows it."),
    written_in("a.md", "there is no preset none", "cmake --preset none"),
    written_in("a.md", "there is no test `suite.none`", "(`suite.none`)"),
    written_in("a.md", "there is no test `plugin.none_8`", "(`plugin.none_8`)"),
    written_in("a.md", "there is no test `none_model`", "`none_model`"),
    written_in("a.md", "is 1", "2 <!-- files examples/*.cc --> programs"),
    written_in("a.md", "is 4", "at most 3 <!-- lines examples/*.cc --> lines"),
    written_in("a.md", "is 2", "at most 1 <!-- code examples/*.cc --> line"),
    written_in("a.md", "nothing is called no_name", "`no_name()` forks."),
    written_in("a.md", "nopal/fork.h has no noun", "(`noun`, `nopal/fork.h`)"),
    written_in("README.md", "NOPAL_SEED has no row", "`NOPAL_SEED` is read."),
    written_in("docs/nouns.md", "noun::first is left out", NOUN.format("`second`")),
    written_in("docs/nouns.md", "nopal/noun.h has no none",
               NOUN.format("`first`, `second`, `none`")),
    written_in("docs/nouns.md", None, NOUN.format("`first`, `second`")),
    ("a_model is left out", {**SMALL, "tests/model/a_model.cc": "", "docs/model_checking.md": ""},
     []),
    written_in("nopal/a.h", "there is no sched/none.cc", "// The callers are in sched/none.cc."),
    written_in("script/a", "is given NOPAL_CACHE", "NOPAL_CACHE=1 build/fib\n"),
    written_in("script/a", "is given NOPAL_CACHE", "export NOPAL_CACHE=1\n"),
    written_in("a.cmake", "is given NOPAL_",
               "set_tests_properties(a PROPERTIES ENVIRONMENT NOPAL_CACHE=1)"),
    written_in("CMakePresets.json", "is no option",
               SMALL["CMakePresets.json"].replace("CHECKS", "NONE")),
    written_in("script/a", None, "NOPAL_SEED=1 build/fib\n"),
    written_in("a.md", None,
               "<nopal/fork.h>, a_test.cc, NOPAL_SEED, --preset check, 1/2, P/Q, examples/"),
    written_in("a.md", None,
               "`nopal::scope`, `suite.*`, `plugin.calls_8`, 1 <!-- files examples/*.cc -->"),
]

ANEW = "NOPAL_IN_CHILD([]() noexcept { base::renew(lock); });\n"
CHILD_SAMPLES = [
    ("lock does not begin", {"nopal/vproc/a.cc": "std::mutex lock;\n"}, []),
    ("lock does not begin", {"nopal/vproc/a.cc": "alignas(64) base::spin_lock lock;\n"}, []),
    ("lock does not begin", {"nopal/base/a.h": "inline constinit spin_lock lock;\n"}, []),
    ("changed does not begin", {"nopal/c/a.cc": "std::condition_variable changed;\n"}, []),
    (None, {"nopal/vproc/a.cc": "std::mutex lock; // of all\n" + ANEW}, []),
    (None, {"nopal/vproc/a.cc": "std::mutex lock;\n"}, ["nopal/vproc/a.cc lock: it may"]),
    (None, {"nopal/mapped/a.cc": "std::mutex lock;\n"}, []),
    ("lock is a lock of an object", {"nopal/io/a.h": "struct a {\n  std::mutex lock;\n};\n"}, []),
    (None, {"nopal/io/a.h": "struct a {\n  base::spin_lock lock;\n};\n"}, []),
    (None, {"nopal/io/a.cc": "struct a {\n  std::mutex lock;\n};\nbase::per_process<a> all;\n"},
     []),
    ("all is made behind a guard",
     {"nopal/io/a.cc": "a& get() {\n  static auto* const all = new a;\n  return *all;\n}\n"}, []),
    ("most is made behind a guard",
     {"nopal/io/a.cc": "int get() {\n  static const int most = count();\n  return most;\n}\n"},
     []),
    (None, {"nopal/io/a.cc": "a& get() {\n  static constinit base::per_process<a> all;\n"
                             "  return all.get();\n}\n"}, []),
]


SAMPLES = {
    "child": CHILD_SAMPLES,
    "layers": LAYERS_SAMPLES,
    "calls": CALLS_SAMPLES,
    "symbols": SYMBOLS_SAMPLES,
    "hardened": HARDENED_SAMPLES,
    "seams": SEAMS_SAMPLES,
    "config": CONFIG_SAMPLES,
    "circles": CIRCLES_SAMPLES,
    "rooms": ROOMS_SAMPLES,
    "sizes": SIZES_SAMPLES,
    "documented": DOCUMENTED_SAMPLES,
    "documents": DOCUMENTS_SAMPLES,
    "text": TEXT_SAMPLES,
    "patience": [
        ("a limit of its own", {"tests/a/b.py": "run(timeout=60)\n"}, []),
        ("a limit of its own", {"tests/a/CMakeLists.txt": "set(TIMEOUT 9)\n"}, []),
        ("a limit of its own", {"tests/a/b.cc": "void f() { alarm(9); }\n"}, []),
        (None, {"tests/a/b.py": "run(timeout=SECONDS)\n"}, []),
    ],
    "headers": [
        ("nopal/a.h: ", {"nopal/a.h": "#pragma once\nstd::size_t size();\n"}, ["CXX"]),
        ("redefinition", {"nopal/a.h": "struct a {};\n"}, ["CXX"]),
        ("redefinition", {"nopal/a.h": "struct a {};\n", "nopal/a.cc": '#include "nopal/a.h"\n'},
         ["CXX"]),
        ("nopal/a.h: ", {"nopal/a.h": "#pragma once\nstd::size_t size();\n",
                         "nopal/a.cc": '#include <cstddef>\n#include "nopal/a.h"\n'}, ["CXX"]),
        (None, {"nopal/a.h": "#pragma once\n#include <cstddef>\nstd::size_t size();\n"}, ["CXX"]),
        (None, {"nopal/a/b.h": "struct a {};\n"}, ["--public", "CXX"]),
        ("redefinition", {"nopal/b.h": "struct a {};\n"}, ["--public", "CXX"]),
    ],
    "formatted": [("1 places differ", {"nopal/a.h": "int f(int a );\n"}, [])],
    "pictures": [
        ("order of the layers", {"tests/repo/CMakeLists.txt": ""}, []),
        ("layers.svg is not what the sources say", FLOORS, []),
        ("is not one of the layers", {**FLOORS, "nopal/elsewhere/a.h": ""}, []),
        (f"find_work' {STEPS_OF}sched/steal.cc", FLOORS, []),
        ("a.svg was not drawn from a.json", {**FLOORS, "docs/results/a.json": "{}\n"}, []),
        ("a.svg has no JSON", {**FLOORS, "docs/results/a.svg": "<svg/>\n"}, []),
        ("docs/papers.md is not what", {**FLOORS, "docs/papers.md": "# old\n"}, []),
    ],
}


def write(root, path, text):
    place = os.path.join(root, path)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "w", encoding="utf-8", newline="") as file:
        file.write(text.replace("ROOT", root))
    if text.startswith("#!"):
        os.chmod(place, 0o755)


def wrong_about(rule, expected, files, arguments, compiler):
    """What is wrong with the rule's judgement of this sample, or None."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            write(root, path, text)
        given = [word.replace("ROOT", root).replace("CXX", compiler) for word in arguments]
        problems = rule.check(root, *given)
    if expected is None:
        return f"expected no problem, found {problems}" if problems else None
    if any(expected in problem for problem in problems):
        return None
    return f"expected {expected!r}, found {problems}"


def main(compiler, *names):
    wrong = []
    for name in names:
        rule = importlib.import_module(name)
        samples = SAMPLES.get(name, [])
        if hasattr(rule, "missing") and rule.missing():
            print(f"{name}: skipped, {rule.missing()} is not installed")
            continue
        found = [wrong_about(rule, *sample, compiler) for sample in samples]
        wrong += [f"{name}: sample {number}: {problem}"
                  for number, problem in enumerate(found) if problem]
        wrong += [] if samples else [f"{name}: has no samples"]
        print(f"{name}: {len(samples)} samples")
    print("\n".join(wrong))
    sys.exit(1 if wrong or not names else 0)


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 2 else sys.exit(__doc__)
