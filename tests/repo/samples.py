# SPDX-License-Identifier: MIT
"""Shows a rule this tree, in which it must find nothing, and this tree with one change at a time,
in which it must find what the change does wrong.

usage: samples.py RULE ROOT ARGUMENT...     the arguments with which the rule itself is run

The changes are in changes.py. A change whose place is not found is an error: it tests nothing.
"""

import importlib
import inspect
import os
import shutil
import sys
import tempfile

import calls
import changes
import tree


class Sample:
    """A copy of nopal/ and of what else is changed, and the arguments of a rule."""

    def __init__(self, root, arguments, changed, copy):
        self.root = root
        self.given = list(arguments)
        self.arguments = list(arguments)
        self.copy = copy
        for path in {*tree.files(root, "nopal"), *changed, ".clang-format"}:
            self.restore(path)

    def at(self, path):
        return os.path.join(self.copy, path)

    def restore(self, path):
        os.makedirs(os.path.dirname(self.at(path)), exist_ok=True)
        shutil.copyfile(os.path.join(self.root, path), self.at(path))

    def edit(self, path, place, replacement):
        """True if the place was there."""
        with open(self.at(path), encoding="utf-8", newline="") as file:
            text = file.read()
        match = place.search(text)
        if not match:
            return False
        with open(self.at(path), "w", encoding="utf-8", newline="") as file:
            file.write(text[: match.start()] + replacement + text[match.end() :])
        return True

    def move(self, path, to):
        """The file lies elsewhere, and the objects that were compiled from it do too."""
        if not os.path.exists(self.at(path)):
            return False
        os.makedirs(os.path.dirname(self.at(to)), exist_ok=True)
        os.rename(self.at(path), self.at(to))
        for number, argument in enumerate(self.arguments):
            if calls.source_of(argument) == path:
                moved = self.at(f"build/{number}/CMakeFiles/a.dir/{os.path.relpath(to, 'nopal')}.o")
                os.makedirs(os.path.dirname(moved))
                shutil.copyfile(argument, moved)
                self.arguments[number] = moved
        return True

    def argue(self, place, replacement):
        """Each argument in which the place is."""
        self.arguments = [place.sub(replacement, one) for one in self.given]
        return self.arguments != self.given

    def undo(self, change):
        self.arguments = list(self.given)
        shutil.rmtree(self.at("build"), ignore_errors=True)
        for path in change.paths:
            if os.path.exists(os.path.join(self.root, path)):
                self.restore(path)
            elif os.path.exists(self.at(path)):
                os.remove(self.at(path))


def judge(rule, sample, paths):
    """What the rule finds. One that looks at each file by itself looks at these alone."""
    if "only" in inspect.signature(rule.check).parameters:
        return rule.check(sample.copy, *sample.arguments, only=paths)
    return rule.check(sample.copy, *sample.arguments)


def wrong_about(rule, sample, change):
    """What is wrong with the rule's judgement of this change, or None."""
    if not change.apply(sample):
        return "the place of the change is not in the tree"
    problems = judge(rule, sample, change.paths)
    sample.undo(change)
    if change.expected is None:
        return f"expected no problem, found {problems}" if problems else None
    if any(change.expected in problem for problem in problems):
        return None
    return f"expected {change.expected!r}, found {problems}"


def main(name, root, *arguments):
    rule = importlib.import_module(name)
    if hasattr(rule, "missing") and rule.missing():
        print(f"skipped: {rule.missing()} is not installed")
        sys.exit(77)
    wanted = changes.CHANGES[name]
    changed = {one.paths[0] for one in wanted if one.paths}
    with tempfile.TemporaryDirectory() as copy:
        sample = Sample(root, arguments, changed, copy)
        wrong = [f"unchanged: {problem}" for problem in judge(rule, sample, changed)]
        for change in wanted:
            problem = wrong_about(rule, sample, change)
            if problem:
                wrong.append(f"{change}: {problem}")
    print("\n".join([*wrong, f"{name}: {len(wanted)} changes, {len(wrong)} problems"]))
    sys.exit(1 if wrong or not wanted else 0)


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in changes.CHANGES:
        sys.exit(__doc__)
    main(*sys.argv[1:])
