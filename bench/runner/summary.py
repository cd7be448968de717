# SPDX-License-Identifier: MIT
"""Medians and percentiles of a measurement, and what is known of the machine it ran on."""

import datetime
import math
import os
import pathlib
import platform
import socket
import statistics
import subprocess

from runner.programs import SIZES

COUNTED = ["max_rss_kib", "minor_faults", "steals", "suspensions", "unmaps", "stacks",
           "stack_pages", "page_counts", "live_pages", "dead_pages", "rss_before_kib",
           "depth", "serial_pages"]


def percentile(values, fraction):
    """By linear interpolation between the two nearest ranks."""
    ordered = sorted(values)
    place = fraction * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def median_count(values):
    known = [v for v in values if v is not None]
    return statistics.median_low(known) if known else None


def summarise(measurement, configuration):
    """One row of the results."""
    problem, runtime, workers = configuration
    own_size = problem.partition("@")[2]
    lines = list(measurement.samples[configuration].values())
    times = [line["time_s"] for line in lines]
    row = {"problem": problem, "runtime": runtime, "workers": workers,
           "size": own_size if own_size in SIZES else measurement.size,
           "n": lines[0]["n"] if lines else None,
           "median_s": percentile(times, 0.5) if lines else None,
           "p10_s": percentile(times, 0.1) if lines else None,
           "p90_s": percentile(times, 0.9) if lines else None}
    for key in COUNTED:
        row[key] = median_count([line[key] for line in lines])
    row["verified"] = bool(lines) and configuration not in measurement.failures
    return row


def results(measurement):
    """Rows for all that was measured or failed; stopped or refused runs have no figures."""
    silent = {*measurement.stopped, *measurement.refused}
    return [summarise(measurement, c) for c in measurement.configurations
            if c not in silent or measurement.samples[c]]


def samples(measurement):
    return [{"round": number, **line} for c in measurement.configurations
            for number, line in measurement.samples[c].items()]


def stopped(measurement):
    return [{"problem": c[0], "runtime": c[1], "workers": c[2], "at_least_s": limit}
            for c, limit in measurement.stopped.items()]


def cpu_model():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "Model"):
            return value.strip()
    return platform.machine()


def commit(directory):
    """The commit checked out, marked when the tree differs from it; None outside git."""
    def git(*words):
        return subprocess.run(["git", "-C", str(directory), *words], capture_output=True,
                              text=True, check=False)
    try:
        head = git("rev-parse", "HEAD")
        changed = git("status", "--porcelain", "--untracked-files=no")
    except OSError:
        return None
    if head.returncode != 0 or changed.returncode != 0:
        return None
    return head.stdout.strip() + ("-modified" if changed.stdout.strip() else "")


def machine(build, source, command, seed, rounds):
    return {"host": socket.gethostname(), "cpu": cpu_model(), "kernel": platform.release(),
            "cores": len(os.sched_getaffinity(0)), "compilers": build.compilers(),
            "commit": build.commit or commit(source), "command": command,
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "seed": seed, "rounds": rounds, "load": list(os.getloadavg())}
