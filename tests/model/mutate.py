#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Weakens each memory order of the checked headers, one at a time, and runs the models.

Each order, fence and barrier is there for a reason, so some model must fail without it (the mutant
is killed). A mutant that no model kills must be listed in survivors.py with the reason. A mutant
that is listed and killed, or listed and gone, is an error too: the list would be wrong.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import survivors

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from patience import SECONDS  # pylint: disable=wrong-import-position

HEADERS = (
    "nopal/algorithms/halves.h",
    "nopal/algorithms/turns.h",
    "nopal/base/count.h",
    "nopal/base/flag.h",
    "nopal/base/free_list.h",
    "nopal/deque/limit.h",
    "nopal/deque/public_ring.h",
    "nopal/base/spin_lock.h",
    "nopal/io/event_count.h",
    "nopal/io/uses.h",
    "nopal/join/cancelable.h",
    "nopal/join/descent.h",
    "nopal/deque/stack_map.h",
    "bench/baseline/the.h",
    "bench/baseline/chase_lev.h",
    "nopal/join/wait_free.h",
    "bench/baseline/locked.h",
    "nopal/stack/retirement.h",
    "nopal/vproc/computation.h",
    "nopal/sync/alarm_queue.h",
    "nopal/sync/batch_queue.h",
    "nopal/sync/dependents.h",
    "nopal/sync/fiber_locals.h",
    "nopal/sync/idle_list.h",
    "nopal/sync/once_event.h",
    "nopal/sync/parking.h",
    "nopal/sync/waiting_threads.h",
    "nopal/sync/provision.h",
    "nopal/sync/runner_items.h",
    "nopal/sync/shared_queue.h",
    "nopal/sync/standby_queue.h",
    "nopal/sync/wait_list.h",
    "nopal/sync/permit_queue.h",
    "nopal/sync/thread_waker.h",
    "nopal/sync/local_queue.h",
    "nopal/sync/members.h",
    "nopal/sync/rendezvous.h",
    "nopal/sync/signal_word.h",
    "nopal/sync/wait_word.h",
    "nopal/sync/watch.h",
    "nopal/process/run/ends.cc",
    "nopal/process/run/heap.cc",
    "nopal/process/transport/queue.h",
    "tests/model/fake_stack.h",  # order M, transcribed
)
MODELS = ("tests/model", "tests/baseline")
FLAGS = ["-std=c++20", "-w", '-DNOPAL_ATOMICS="tests/model/atomics.h"', "-DNOPAL_CHECKS=1"]

_ORDER = re.compile(r"base::(acquire|release|acq_rel|seq_cst)\b")
_FENCE = re.compile(r"base::(?:full_fence|light_barrier|heavy_barrier)\(\);")
# The models see what these headers do under their locks. Of other locks they see only that a lock
# excludes.
LOCKS = ("bench/baseline/the.h", "bench/baseline/locked.h", "nopal/io/event_count.h",
         "nopal/sync/alarm_queue.h", "nopal/sync/batch_queue.h", "nopal/sync/idle_list.h",
         "nopal/sync/members.h", "nopal/sync/permit_queue.h", "nopal/sync/once_event.h",
         "nopal/sync/provision.h", "nopal/sync/rendezvous.h", "nopal/sync/runner_items.h",
         "nopal/sync/shared_queue.h", "nopal/sync/standby_queue.h", "nopal/sync/wait_list.h",
         "nopal/join/descent.h")
_LOCK = re.compile(r"const base::locked guard\{(?:\w+(?:\.|->))*lock_?(?:\(\))?\};")
# Without it, another thread's barrier may fall between the load and the store of a pop.
_WHOLE = re.compile(r"const base::one_instruction whole;")
# Without the tag a position that was taken back and offered anew, or a number that came back, looks
# unchanged (ABA).
_TAG = re.compile(r"\(\(\((old|head) >> 32\) \+ 1\) << 32\)")
_LABEL = re.compile(r"//\s*([A-Z])(?![A-Za-z])")


class Mutant:
    """One change of one line of one header."""

    def __init__(self, header, number, line, span, replacement, times):
        self.header = header
        self.number = number
        self.before = line[span[0] : span[1]]
        self.replacement = replacement
        self.text = line[: span[0]] + replacement + line[span[1] :]
        code = line.split("//")[0].strip()
        self.column = len(_ORDER.findall(line[: span[0]]))
        if times > 1:
            code += f" #{times}"
        self.key = (header, code, self.column, replacement.replace("base::", ""))
        label = _LABEL.search(line)
        self.label = label[1] if label else ""

    def removes_lock(self):
        return bool(_LOCK.fullmatch(self.before))

    def describe(self):
        to = self.replacement or "removed"
        return f"{self.header}:{self.number} {self.label:1} {self.before} -> {to}"


def weaker(order, code):
    """The orders below `order` that the operation may be given."""
    if order == "seq_cst":
        if "fetch_" in code or "exchange" in code:
            return ["acq_rel", "relaxed"]
        return ["acquire", "relaxed"] if ".load(" in code else ["release", "relaxed"]
    return ["acquire", "release", "relaxed"] if order == "acq_rel" else ["relaxed"]


def mutants_of(root, header):
    found = []
    with open(os.path.join(root, header), encoding="utf-8") as file:
        lines = file.read().split("\n")
    seen = collections.Counter()
    for number, line in enumerate(lines, 1):
        code = line.split("//")[0]
        seen[code.strip()] += 1
        times = seen[code.strip()]
        for match in _ORDER.finditer(code):
            for order in weaker(match[1], code):
                found.append(Mutant(header, number, line, match.span(), f"base::{order}", times))
        removed = [*_FENCE.finditer(code), *_WHOLE.finditer(code)]
        if header in LOCKS:
            removed += _LOCK.finditer(code)
        for match in removed:
            found.append(Mutant(header, number, line, match.span(), "", times))
        for match in _TAG.finditer(code):
            untagged = f"(({match[1]} >> 32) << 32)"
            found.append(Mutant(header, number, line, match.span(), untagged, times))
    return found


class Checker:
    """Builds and runs models against a copy of the tree."""

    def __init__(self, root, compiler, includes, optimize="-O1"):
        self.root = root
        self.optimize = optimize
        self.compiler = compiler
        self.includes = [flag for folder in includes for flag in ("-I", folder)]
        names = sorted(
            f"{folder}/{name}"
            for folder in MODELS
            for name in os.listdir(os.path.join(root, folder))
            if name.endswith("_model.cc")
        )
        self.models = [(name, self.included(name)) for name in names]
        # The models that include least are the fastest, and test the least else.
        self.models.sort(key=lambda model: len(model[1]))

    def command(self, tree, name):
        source = os.path.join(tree, name)
        return [self.compiler, *FLAGS, self.optimize, "-I", tree, *self.includes, source]

    def included(self, name):
        command = [*self.command(self.root, name), "-MM"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        paths = done.stdout.split()[1:]
        return {os.path.relpath(path, self.root) for path in paths if path != "\\"}

    def copy_to(self, tree):
        for folder in ("nopal", "bench/baseline", *MODELS):
            shutil.copytree(os.path.join(self.root, folder), os.path.join(tree, folder))

    def run(self, tree, name):
        """Whether the model passes, and what it prints; raises if it cannot be told."""
        program = os.path.join(tree, os.path.basename(name) + ".out")
        subprocess.run([*self.command(tree, name), "-o", program], check=True)
        done = subprocess.run([program], capture_output=True, timeout=SECONDS, check=False)
        output = done.stdout.decode(errors="replace")
        if done.returncode == 0:
            return True, output
        if done.returncode == 1 and " failed\n" in output and "INTERNAL" not in output:
            return False, output
        if done.returncode in (-signal.SIGTERM, -signal.SIGINT, -signal.SIGKILL):
            raise RuntimeError(f"{name} was ended from outside")
        if done.returncode < 0:
            return False, output  # without the lock it crashed
        raise RuntimeError(f"{name} ended with status {done.returncode} and no verdict")

    def killer(self, mutant):
        """The first model that fails, or None."""
        with tempfile.TemporaryDirectory(prefix="nopal-mutant-") as tree:
            self.copy_to(tree)
            path = os.path.join(tree, mutant.header)
            with open(path, encoding="utf-8") as file:
                lines = file.read().split("\n")
            lines[mutant.number - 1] = mutant.text
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(lines))
            for name, included in self.models:
                if mutant.header in included and not self.run(tree, name)[0]:
                    return os.path.basename(name).removesuffix(".cc")
        return None


def judge(mutant, killer):
    """What the table says of a mutant, and whether that is as it should be."""
    reason = survivors.REASONS.get(mutant.key)
    if killer:
        verdict = f"killed by {killer}"
        return verdict + (", but listed as a survivor" if reason else ""), not reason
    return f"survived: {reason or 'no reason is listed'}", bool(reason)


def labels_without_a_kill(results):
    """Labels of orders none of whose mutants was killed or is explained."""
    labelled = {(mutant.header, mutant.label) for mutant, _ in results if mutant.label}
    fine = {
        (mutant.header, mutant.label)
        for mutant, killer in results
        if killer or mutant.key in survivors.REASONS
    }
    return sorted(labelled - fine)


def add_arguments(parser):
    parser.add_argument("root", help="the repository's root")
    parser.add_argument("compiler", help="the C++ compiler")
    parser.add_argument("-I", dest="includes", action="append", default=[],
                        help="Relacy's folder: tests/model/cpp20 of a build, which has C++20's "
                        "release sequences")
    parser.add_argument("-j", dest="jobs", type=int, default=2, help="programs at a time")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    parser.add_argument("-k", dest="only", default="", help="only mutants whose line says this")
    options = parser.parse_args()

    checker = Checker(options.root, options.compiler, options.includes)
    of_headers = {header: mutants_of(options.root, header) for header in HEADERS}
    for header, all_of_it in of_headers.items():
        if not all_of_it or header in LOCKS and not any(map(Mutant.removes_lock, all_of_it)):
            sys.exit(f"no order, or no lock, to weaken was found in {header}")
    mutants = [
        mutant
        for all_of_it in of_headers.values()
        for mutant in all_of_it
        if options.only in mutant.describe()
    ]
    if not mutants:
        sys.exit("no order to weaken was found")
    good = True
    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for mutant, killer in zip(mutants, pool.map(checker.killer, mutants)):
            verdict, fine = judge(mutant, killer)
            good &= fine
            results.append((mutant, killer))
            print(f"{'ok ' if fine else 'BAD'} {mutant.describe():82} {verdict}", flush=True)
            if not fine:
                print(f"    key: {mutant.key!r}", flush=True)
    for header, label in labels_without_a_kill(results):
        good = False
        print(f"BAD {header}: no mutant of order {label} was killed")
    if not options.only:
        for key in sorted(set(survivors.REASONS) - {mutant.key for mutant in mutants}):
            good = False
            print(f"BAD listed as a survivor, but no such mutant exists: {key!r}")
    killed = sum(killer is not None for _, killer in results)
    print(f"{killed} of {len(results)} mutants killed, {len(results) - killed} survived")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
