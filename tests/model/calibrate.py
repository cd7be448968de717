#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Puts known bugs of published algorithms back into the checked text: the models must find each.

A harness that misses a bug that others have shipped would tell nothing about ours. Each row is one
textual change; the text must be there exactly once, and the named model must fail with it.
"""

import argparse
import concurrent.futures
import os
import re
import sys
import tempfile

import known_bugs
import mutate
import views_bugs

BUGS = known_bugs.BUGS + views_bugs.BUGS

# The line that names the scenario, and the one in which Relacy names what it found.
_SCENARIO = re.compile(r"^(.*\S) +(?:random|all\b.*?) +\d+ executions  FAILED$", re.MULTILINE)
_FOUND = re.compile(r"^[A-Z][A-Z ]{5,}\(.*\)$", re.MULTILINE)


def find(checker, bug):
    """Whether the model fails, and the report of what it found."""
    _, path, before, after, model = bug
    with tempfile.TemporaryDirectory(prefix="nopal-calibrate-") as tree:
        checker.copy_to(tree)
        changed = os.path.join(tree, path)
        with open(changed, encoding="utf-8") as file:
            text = file.read()
        pattern = r"\s+".join(re.escape(word) for word in before.split())
        text, times = re.subn(pattern, lambda _: after, text)
        if times != 1:
            return False, f"the text to change is {times} times in {path}, not once"
        with open(changed, "w", encoding="utf-8") as file:
            file.write(text)
        passed, output = checker.run(tree, model)
    if passed:
        return False, f"{model} passes"
    scenario = _SCENARIO.search(output)
    found = _FOUND.search(output)
    return True, f"{scenario[1] if scenario else model}: {found[0] if found else 'failed'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    mutate.add_arguments(parser)
    options = parser.parse_args()
    # A bug is found soon, so compiling is what takes time.
    checker = mutate.Checker(options.root, options.compiler, options.includes, "-O0")
    missed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        verdicts = pool.map(lambda bug: find(checker, bug), BUGS)
        for bug, (found, what) in zip(BUGS, verdicts):
            missed += not found
            print(f"{'found ' if found else 'MISSED'} {bug[0]:46} {what}", flush=True)
    print(f"{len(BUGS) - missed} of {len(BUGS)} known bugs found")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
