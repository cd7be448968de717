# SPDX-License-Identifier: MIT
"""Checks, in the compiled objects, that no layer calls a higher one or the public API.

usage: calls.py ROOT NM "LAYER ..." EXCEPTION... -- OBJECT... SOURCE...     layers, lowest first

NM is the program that lists symbols. The OBJECTs are all of nopal/, once for each library; the path
of one tells its source (.../CMakeFiles/<target>.dir/sched/steal.cc.o). An object refers to no
symbol that a higher layer alone defines, and defines none in another layer's namespace. Only
symbols with nopal in their names count: check builds define functions of the C library anew. A
source without an object is a problem unless it is named as a SOURCE, one that is not compiled on
this machine; so is an object that NM cannot read. An EXCEPTION allows one file one symbol
(upwards.py). A call in a header is compiled into the files that include it, and counts as theirs;
layers.py reads the headers.
"""

import os
import re
import subprocess
import sys

import tree
import upwards

_SOURCE = re.compile(r"/CMakeFiles/[^/]+\.dir/(.+)\.(?:o|obj)$")
_PARTS = r"v\d+_\w+"  # NOPAL_ABI in config.h
_VERSIONED = re.compile(rf"^(nopal_\w+?)_{_PARTS}$")  # nopal/arch/names.h
_SYMBOL = re.compile(r"^(.*\.(?:o|obj)):\s*(?:[0-9a-fA-F]+)?\s+([A-Za-z]) (.*)$")


def source_of(path):
    """The file of nopal/ that was compiled to this object, or None."""
    match = _SOURCE.search(os.path.normpath(path))
    return f"nopal/{match[1]}" if match else None


def listed(nm, objects):
    """(source, kind, symbol) of each symbol of the objects, and what went wrong."""
    command = [nm, "--demangle", "--print-file-name", *objects]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return [], [f"{nm}: {line}" for line in done.stderr.split("\n") if line]
    symbols = []
    for line in done.stdout.split("\n"):
        match = _SYMBOL.match(line)
        if match and "nopal" in match[3]:
            name = _VERSIONED.sub(r"\1", match[3])
            symbols.append((source_of(match[1]), match[2], name))
    return symbols, []


def check(root, nm, layers, *rest):
    split = rest.index("--") if "--" in rest else len(rest)
    allowed = upwards.Exceptions(rest[:split])
    left_out = {path for path in rest[split + 1 :] if path.endswith(".cc")}
    objects = [path for path in rest[split + 1 :] if path not in left_out]
    rank = {name: place for place, name in enumerate(layers.split())}
    sources = {path for path in tree.cpp_files(root, "nopal") if not path.endswith(".h")}
    compiled = {path: source_of(path) for path in objects}
    missing = sources - left_out - set(compiled.values())
    problems = [f"{each}: no object of it is given" for each in missing]
    for path, source in compiled.items():
        if source not in sources:
            problems.append(f"{path}: no file of nopal/ is its source")
    if problems:
        return sorted(problems)
    symbols, problems = listed(nm, objects)
    found = calls(symbols, rank, allowed) + definitions(symbols, rank)
    return problems + sorted(set(found)) + allowed.leftover()


def layer_of(path, rank):
    """The layer of a source, and its place; the public API is above all."""
    folder = path.split("/")[1]
    return (folder, rank[folder]) if folder in rank else ("the public API", len(rank))


def calls(symbols, rank, allowed):
    """A definition that is weak is an inline one: every object that can call it has it too."""
    owners = {}
    for source, kind, name in symbols:
        if kind.isupper() and kind != "U" or kind == "u":
            owners.setdefault(name, []).append(source)
    problems = []
    for source, kind, name in symbols:
        if kind not in "Uwv" or name not in owners:
            continue
        lowest = min(owners[name], key=lambda owner: layer_of(owner, rank)[1])
        mine, theirs = layer_of(source, rank), layer_of(lowest, rank)
        if theirs[1] > mine[1] and not allowed.allow(source, name.partition("(")[0]):
            problems.append(f"{source}: uses {name}, which {lowest} of {theirs[0]} defines")
    return problems


def definitions(symbols, rank):
    """What another layer's namespace holds is defined there. Kind W or V is an inline function."""
    namespace = re.compile(rf"nopal::(?:{_PARTS}::)?({'|'.join(map(re.escape, rank))})::")
    problems = []
    for source, kind, name in symbols:
        match = namespace.match(name)
        if match and kind in "TDBRGS" and match[1] != layer_of(source, rank)[0]:
            problems.append(f"{source}: defines {name}, a name of the layer {match[1]}")
    return problems


if __name__ == "__main__":
    if len(sys.argv) < 5 or "--" not in sys.argv:
        sys.exit(__doc__)
    tree.report(check(*sys.argv[1:]), len(sys.argv) - sys.argv.index("--") - 1)
