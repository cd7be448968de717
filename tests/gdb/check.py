# SPDX-License-Identifier: MIT
"""gdb runs this on the program of stolen.cc, or on its core file: backtraces must show all callers.

STOLEN_TEST_GDB is the path of this gdb, STOLEN_TEST_CORE the path of the core file to write.
"""

import os
import re
import subprocess
import sys
import traceback

import gdb

BREAKPOINT = "reach_bottom"
KINDS = ("plain", "inlined", "wide", "aligned")
BETWEEN = {"inlined": ["inlined_call"], "wide": ["take_ten"]}
LINE = re.compile(
    r"^#(\d+) +(?:0x[0-9a-f]+ in )?(?:\(anonymous namespace\)::)?(\w+) \(.*\) at .*:(\d+)$"
)


def elements(name):
    array = gdb.parse_and_eval(f"'(anonymous namespace)::{name}'")["_M_elems"]
    low, high = array.type.strip_typedefs().range()
    return [int(array[at]) for at in range(low, high + 1)]


def source_lines():
    """Returns the line of each comment `// call in f`, `// next in f` and so on."""
    with open(gdb.lookup_global_symbol(BREAKPOINT).symtab.fullname(), encoding="utf-8") as file:
        lines = file.read().splitlines()
    matches = [(re.search(r"// (\w+ (in|of) \w+)$", line), at) for at, line in enumerate(lines, 1)]
    return {match[1]: at for match, at in matches if match}


def expected():
    """(function, line) of the frames that call `reach_bottom`, innermost first."""
    lines = source_lines()
    frames = [("go_deeper", lines["call of reach_bottom"])]
    for each in reversed(elements("order")):
        kind = KINDS[each]
        functions = [*BETWEEN.get(kind, ()), f"run_{kind}", "go_deeper"]
        frames += [(function, lines[f"call in {function}"]) for function in functions]
    return [*frames, ("run_all", lines["call in run_all"])]


def require(condition, *what):
    if not condition:
        raise AssertionError(" ".join(map(str, what)))


def check_backtrace():
    """Returns whether it ended in main."""
    text = gdb.execute("backtrace", to_string=True)
    shown = [match for match in map(LINE.match, text.splitlines()) if match]
    functions = [(match[2], int(match[3])) for match in shown]
    wanted = expected()
    require(functions[0][0] == BREAKPOINT, "stopped elsewhere:\n", text)
    require(functions[1 : len(wanted) + 1] == wanted, "expected:", wanted, "shown:\n", text)
    require("stopped" not in text, text)
    depth = len(elements("order"))
    for match in shown:
        if match[2].startswith("run_") and match[2] != "run_all":
            depth -= 1
            gdb.execute(f"frame {match[1]}", to_string=True)
            require(int(gdb.parse_and_eval("marker")) == 100 + depth, "marker of", match[0])
    gdb.execute("frame 0", to_string=True)
    return functions[-1] == ("main", source_lines()["call in main"])


def check_steps():
    """`finish` stops in the stolen frame, and `next` does not leave it for what it calls."""
    gdb.execute("finish", to_string=True)
    gdb.execute("finish", to_string=True)
    end = source_lines()["then in run_plain"]
    for _ in range(4):
        frame = gdb.newest_frame()
        require(str(frame.function()) == "run_plain(int)", "in", frame.function())
        require(int(gdb.parse_and_eval("marker")) == 104, "marker")
        if frame.find_sal().line == end:
            return
        gdb.execute("next", to_string=True)
    require(False, "the line was not reached")


def check_core():
    core = os.environ["STOLEN_TEST_CORE"]
    gdb.execute(f"generate-core-file {core}", to_string=True)
    program = gdb.current_progspace().filename
    script = os.path.abspath(__file__)
    safe = f"add-auto-load-safe-path {program}"
    command = [os.environ["STOLEN_TEST_GDB"], "-nx", "--batch", "-iex", safe, "-x", script]
    command += [program, core]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    finally:
        os.remove(core)
    require("all callers were shown" in done.stdout, "core file:", done.stdout, done.stderr)


def check_program():
    gdb.execute(f"break {BREAKPOINT}")
    gdb.execute("run")
    stops = in_main = steps = 0
    while gdb.selected_inferior().pid != 0:
        stops += 1
        in_main += check_backtrace()
        places = elements("places")
        if places[-2] < places[-1] and steps == 0:
            check_core()
            check_steps()
            steps += 1
        gdb.execute("continue", to_string=True)
    require(0 < in_main < stops and steps == 1, "too little was seen")
    print(f"all callers were shown at {stops} stops")


try:
    if gdb.selected_inferior().pid == 0:
        check_program()
    else:
        require(check_backtrace(), "main is missing")
        print("all callers were shown")
except Exception:
    traceback.print_exc(file=sys.stdout)
    gdb.execute("quit 1")
