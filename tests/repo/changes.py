# SPDX-License-Identifier: MIT
"""The changes of this tree that samples.py makes, for each thing that each rule claims. `expected`
is a part of what the rule must say then, or None where it must still find nothing.

The places are few, and in files that seldom change.
"""

import re


class Edit:
    """A place in a file, literal text or a pattern, becomes something else."""

    def __init__(self, expected, path, place, replacement):
        self.expected = expected
        self.paths = [path]
        self.place = place if isinstance(place, re.Pattern) else re.compile(re.escape(place))
        self.replacement = replacement

    def __str__(self):
        return f"{self.paths[0]}: {self.place.pattern!r} -> {self.replacement[:60]!r}"

    def apply(self, sample):
        return sample.edit(self.paths[0], self.place, self.replacement)


class Before(Edit):
    """Something stands before a place in a file."""

    def __init__(self, expected, path, place, addition):
        super().__init__(expected, path, place, addition + place)


class Move:
    """A file lies elsewhere."""

    def __init__(self, expected, path, to):
        self.expected = expected
        self.paths = [path, to]

    def __str__(self):
        return f"{self.paths[0]} lies at {self.paths[1]}"

    def apply(self, sample):
        return sample.move(*self.paths)


class Argue:
    """An argument of the rule is another."""

    def __init__(self, expected, place, replacement):
        self.expected = expected
        self.paths = []
        self.place = re.compile(place)
        self.replacement = replacement

    def __str__(self):
        return f"arguments: {self.place.pattern!r} -> {self.replacement!r}"

    def apply(self, sample):
        return sample.argue(self.place, self.replacement)


# Files that seldom change; the first three are of the lowest layer.
RANDOM = "nopal/base/random.h"
DIE = "nopal/base/die.cc"
OS = "nopal/base/os.cc"
STACK = "nopal/stack/stack.h"
FORK = "nopal/fork.h"
MUTEX = "nopal/mutex.cc"
TOPOLOGY_TEST = "tests/config/topology_test.cc"
STRAND = "tests/model/strand.h"
GDB = "nopal/arch/gdb.h"
RING = "nopal/process/launch/ring.h"
END = re.compile(r"\Z")

IN_RANDOM = "namespace nopal::base {"
IN_DIE = "void die(const char* format, ...) noexcept {\n"
IN_FORK = "    if (frame->steals() != 0)\n"
SWITCH = "      arch::nopal_arch_suspend(frame, sched::main_path_waits);\n"
ENABLE = "enabled.store(true, relaxed);"

LAYERS = [
    Edit("higher layer sched", STACK, "nopal/stack/retirement.h", "nopal/sched/forks.h"),
    Edit("higher layer vproc", RANDOM, "<cstdint>", "<nopal/vproc/worker.h>"),
    Before("higher layer base", "nopal/config.h", "#if", '#include "nopal/base/os.h"\n'),
    Edit("of a later folder", RING, "nopal/process/launch/watch.h", "nopal/process/run/ends.h"),
    Edit(None, RING, "nopal/process/launch/watch.h", "nopal/process/remote_error.h"),
    Edit("public API", STACK, "nopal/stack/retirement.h", "nopal/fork.h"),
    Edit("repository's root", STACK, "nopal/stack/retirement.h", "retirement.h"),
    Edit(None, FORK, "nopal/sched/forks.h", "nopal/loop.h"),
    Before(None, RANDOM, "#pragma once", '// #include "nopal/sched/forks.h"\n'),
    Move("not one of the layers", STACK, "nopal/elsewhere/stack.h"),
    Before("names sched::", RANDOM, "    state_ =", "    sched::start();\n"),
    Before("adds to sched::", RANDOM, IN_RANDOM, "namespace nopal::sched {\nvoid start();\n}\n"),
    Before("adds to vproc::", RANDOM, IN_RANDOM, "namespace nopal::vproc {\nstruct group;\n}\n"),
    Before(None, STACK, "namespace nopal::stack", "namespace nopal::base {\nstruct r;\n}\n"),
    Before("adds to base::", STACK, "namespace nopal::s", "namespace nopal::base {\nint r;\n}\n"),
    # As print_statistics was.
    Edit("adds to sched::", MUTEX, "void mutex::wait()", "void sched::wait()"),
    Argue("adds to arch::", "nopal/vproc/worker.cc arch", f"{GDB} arch"),
    Argue("nothing needs", "nopal/vproc/worker.cc arch", f"{GDB} arch"),
    Argue("is no exception", "nopal/vproc/worker.cc arch:", "nopal/vproc/worker.cc arch"),
]

CALLS = [
    # Its objects lie elsewhere too, so a lower layer refers to what a higher one defines.
    Move("of the public API defines", "nopal/sched/statistics.cc", "nopal/statistics.cc"),
    Move("a name of the layer sched", "nopal/sched/statistics.cc", "nopal/statistics.cc"),
    Move("a name of the layer base", DIE, "nopal/sched/die.cc"),
    Move("which nopal/sched/die.cc of sched defines", DIE, "nopal/sched/die.cc"),
    Argue("uses nopal_self", "x86_64.S nopal_self", "x86_64.S nopal_other"),
    Argue("may name nopal_other", "x86_64.S nopal_self", "x86_64.S nopal_other"),
    Argue("no object of it", r"(\.dir/.*base/)die\.cc", r"\1os.cc"),
    Argue("is its source", r"(\.dir/.*base/)die\.cc", r"\1none.cc"),
]

SEAMS = [
    Edit("atomics come from base/", STACK, "<cstddef>", "<atomic>"),
    Edit("atomics come from base/", STACK, "<cstddef>", "<stdatomic.h>"),
    Before("atomics come from base/", STACK, "namespace nopal::stack", "std::atomic<int> a;\n"),
    Before("atomics come from base/", FORK, IN_FORK, "    __atomic_fetch_add(&a, 1, 0);\n"),
    Before("assembly belongs", FORK, IN_FORK, '    asm volatile("" ::: "rsp");\n'),
    Before("assembly belongs", FORK, IN_FORK, '    __asm__("nop");\n'),
    Before(None, FORK, IN_FORK, '    // asm("nop"); std::atomic; base::relaxed\n'),
    Move("assembly belongs", "nopal/arch/x86_64_gdb.S", "nopal/sched/gdb.S"),
    # A file that changes stacks; this one says when a strand leaves its stack.
    *(
        Before(f"{order!r} in a file that changes stacks", FORK, IN_FORK, f"    step({order});\n")
        for order in [f"base::{one}" for one in "relaxed acquire release acq_rel seq_cst".split()]
        + ["memory_order_relaxed", "relaxed"]
    ),
    Before("'full_fence('", FORK, IN_FORK, "    base::full_fence();\n"),
    Before("'light_barrier('", FORK, IN_FORK, "    base::light_barrier();\n"),
    Before("'heavy_barrier('", FORK, IN_FORK, "    base::heavy_barrier();\n"),
    Before("'atomic<' in a file", FORK, IN_FORK, "    base::atomic<int> word{0};\n"),
    Before("'.store(' in a file", FORK, IN_FORK, "    frame->word.store(1);\n"),
    Before(None, FORK, IN_FORK, "    stack::release(own);\n"),
    Before("in a file that changes", GDB, "  reinterpret_cast", "  f(base::acquire);\n"),
    # A file that may not.
    *(
        Before("which this file may not", RANDOM, IN_RANDOM, f"void f() {{ {name}(x); }}\n")
        for name in ["arch::resume"]
        + [f"arch::nopal_arch_{one}" for one in "suspend park switch resume leave call_on".split()]
    ),
    Edit("changes none", FORK, SWITCH, "      sched::start();\n"),
    Argue("which this file may not", "^nopal/fork.h$", "nopal/loop.h"),
    # Orders are named everywhere.
    Edit("store names 0 of 1", OS, ENABLE, "enabled.store(true);"),
    Edit("load names 0 of 1", OS, "enabled.load(relaxed)", "enabled.load()"),
    Edit("exchange names 0 of 1", OS, ENABLE, "enabled.exchange(true);"),
    Edit("fetch_or names 0 of 1", OS, ENABLE, "enabled.fetch_or(true);"),
    Edit("weak names 1 of 2", OS, ENABLE, "enabled.compare_exchange_weak(a, b, relaxed);"),
    Edit(None, OS, ENABLE, "enabled.compare_exchange_weak(a, b, relaxed, relaxed);"),
    *(
        Edit("writes an atomic", OS, ENABLE, written)
        for written in ("enabled = true;", "enabled |= true;", "++enabled;", "enabled--;")
    ),
    Edit(None, OS, ENABLE, "const bool same = there == there;"),
    Before("writes an atomic", FORK, IN_FORK, "    idle.searching = 1;\n"),
    Before("writes an atomic", FORK, IN_FORK, "    --self->idle.searching;\n"),
]

REFUSED = "nopal/base/refused.h"
CONFIG_H = '#include "nopal/config.h"\n'
CONFIG = [
    Edit("names NOPAL_HIDDEN_BEGIN and", FORK, CONFIG_H, ""),
    Edit("names NOPAL_ABI and", MUTEX, '#include "nopal/mutex.h"\n', ""),
    Edit("names NOPAL_ABI and", MUTEX, "nopal/mutex.h", "nopal/fork.h"),
    Edit("names NOPAL_HIDDEN_BEGIN and", "nopal/runtime.h", CONFIG_H, ""),
    Edit("names NOPAL_HIDDEN_BEGIN and", FORK, CONFIG_H, "/*\n" + CONFIG_H + "*/\n"),
    Before("names NOPAL_PARTS", REFUSED, "#pragma once", "#if NOPAL_PARTS\n#endif\n"),
    Before(None, RANDOM, IN_RANDOM, "// NOPAL_ABI\n"),
]


def lines(count, text="  step();\n"):
    return text * count


SIZES = [
    Argue("lines without process/, more than 1000", r"^\d{5}$", "1000"),
    Argue("lines, more than 1000", r"^4\d{3}$", "1000"),
    Edit("more than 400", FORK, END, lines(400, "// x\n")),
    Edit("more than 400", "script/format", END, lines(400, "true\n")),
    Edit("columns, more than 100", FORK, "// Fork and join.", "// " + "x" * 98),
    Edit("columns, more than 100", "nopal/arch/x86_64.S", "    .text\n", "x" * 101 + "\n"),
    Edit(None, FORK, "// Fork and join.", "// " + "x" * 97),
    Edit("a function of", DIE, IN_DIE, IN_DIE + lines(60)),
    Edit(None, STRAND, "    check(", lines(50) + "    check("),
    Edit("a function of 61 lines", DIE, IN_DIE, "void f() {\n" + lines(59) + "}\n" + IN_DIE),
    Before(None, STRAND, "class strand {\n", "void f() {\n" + lines(58) + "}\n"),
    Before("a function of 62", DIE, IN_DIE, 'int f() {\n  a = "}"; // }\n' + lines(59) + "}\n"),
    Before("a function of", RANDOM, "    state_ =", lines(60, "    step();\n")),
    Before(
        "a function of",
        FORK,
        "    frame_.frame_pointer = this_frame();\n",
        lines(60, "    step();\n"),
    ),
    Before("a function of", FORK, "    if (!frame->is_of", lines(60, "    step();\n")),
    Before(
        "a function of 70 lines",
        RANDOM,
        "  std::uint32_t below",
        "  template <class T>\n  random(T) : state_{1}, b_(2) {\n" + lines(68) + "  }\n",
    ),
    Before(
        "a function of 71 lines",
        RANDOM,
        IN_RANDOM,
        "template <class F>\nauto f(F g) -> a<F> {\n" + lines(68) + "}\n",
    ),
    Edit(None, STRAND, "public:\n", "public:\n" + lines(70, "  int f() { g(); }\n")),
    Before(None, STRAND, "class strand {\n", "int a[] = {\n" + lines(70, "  1,\n") + "};\n"),
    Edit("a function of", TOPOLOGY_TEST, re.compile(r"(?<=\w\) \{\n)"), lines(60)),
    Edit("a function of", "tests/repo/tree.py", "    found = []\n", lines(60, "    found = []\n")),
    Edit("do not balance", DIE, "} // namespace nopal::base", "// namespace nopal::base"),
]

# In pieces, so that this file passes the rule.
TEXT = [
    Edit("does not start with", FORK, re.compile(r"\A.*\n"), ""),
    Edit("does not start with", "nopal/CMakeLists.txt", re.compile(r"\A.*\n"), ""),
    Edit("does not start with", "script/format", re.compile("# SPDX.*\n"), ""),
    Edit("does not start with", "tests/repo/tree.py", re.compile(r"\A.*\n"), ""),
    Edit("a note to self", FORK, "// Fork and join.", "// TO" "DO: fork and join."),
    Edit("a note to self", "README.md", END, "FIX" "ME\n"),
    Edit("a note to self", DIE, IN_DIE, "// XX" "X\n" + IN_DIE),
    Edit(None, FORK, "// Fork and join.", "// A todo list is no note."),
    Edit("a path of one machine", "README.md", END, "see /wo" "rk/notes\n"),
    Edit("a path of one machine", "script/format", END, "cd '/ho" "me/me'\n"),
    Edit(None, "README.md", END, "https://example.org/home/page\n"),
    Edit("the host of a package index", "README.md", END, "http://deb.debian" ".org/debian\n"),
    Edit("a conflict marker", "README.md", END, "<" * 7 + " one\n"),
    Edit("white space", "README.md", "\n", " \n"),
    Edit("a carriage return", "README.md", "\n", "\r\n"),
    Edit("does not end", "README.md", re.compile(r"\n\Z"), ""),
]

PATIENCE = [
    Edit("a limit of its own", "tests/interop/table.py", "timeout=SECONDS", "timeout=60"),
    Edit("a limit of its own", "tests/interop/CMakeLists.txt", "${NOPAL_LONG_TEST_TIMEOUT}", "9"),
    Before("a limit of its own", TOPOLOGY_TEST, "namespace", "void f() { alarm(9); }\n"),
    Edit(None, "tests/interop/table.py", "timeout=SECONDS", "timeout=None"),
]

HEADERS = [
    Edit("nopal/base/random.h: ", RANDOM, "#include <cstdint>\n", ""),
    Edit("redefinition", RANDOM, "#pragma once\n", ""),
    Edit("nopal/base/random.h: ", RANDOM, "return static_cast<std::uint32_t>", "return "),
]

FORMATTED = [
    Edit("places differ", RANDOM, "(std::uint32_t bound)", "( std::uint32_t bound )"),
    Edit("places differ", DIE, IN_DIE, IN_DIE.replace(" {", "{")),
]

LAYERS_DRAWN = "layers.svg is not what the sources say"
STEAL_DRAWN = "steal.svg is not what the sources say"
NO_STEP = "of docs/pictures/steal.svg is not true any more: nopal/"
FORKS = "nopal/sched/forks.cc"
PICTURES = [
    Edit(LAYERS_DRAWN, "docs/pictures/layers.svg", "public API", "interface"),
    Edit(STEAL_DRAWN, "docs/pictures/steal.svg", "find_work", "find"),
    Edit("order of the layers", "tests/repo/CMakeLists.txt", "set(layers ", "set(floors "),
    Edit(LAYERS_DRAWN, "tests/repo/CMakeLists.txt", "deque join", "join deque"),
    Edit("is not one of the layers", "tests/repo/CMakeLists.txt", "deque join", "join"),
    Before(LAYERS_DRAWN, RANDOM, "#pragma once", '#include "nopal/vproc/worker.h"\n'),
    Move(LAYERS_DRAWN, DIE, "nopal/base/last.cc"),
    Edit(LAYERS_DRAWN, DIE, IN_DIE, IN_DIE + lines(300)),
    Edit(None, DIE, IN_DIE, IN_DIE + lines(5)),
    # A call of it is still there.
    Edit(f"{NO_STEP}sched/forks.cc", FORKS, "void child_returned(", "void done("),
    Edit(f"publish' {NO_STEP}deque/", "nopal/deque/stack_map.h", " publish(Rec", " show(Rec"),
    # As is the overload for what was joined.
    Edit(f"run(stolen)' {NO_STEP}", "nopal/sched/schedule.cc", "run(worker* self, s", "go(stack s"),
    Edit(f"resume' {NO_STEP}arch/", "nopal/arch/x86_64.S", " function nopal_arch_r", " function r"),
    Move(f"announce_work' {NO_STEP}", "nopal/sched/idle.cc", "nopal/sched/asleep.cc"),
]

CHANGES = {
    "layers": LAYERS,
    "calls": CALLS,
    "seams": SEAMS,
    "config": CONFIG,
    "sizes": SIZES,
    "text": TEXT,
    "patience": PATIENCE,
    "headers": HEADERS,
    "formatted": FORMATTED,
    "pictures": PICTURES,
}
