# SPDX-License-Identifier: MIT
"""Checks that a file of a layer includes, names and defines only what its layer may.

usage: layers.py ROOT "LAYER ..." EXCEPTION...     the layers, lowest first

A LAYER with a dot in it is one file directly in nopal/, ranked among the folders. The other
files directly in nopal/ are the public API: they may include anything and no layer includes them.

A layer's names lie in the namespace that is called as it is. A file names no namespace of a higher
layer, as a declaration of what is defined there does; and no file declares or defines anything in
the namespace of a lower one, but for a struct that it names without including it. What has no
namespace is the matter of calls.py, which reads the compiled objects. An EXCEPTION allows one file
one namespace (upwards.py); "public" in the place of a namespace allows it to include the public
API.

What is said of a layer holds for its folders too: these belong to it. An argument "folders of
LAYER: FOLDER ..." has their order, lowest first: a file of one includes none of a later one.
"""

import re
import sys

import tree
import upwards

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
_STRUCTS = r"\s*(?:(?:struct|class)\s+\w+\s*;\s*)*\}"
_NAMESPACE = re.compile(rf"\bnamespace\s+([\w:\s]+?)\s*\{{({_STRUCTS})?")
_AFTER_PARAMETERS = re.compile(r"\s*(?:const\b|noexcept\b|->[^{};()]*|\s)*\{")


def layer_of(path):
    """The layer of a path below nopal/: its folder, or its own name."""
    parts = path.split("/")
    return parts[1] if len(parts) > 1 else None


def check(root, layers, *exceptions):
    order = layers.split()
    rank = {name: place for place, name in enumerate(order)}
    folders = dict(filter(None, map(order_of_folders, exceptions)))
    allowed = upwards.Exceptions(each for each in exceptions if not order_of_folders(each))
    problems = []
    for path in tree.cpp_files(root, "nopal"):
        mine = layer_of(path)
        public = path.count("/") == 1 and mine not in rank
        if not public and mine not in rank:
            problems.append(f"{path}: nopal/{mine}/ is not one of the layers {' '.join(order)}")
            continue
        text = tree.read(root, path)
        found = includes(path, tree.code_only(text, keep_strings=True), mine, public, rank, allowed)
        found += between_folders(path, text, mine, folders.get(mine, []))
        found += names(path, tree.code_only(text), mine, public, rank, allowed)
        problems += [f"{path}:{tree.line_of(text, at)}: {problem}" for at, problem in found]
    return problems + allowed.leftover()


def includes(path, text, mine, public, rank, allowed):
    found = [(m.start(), judge(m[1], m[2], mine, public, rank)) for m in _INCLUDE.finditer(text)]
    return [
        (at, problem)
        for at, problem in found
        if problem and not ("public API" in problem and allowed.allow(path, "public"))
    ]


def order_of_folders(argument):
    """The layer and its folders, if the argument says them; else None."""
    match = re.fullmatch(r"folders of (\w+): (.+)", argument)
    return (match[1], match[2].split()) if match else None


def between_folders(path, text, mine, order):
    """Includes of a folder of the layer that comes after the file's own."""
    place = {f"nopal/{mine}/{folder}": number for number, folder in enumerate(order)}
    own = place.get(path.rpartition("/")[0])
    if own is None:
        return []
    return [
        (match.start(), f"{match[2]} is of a later folder")
        for match in _INCLUDE.finditer(tree.code_only(text, keep_strings=True))
        if place.get(match[2].rpartition("/")[0], own) > own
    ]


def judge(quote, target, mine, public, rank):
    """What is wrong with one include, or None."""
    if not target.startswith("nopal/"):
        if quote == '"':
            return f'"{target}" is not written as a path from the repository\'s root'
        return None
    theirs = layer_of(target)
    if public:
        return None
    if theirs not in rank:
        return f"layer {mine} includes {target}, which belongs to the public API"
    if rank[theirs] > rank[mine]:
        return f"layer {mine} includes {target} of the higher layer {theirs}"
    return None


def names(path, text, mine, public, rank, allowed):
    """Namespaces of higher layers that are named, and of other layers that are added to."""
    found = []
    for theirs in rank:
        if theirs == mine or "." in theirs:
            continue
        higher = not public and rank[theirs] > rank[mine]
        uses = used(theirs, text) if higher else []
        added = additions(theirs, text, higher)
        if (uses or added) and allowed.allow(path, theirs):
            continue
        user = "the public API" if public else f"layer {mine}"
        found += [(at, f"{user} names {theirs}::, the higher layer {theirs}'s") for at in uses]
        found += [(at, f"{user} adds to {theirs}::, the layer {theirs}'s") for at in added]
    return found


def used(layer, text):
    return [match.start() for match in re.finditer(rf"(?<!std::)\b{layer}\s*::", text)]


def additions(layer, text, even_structs):
    """Where the layer's namespace is opened, or a function of it is defined by its full name."""
    opened = [
        match.start()
        for match in _NAMESPACE.finditer(text)
        if layer in re.findall(r"\w+", match[1]) and (even_structs or not match[2])
    ]
    for match in re.finditer(rf"\b{layer}\s*::\s*(?:\w+\s*::\s*)*\w+\s*\(", text):
        after = match.end() + len(tree.in_parentheses(text, match.end() - 1)) + 1
        if _AFTER_PARAMETERS.match(text, after):
            opened.append(match.start())
    return opened


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    tree.report(check(*sys.argv[1:]), len(tree.cpp_files(sys.argv[1], "nopal")))
