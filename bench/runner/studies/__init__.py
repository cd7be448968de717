# SPDX-License-Identifier: MIT
"""Studies: the comparisons that a paper or a design question asks for, each one command.

A study is a module of this folder whose name has no leading underscore; `bench/run.py --study
NAME` finds it by that name. It defines

    ABOUT       what it answers, one line without a full stop
    PROBLEMS    the problems it measures, in the order in which it shows them; -b narrows them
    ROUNDS      its number of rounds, unless -n says otherwise
    SIZE        its size, unless -s says otherwise
    workers(cores)
                its numbers of workers on a machine with so many cores, unless -t says otherwise
    configurations(wish)
                the (problem, runtime, workers) it wants measured, in any order, repetitions
                allowed. What is not built is left out and reported. A runtime of ours may carry a
                stack policy, nopal:budget:0. A problem may carry a number, tree@1024: its program
                is then run with `--n 1024`; or a size, tree@paper, in place of the study's. A
                problem need not be one of PROBLEMS: any name that programs.json lists for the
                runtime will do.
    checks(result)
                the rows of the JSON's `checks`, best made by runner.checks.evaluate
    tables(result), figures(result)
                lists of Table and of Figure for the page, also where little was measured

and, where it has use for them,

    judged(wish)
                the configurations whose times its checks judge; these run in every round, the
                others only in as many as a median for a figure needs. Without it all run in every
                round.
    once(wish)  the configurations that run in the first round alone
    lines(result)
                what the terminal shows, in place of the times of all runs and of what was left out
    picture(result)
                the Figure of --svg, which documents show; without it, the first of figures()
    extra(build, wish)
                runs them, before anything is measured, and returns a dictionary that JSON
                can hold; it comes back as result.extra, also from a file. Its `failures`, where
                it has them, are sentences about what failed
    PROGRAMS    what extra() runs besides the problems' programs, by name
    WITHIN_S    the seconds that the whole may take, unless --within says otherwise
    COMPARES_BUILDS
                whether --before may name an older build: then wish.before is True, and the runtimes
                nopal-before and nopal-again are built
    HAS_ALL     whether --all may ask for what takes long: then wish.all is True

`checks`, `tables` and `figures` must follow from `result` alone, which may have been read from
files: they are called again when files are merged. Nothing in them may name a path or a host.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil

from runner.programs import UsageError
from runner.rounds import Rounds


@dataclasses.dataclass(frozen=True)
class Wish:
    """What the command line asks of a study, its defaults filled in."""

    problems: list
    workers: list
    size: str
    rounds: int
    cores: int
    # Whether -t was given.
    workers_asked: bool
    # Whether an older build was given.
    before: bool = False
    # Whether --all was given.
    all: bool = False

    def narrow(self, counts):
        """A figure's own numbers of workers; what -t asks for takes the place of the defaults."""
        if not self.workers_asked:
            return list(counts)
        return [count for count in self.workers if min(counts) <= count <= max(counts)]


@dataclasses.dataclass(frozen=True)
class Table:
    """Cells are text, numbers, or None for what was not measured."""

    title: str
    head: list
    rows: list
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Figure:
    """`svg` is None where nothing of it was measured."""

    title: str
    svg: str | None
    note: str = ""
    # Whether it draws lines from the 10th to the 90th percentile.
    spreads: bool = True


class Result:
    """What was measured, for `checks`, `tables` and `figures`.

    `rounds` answers through runner.rounds: value(speed_up, result.rounds, "fib", "nopal", 2) is a
    Value to be drawn or shown, also a bound, or None.
    """

    def __init__(self, measurement, wish, extra):
        self.measurement = measurement
        self.wish = wish
        self.extra = extra
        self.rounds = Rounds(measurement)


def names():
    return sorted(found.name for found in pkgutil.iter_modules(__path__)
                  if not found.name.startswith("_"))


def find(name):
    """The module of a study."""
    if name not in names():
        raise UsageError(f"Study '{name}' is not known; accepted are {', '.join(names())}.")
    return importlib.import_module(f"{__name__}.{name}")
