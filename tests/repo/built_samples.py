# SPDX-License-Identifier: MIT
"""Samples (samples.py) of the rules that look at built libraries."""


def listing(expected, *lines, library="a.a"):
    """A library of version 0.1 in which the tool finds these lines."""
    files = {"nopal/nopal.h": "int nopal_stop(void);\n",
             "tool": "#!/bin/sh\n" + "".join(f"echo '{line}'\n" for line in lines)}
    return (expected, files, ["ROOT/tool", "0.1", "nopal/nopal.h", "--", library])


SYMBOLS_SAMPLES = [
    listing(None, "0 T _ZN5nopal4v0_14base1fEv", "0 B nopal_self_v0_1", "0 T nopal_stop",
            "0 W _ZSt1fIiEvT_", "0 V _ZTIN5nopal4v0_11aE"),
    listing("_ZN5nopal4base1fEv has no version", "0 T _ZN5nopal4base1fEv"),
    listing("has no version", "0 T _ZN5nopal4v0_24base1fEv"),
    listing("has no version", "0 W _ZSt1fIN5nopal4v0_11aENS1_1bEN5nopal1cEEvT_"),
    listing("nopal_self has no version", "0 B nopal_self"),
    listing("helper has no version", "0 T helper"),
    listing("lists no symbol"),
    listing(None, "0 A NOPAL_0.1", "0 T nopal_stop@@NOPAL_0.1", library="a.so"),
    listing("is not shown as one of NOPAL_0.1", "0 T nopal_stop", library="a.so"),
]

HARD = ["  GNU_RELRO  0x1 0x1 0x1 0x1 0x1 R   0x1", "  GNU_STACK  0x0 0x0 0x0 0x0 0x0 RW  0x10",
        " 0x1e (FLAGS) BIND_NOW", " 0x0e (SONAME) Library soname: [liba.so.0.1]",
        " 3: 0 0 FUNC GLOBAL DEFAULT UND __stack_chk_fail@G",
        " 4: 0 0 FUNC GLOBAL DEFAULT UND __memcpy_chk@G"]


def hard(expected, *more, without=None):
    lines = [line for line in HARD if not without or without not in line]
    _, files, _ = listing(None, *lines, *more)
    return (expected, files, ["ROOT/tool", "0.1", "a.so"])


HARDENED_SAMPLES = [
    hard(None),
    hard("is not bound when it is loaded", without="BIND_NOW"),
    hard("tables that stay writable", without="GNU_RELRO"),
    hard("that the stack is not executable", without="GNU_STACK"),
    hard("that the stack is not executable", "  GNU_STACK 0x0 0x0 0x0 0x0 0x0 RWE 0x10",
         without="GNU_STACK"),
    hard("marks no frames", without="__stack_chk_fail"),
    hard("has no checked calls", without="__memcpy_chk"),
    hard("has a name without 0.1", without="SONAME"),
    hard("can be written and executed", "  LOAD 0x0 0x0 0x0 0x0 0x0 RWE 0x1000"),
    hard("has relocations in its code", " 0x16 (TEXTREL) 0x0"),
]
