# SPDX-License-Identifier: MIT
"""Local events beside many strands: what is cancelled, or answered, costs what lies below it."""

from runner import checks as checking
from runner.rounds import enough, ratios, value
from runner.studies import Table, _common
from runner.studies._common import every

ABOUT = "cancelling beside many strands, cancelling many, and many deadlines, beside Go"
PROBLEMS = ["stopping"]
ROUNDS = 7
SIZE = "quick"
OURS, GO = "nopal", "go"
LOCAL, MANY, DEADLINES = (f"stopping@{n}" for n in range(1, 4))
EVENTS = ["cancel", "either"]
BESIDE = {"beside": "10^5 fibers that wait", "eithers": "10^4 that wait in an `either` each",
          "tokens": "10^4 stop tokens", "after": "after all these have ended"}
JUDGED_WORKERS = 2
BESIDE_MOST, MOST_US, OVER_GO, LATE_MOST = 1.1, 1.0, 2.0, 1.05


def workers(_cores):
    return [JUDGED_WORKERS]


def configurations(wish):
    return (every([LOCAL], [OURS], wish.workers) +
            every([MANY, DEADLINES], [OURS, GO], wish.workers))


def metric(rounds, problem, runtime, name):
    return _common.metric(rounds, problem, runtime, JUDGED_WORKERS, name)


def numbers(rounds, *which):
    return list(metric(rounds, *which).values())


def over_alone(rounds, where, event):
    return ratios(metric(rounds, LOCAL, OURS, f"{where}_{event}"),
                  metric(rounds, LOCAL, OURS, event))


def over_go(rounds):
    return ratios(metric(rounds, MANY, OURS, "seconds"), metric(rounds, MANY, GO, "seconds"))


def listed():
    rows = [(f"{event}, us", "<=", MOST_US, lambda rounds, e=event: numbers(rounds, LOCAL, OURS, e))
            for event in EVENTS]
    for where, words in BESIDE.items():
        for event in EVENTS:
            rows.append((f"{event}, {words}: time over that alone", "<=", BESIDE_MOST,
                         lambda rounds, w=where, e=event: enough(over_alone(rounds, w, e))))
    return rows + [
        ("cancel of 10^5 fibers that wait: time over Go's", "<=", OVER_GO,
         lambda rounds: enough(over_go(rounds))),
        ("10^5 fibers that wait 2 s each, by a deadline: the longest wait over that", "<=",
         LATE_MOST, lambda rounds: numbers(rounds, DEADLINES, OURS, "late"))]


def checks(result):
    return checking.evaluate(result.measurement, listed())


def tables(result):
    def cell(compute, *arguments):
        return value(compute, result.rounds, *arguments)
    local = [["alone", *(cell(numbers, LOCAL, OURS, event) for event in EVENTS), None, None]]
    local += [[words, *(cell(numbers, LOCAL, OURS, f"{where}_{event}") for event in EVENTS),
               *(cell(over_alone, where, event) for event in EVENTS)]
              for where, words in BESIDE.items()]
    many = [[runtime, cell(numbers, MANY, runtime, "seconds"),
             cell(numbers, DEADLINES, runtime, "late_p50"),
             cell(numbers, DEADLINES, runtime, "late")] for runtime in (OURS, GO)]
    return [Table("A cancel_scope that is cancelled and ends, and an `either`, two workers: "
                  "microseconds", ["beside", *EVENTS, *(f"{e} / alone" for e in EVENTS)], local),
            Table("10^5 fibers or goroutines", ["runtime", "cancelled, s", "median wait / 2 s",
                                                "longest / 2 s"], many)]


def figures(_result):
    return []
