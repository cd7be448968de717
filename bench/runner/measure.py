# SPDX-License-Identifier: MIT
"""Runs every configuration once per round, each in a fresh process, in shuffled order.

The runs of one problem follow each other, so that what is compared was measured closely together.
A configuration that only a figure shows may take part in fewer rounds than one that a check judges.
"""

import json
import os
import random
import subprocess
import sys

from runner.budget import NO_LIMIT
from runner.load import Unknown, keep_quiet
from runner.programs import CALLED, OWN_RUNTIMES, SIZES, base, environment_of

FIELDS = ["problem", "runtime", "workers", "size", "n", "time_s", "verified", "forks",
          "max_rss_kib", "minor_faults", "steals", "suspensions", "unmaps", "stacks",
          "stack_pages", "page_counts", "live_pages", "dead_pages", "rss_before_kib",
          "depth", "serial_pages", "told"]
# Where no terminal shows the bar, a line tells how far it is after so many seconds.
SECONDS_A_LINE = 10
# So many rounds, at most, have the configurations that are measured seldom.
SELDOM_ROUNDS = 5


class Failed(Exception):
    """One run that gave no verified result."""


class Refused(Exception):
    """A runtime that cannot do what was asked, such as run more workers than processors."""


class TooLong(Exception):
    """One run that was stopped."""


class OutOfTime(Exception):
    """One run that the budget of the whole has no time for."""


def words(configuration):
    problem, runtime, workers = configuration
    return f"{problem} on {runtime} with {workers} worker{'s' if workers > 1 else ''}"


def run_once(program, configuration, size, limit_s, budget=NO_LIMIT, launcher=()):
    """The JSON line of one process, or an exception that says why there is none."""
    if budget.left() <= 0:
        raise OutOfTime()
    problem, runtime, workers = configuration
    environment = {**os.environ, **environment_of(problem, runtime)}
    problem, _, number = problem.partition("@")
    if number in SIZES:
        size, number = number, ""
    command = [*launcher, str(program), "--size", size, "--workers", str(workers)]
    if number:
        command += ["--n", number]
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              timeout=min(limit_s, budget.left()),
                              stdin=subprocess.DEVNULL, check=False, env=environment)
    except subprocess.TimeoutExpired as error:
        raise (OutOfTime() if budget.left() <= 0 else TooLong()) from error
    except OSError as error:
        raise Failed(f"it could not be started: {error.strerror}") from error
    said = done.stderr.strip().splitlines()
    because = f" ({said[-1]})" if said else ""
    try:
        line = json.loads(done.stdout)
    except ValueError:
        line = None
    if isinstance(line, dict) and line.get("verified") is False:
        raise Failed("its result is wrong")
    if done.returncode == 2 and said and base(runtime) not in OWN_RUNTIMES:
        raise Refused(said[-1])
    if done.returncode < 0:
        raise Failed(f"it was ended by signal {-done.returncode}{because}")
    if done.returncode > 0:
        raise Failed(f"it ended with status {done.returncode}{because}")
    if not isinstance(line, dict) or sorted(line) != sorted(FIELDS):
        raise Failed("it did not print one JSON line with the fields expected")
    called = CALLED.get(base(runtime), base(runtime))
    wanted = {"problem": problem, "runtime": called, "workers": workers, "size": size,
              "verified": True}
    if number:
        wanted["n"] = int(number)
    for key, value in wanted.items():
        if line[key] != value:
            raise Failed(f"it says {key} {line[key]!r} where {value!r} was asked for")
    return {**line, "problem": configuration[0], "runtime": runtime}


def minutes(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


class Progress:
    """A bar with the time that went by and the time that remains, guessed from what each
    configuration took before and bounded by the budget."""

    WIDTH = 30

    def __init__(self, plan, budget):
        self.plan = plan
        self.budget = budget
        self.begin = self.last_line = budget.clock()
        self.total = sum(map(len, plan.rounds_of.values()))
        self.done = 0
        self.took = {}
        self.spent = 0.0
        self.on_terminal = sys.stderr.isatty()

    def expected(self, configurations):
        """Seconds that one run of each takes; those that never ran take the average."""
        average = self.spent / self.done if self.done else 0.0
        return sum(self.took.get(c, average) for c in configurations)

    def times(self, ahead, number):
        """What went by and, once there is something to guess from, what remains."""
        gone = f"{minutes(self.budget.clock() - self.begin)} elapsed"
        if not self.done:
            return gone
        remaining = self.expected(ahead) + sum(
            self.expected([c]) * self.plan.after(c, number) for c in self.plan.rounds_of)
        return f"{gone}, {minutes(max(0, min(remaining, self.budget.left())))} left"

    def show(self, configuration, ahead, number):
        """`ahead` is what this round still has."""
        if self.on_terminal:
            filled = self.WIDTH * self.done // self.total
            bar = "#" * filled + "." * (self.WIDTH - filled)
            sys.stderr.write(f"\r\x1b[K[{bar}] {self.done}/{self.total} "
                             f"{self.times(ahead, number)}  {words(configuration)}")
        elif self.budget.clock() - self.last_line >= SECONDS_A_LINE:
            self.last_line = self.budget.clock()
            sys.stderr.write(f"{self.done} of {self.total} runs, {self.times(ahead, number)}\n")
        sys.stderr.flush()

    def finished(self, configuration, seconds):
        self.took[configuration] = seconds
        self.spent += seconds
        self.done += 1

    def dropped(self, runs):
        self.total -= runs

    def round_over(self, number, rounds):
        if self.on_terminal:
            sys.stderr.write("\r\x1b[K")
        else:
            gone = minutes(self.budget.clock() - self.begin)
            sys.stderr.write(f"round {number} of {rounds} done, {gone} elapsed\n")
        sys.stderr.flush()


class Measurement:
    """All samples of a run, what failed, what was stopped as too slow, what was refused."""

    def __init__(self, configurations, size, rounds):
        self.configurations = configurations
        self.size = size
        self.rounds = rounds
        self.samples = {c: {} for c in configurations}
        self.failures = {}
        self.stopped = {}
        self.refused = {}
        # A sentence about rounds that were left out, or None; and about runs beside other programs.
        self.cut = None
        self.others = {c: {} for c in configurations}
        self.loud = None

    def cut_after(self, rounds, budget):
        """Says that the budget has no place for more rounds than these."""
        self.cut = (f"{rounds} of {self.rounds} rounds were run: one more would not have ended "
                    f"within {budget.seconds:g} s.")
        self.rounds = rounds

    def fail(self, configuration, reason):
        self.failures.setdefault(configuration, []).append(reason)

    def failure_sentences(self):
        sentences = []
        for configuration, reasons in self.failures.items():
            runs = len(reasons) + len(self.samples.get(configuration, {}))
            sentences.append(f"{words(configuration)} failed in {len(reasons)} of {runs} runs: "
                             f"{reasons[0]}.")
        return sentences

    def notes(self):
        """Sentences about what has no figures, though it did not fail."""
        return [f"{words(c)} was stopped after {limit:g} s, as --at-most asked."
                for c, limit in self.stopped.items()] + [
                    f"{words(c)} was left out: {said}." for c, said in self.refused.items()] + (
                        [said for said in (self.cut, self.loud) if said])

    def times(self, configuration):
        return {r: line["time_s"] for r, line in self.samples.get(configuration, {}).items()}


def shuffled(configurations, order):
    """Problems in random order, and in random order the configurations of each."""
    problems = sorted({configuration[0] for configuration in configurations})
    order.shuffle(problems)
    queue = []
    for problem in problems:
        block = [c for c in configurations if c[0] == problem]
        order.shuffle(block)
        queue += block
    return queue


class Plan:
    """Which configuration runs in which round; rounds of seldom ones are spread evenly."""

    def __init__(self, configurations, rounds, seldom, once):
        step = -(-rounds // SELDOM_ROUNDS)
        self.rounds_of = {c: range(1, 2 if c in once else rounds + 1, step if c in seldom else 1)
                          for c in configurations}

    def due(self, number):
        return [c for c, rounds in self.rounds_of.items() if number in rounds]

    def after(self, configuration, number):
        """How many of its rounds come after this one."""
        return sum(later > number for later in self.rounds_of[configuration])

    def drop(self, configuration):
        del self.rounds_of[configuration]


def measure(build, configurations, size, rounds, seed, timeout_s, at_most_s, after_round=None,
            seldom=frozenset(), once=frozenset(), budget=NO_LIMIT, load=Unknown()):
    """`timeout_s` ends a run as a failure; `at_most_s` ends it as a known lower bound.

    The bound is for runtimes of others alone: one of ours that takes too long may hang.
    `after_round` is given the measurement so far. Configurations in `seldom` take part in
    SELDOM_ROUNDS of the rounds at most, those in `once` in the first alone. A round that would
    not end within `budget` is not begun, and of the first what does not fit is left out. With a
    `load`, the runs beside other programs are left out in the end.
    """
    order = random.Random(seed)
    result = Measurement(configurations, size, rounds)
    plan = Plan(configurations, rounds, seldom, once)
    progress = Progress(plan, budget)

    def give_up(configuration, number):
        progress.dropped(plan.after(configuration, number))
        plan.drop(configuration)

    for number in range(1, rounds + 1):
        if number > 1 and not budget.fits(progress.expected(plan.due(number))):
            result.cut_after(number - 1, budget)
            break
        queue = shuffled(plan.due(number), order)
        for position, configuration in enumerate(queue):
            progress.show(configuration, queue[position:], number)
            bounded = (at_most_s is not None and at_most_s < timeout_s and
                       base(configuration[1]) not in OWN_RUNTIMES)
            limit_s = at_most_s if bounded else timeout_s
            begin = budget.clock()
            load.begin()
            try:
                program = build.program(configuration[0], configuration[1])
                result.samples[configuration][number] = run_once(
                    program, configuration, size, limit_s, budget,
                    build.launcher(*configuration[1:]))
                result.others[configuration][number] = load.others()
            except OutOfTime:
                if not result.samples[configuration]:
                    result.refused[configuration] = budget.said()
                give_up(configuration, number)
            except Failed as failed:
                result.fail(configuration, str(failed))
            except Refused as refused:
                result.refused[configuration] = str(refused)
                give_up(configuration, number)
            except TooLong:
                if bounded:
                    result.stopped[configuration] = at_most_s
                else:
                    result.fail(configuration, f"it ran past the limit of {timeout_s:g} s and is "
                                "not tried again")
                give_up(configuration, number)
            progress.finished(configuration, budget.clock() - begin)
        progress.round_over(number, rounds)
        if after_round:
            after_round(result)
    result.loud = keep_quiet(result)
    return result
