# SPDX-License-Identifier: MIT
"""The table in the terminal, and the CSV file."""

import csv
import shutil
import statistics

from runner.checks import FORKING
from runner.programs import PROBLEMS, SERIAL_RUNTIMES, in_order
from runner.rounds import NotMeasured, Rounds

COLUMNS = ["problem", "runtime", "workers", "size", "n", "median_s", "p10_s", "p90_s",
           "max_rss_kib", "minor_faults", "steals", "suspensions", "unmaps", "stacks",
           "stack_pages", "page_counts", "live_pages", "dead_pages", "rss_before_kib",
           "depth", "serial_pages", "verified"]


def write_csv(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


def seconds(value):
    """Three significant digits, so that columns of very different times stay narrow."""
    if value < 0.1:
        return f"{value * 1e3:.3g} ms"
    return f"{value:.3g} s"


def fork_cost(measurement, problem, runtime):
    """Median over the rounds, or None where it was not measured or forks are a small part."""
    if runtime in SERIAL_RUNTIMES or problem not in FORKING:
        return None
    try:
        return statistics.median(Rounds(measurement).ns_per_fork(problem, runtime).values())
    except NotMeasured:
        return None


def cell(measurement, row, configuration, base):
    problem, runtime, workers = configuration
    if configuration in measurement.stopped:
        return f"> {measurement.stopped[configuration]:g} s"
    if configuration not in measurement.samples or configuration in measurement.refused:
        return ""
    if not row["verified"]:
        return "FAILED"
    text = seconds(row["median_s"])
    if base and runtime != "serial":
        text += f" {row['median_s'] / base:.3g}x"
    cost = fork_cost(measurement, problem, runtime) if workers == 1 else None
    if cost is not None:
        text += f" {cost:.3g}ns"
    return text


def fitting(columns, room):
    """The columns in as few blocks as fit into a line, each block with the first column again."""
    head, rest = columns[0], columns[1:]
    blocks = []
    for column in rest:
        if not blocks or sum(width(c) + 2 for c in blocks[-1]) + width(column) > room:
            blocks.append([head])
        blocks[-1].append(column)
    return blocks


def width(column):
    return max(len(text) for text in column)


def table(measurement, rows):
    """Blocks of lines for each number of workers."""
    by_key = {(r["problem"], r["runtime"], r["workers"]): r for r in rows}
    configurations = measurement.configurations
    measured = dict.fromkeys(c[0] for c in configurations)
    problems = [p for p in PROBLEMS if p in measured]
    problems += [p for p in measured if p not in PROBLEMS]
    lines = [f"Size {measurement.size}, medians of {measurement.rounds} "
             f"round{'s' if measurement.rounds > 1 else ''}. x: time over that of the serial "
             "elision.", "ns: per fork, (T1 - T_serial not inlined) / forks."]
    room = shutil.get_terminal_size((120, 24)).columns
    for workers in sorted({c[2] for c in configurations}):
        columns = [[f"{workers} worker{'s' if workers > 1 else ''}"] + problems]
        for runtime in in_order({c[1] for c in configurations if c[2] == workers}):
            column = [runtime]
            for problem in problems:
                base_row = by_key.get((problem, "serial", 1))
                base = base_row["median_s"] if base_row and base_row["verified"] else None
                key = (problem, runtime, workers)
                column.append(cell(measurement, by_key.get(key), key, base))
            columns.append(column)
        for block in fitting(columns, room):
            lines.append("")
            lines += ["  ".join(text.ljust(width(column)) for text, column in zip(line, block))
                      .rstrip() for line in zip(*block)]
    return lines
