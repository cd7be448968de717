# SPDX-License-Identifier: MIT
"""An echo server with 20,000 idle connections, beside Go's and Tokio's.

Clients and server share the machine's processors, as both would be in the way of any other program.
So what a request costs the server, in processor time, counts as well as how many it answers.
"""

from runner import checks as checking
from runner import panels
from runner.rounds import NotMeasured, enough, value
from runner.studies import Figure, Table, _common
from runner.studies._common import every

ABOUT = "an echo server with 20,000 idle connections: requests per second, and memory of each"
IO = "io"
PROBLEMS = [IO]
ROUNDS = 9
SIZE = "paper"
OURS = "nopal"
OTHERS = ["go", "tokio"]
RATE_LEAST = 0.9
BYTES_MOST = 8192
NAMES = {"requests_per_s": "requests per second", "p50_us": "median, us", "p99_us": "99 %, us",
         "cpu_us_per_request": "the server's processor time for one, us",
         "bytes_per_connection": "memory of a connection, bytes",
         "page_tables_per_connection": "its page tables, bytes", "threads": "threads"}


def workers(cores):
    return [max(2, cores)]


def configurations(wish):
    return every([IO], [OURS, *OTHERS], wish.workers) if IO in wish.problems else []


def metric(rounds, runtime, count, name):
    return _common.metric(rounds, IO, runtime, count, name)


def over_better(rounds, count):
    """Our rate over that of the faster of the others, round by round."""
    ours = metric(rounds, OURS, count, "requests_per_s")
    theirs = []
    for runtime in OTHERS:
        try:
            theirs.append(metric(rounds, runtime, count, "requests_per_s"))
        except NotMeasured:
            continue
    if not theirs:
        raise NotMeasured("needs Go or Tokio")
    return [ours[r] / max(rates[r] for rates in theirs)
            for r in ours if all(r in rates for rates in theirs)]


def checks(result):
    listed = []
    for count in result.wish.workers:
        listed.append((f"requests per second over the better of {' and '.join(OTHERS)}, "
                       f"{count} workers", ">=", RATE_LEAST,
                       lambda r, n=count: enough(over_better(r, n))))
        listed.append((f"memory of an idle connection, bytes, {count} workers", "<=", BYTES_MOST,
                       lambda r, n=count:
                       list(metric(r, OURS, n, "bytes_per_connection").values())))
    return checking.evaluate(result.measurement, listed)


def tables(result):
    rows = [[count, runtime,
             *(value(lambda r, t=runtime, n=count, k=name: list(metric(r, t, n, k).values()),
                     result.rounds) for name in NAMES)]
            for count in result.wish.workers for runtime in [OURS, *OTHERS]]
    return [Table("64 active connections beside the idle ones",
                  ["workers", "server", *NAMES.values()], rows,
                  "Memory: what the server's process has more (resident) than with one "
                  "connection, after each has sent one request. There are 20,000 connections, or "
                  "as many as the limit of descriptors allows (ulimit -Hn).")]


def bars(result, name, title, line_at=None):
    known = {runtime: value(lambda r, t=runtime: list(
        metric(r, t, result.wish.workers[0], name).values()), result.rounds)
             for runtime in [OURS, *OTHERS]}
    groups = {NAMES[name]: {runtime: cell for runtime, cell in known.items() if cell}}
    return Figure(title, panels.bars(groups, NAMES[name], line_at=line_at))


def figures(result):
    return [bars(result, "requests_per_s", "Requests per second"),
            bars(result, "bytes_per_connection", "Memory of a connection", BYTES_MOST)]


def picture(result):
    return bars(result, "requests_per_s", "Requests per second, 64 connections beside 20,000")
