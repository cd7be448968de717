# SPDX-License-Identifier: MIT
"""Libraries of others on Nopal (clients/) beside the threads that they bring: the same programs."""

import math
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys

from runner import checks as checking, panels
from runner.rounds import NotMeasured, enough, value
from runner.studies import Figure, Table

ABOUT = "parlaylib's examples, OpenCV and OpenBLAS on Nopal, over their own threads"
# What script/clients builds; the folder lies beside that of --build.
FOLDER = "clients"
PROBLEMS = ["parlaylib", "opencv", "openblas"]
ROUNDS = 15
SIZE = "quick"
OURS, OWN = "nopal", "own"
# parlaylib's, for it alone; of the others, whose loops are few and long, the mean is judged.
EACH_MOST, MEAN_MOST = 1.03, 1.0
# The argument of each example of parlaylib that needs no file. All but two run for more than ten
# milliseconds, since they tell tenths of one. Without karatsuba, whose additions read behind the
# end of the shorter number: whether that faults depends on what lies there.
EXAMPLES = {
    "2d_linear_program": 1000000, "3d_range": 30000, "BFS": 100000, "BFS_ligra": 300000,
    "bellman_ford": 100000, "betweenness_centrality": 100000, "bigint_add": 100000000,
    "box_kdtree": 30000, "bucketed_dijkstra": 100000, "cartesian_tree": 1000000,
    "cycle_count": 300000, "delaunay": 10000, "fast_fourier_transform": 1048576, "filter": 10000000,
    "filter_kruskal": 30000, "find_if": 10000000, "flatten": 10000000, "graph_color": 30000,
    "hash_map": 1000000, "huffman_tree": 1000000, "kcore": 30000,
    "kmeans_pp": 10000, "knn": 30000, "knuth_shuffle": 1000000, "kruskal": 30000,
    "kth_smallest": 3000000, "le_list": 10000, "linefit": 10000000,
    "low_diameter_decomposition": 300000, "maximal_independent_set": 100000,
    "maximal_matching": 100000, "mcss": 20000000, "mergesort": 1000000,
    "minimum_edit_distance": 3000, "nbody_fmm": 10000, "oct_tree": 100000, "pagerank": 50000,
    "primes": 10000000, "push_relabel_max_flow": 10000, "quickhull": 1000000, "quicksort": 1000000,
    "range_min": 1000000, "ray_trace": 10000, "rectangle_intersection": 30000, "reduce": 30000000,
    "samplesort": 1000000, "scan": 10000000, "set_cover": 30000, "spanning_tree": 100000,
    "spectral_separator": 10000, "triangle_count": 30000}
TIME = {"parlaylib": r"^(?P<phase>.*): (?P<s>\d+\.\d{4})$",
        "opencv": r"^(?P<name>\S.*\S) .* ms serially, +(?P<ms>\d+\.\d+) ms",
        "openblas": r"^(?P<name>dgemm of \d+): (?P<ms>\d+\.\d+) ms"}
TIMEOUT_S = 120


def workers(_cores):
    return [1, 2]


def configurations(_wish):
    return []  # none of them is a problem of bench/problems


def commands(folder, client):
    """Of each program: its name, and of each runtime the words and the environment to call it."""
    if client == "parlaylib":
        for name, argument in EXAMPLES.items():
            yield name, {on: ([folder / f"parlaylib-{on}" / "examples" / name, argument], {})
                         for on in (OURS, OWN)}
    elif client == "opencv":
        words = [folder / "opencv-same"]
        yield client, {OWN: (words, {}),
                       OURS: (words, {"OPENCV_CORE_PLUGIN_PATH": str(folder),
                                      "OPENCV_PARALLEL_PRIORITY_LIST": "NOPAL"})}
    else:
        yield client, {OURS: ([folder / "openblas-gang", "{workers}"], {}),
                       OWN: ([folder / "openblas-own", "{workers}"], {})}


def times_of(client, name, said):
    """Name -> seconds that a program has told: the least of its runs, of its longest phase."""
    least = {}
    for found in re.finditer(TIME[client], said, re.MULTILINE):
        parts = found.groupdict()
        seconds = float(parts["s"]) if "s" in parts else float(parts["ms"]) / 1000
        key = parts.get("name", name), parts.get("phase")
        least[key] = min(seconds, least.get(key, math.inf))
    longest = {}
    for (key, _), seconds in least.items():
        longest[key] = max(seconds, longest.get(key, 0))
    return longest


def extra(build, wish):
    folder = pathlib.Path(build.bench).resolve().parent.parent / FOLDER
    times, failures = {}, []
    programs = [(client, name, ways) for client in wish.problems
                for name, ways in commands(folder, client)]
    for number in range(wish.rounds):
        print(f"round {number + 1} of {wish.rounds}", file=sys.stderr)
        random.shuffle(programs)
        for client, name, ways in programs:
            for count in wish.workers if client == "parlaylib" else [max(wish.workers)]:
                for on in random.sample(list(ways), len(ways)):
                    words, variables = ways[on]
                    environment = {**os.environ, **variables, "NOPAL_NUM_WORKERS": str(count),
                                   "PARLAY_NUM_THREADS": str(count)}
                    words = [str(word).format(workers=count) for word in words]
                    try:
                        done = subprocess.run(words, env=environment, capture_output=True,
                                              text=True, timeout=TIMEOUT_S, check=True,
                                              stdin=subprocess.DEVNULL)
                    except (OSError, subprocess.SubprocessError) as error:
                        failures.append(f"{name} ({on}, {count} workers): "
                                        f"{type(error).__name__}")
                        continue
                    for key, seconds in times_of(client, name, done.stdout).items():
                        kept = times.setdefault(client, {}).setdefault(key, {})
                        kept.setdefault(str(count), {}).setdefault(on, {})[str(number)] = seconds
    return {"times": times, "failures": sorted(set(failures))}


def over(result, client, name, count):
    """Of each round our time over theirs."""
    kept = result.extra["times"].get(client, {}).get(name, {}).get(str(count), {})
    ours, own = kept.get(OURS, {}), kept.get(OWN, {})
    values = [ours[number] / own[number] for number in sorted(ours.keys() & own.keys())
              if own[number] > 0]
    if not values:
        raise NotMeasured(f"script/clients {client} builds it")
    return values


def mean(result, client, count):
    """Of each round the geometric mean of all programs that each round has."""
    columns = []
    for name in sorted(result.extra["times"].get(client, {})):
        try:
            columns.append(over(result, client, name, count))
        except NotMeasured:
            continue
    if not columns:
        raise NotMeasured(f"script/clients {client} builds it")
    return [math.exp(statistics.mean(map(math.log, row))) for row in zip(*columns)]


def measured(result):
    return [(client, name, count) for client in result.wish.problems
            for name, counts in sorted(result.extra["times"].get(client, {}).items())
            for count in counts]


def checks(result):
    rows = [(f"{name}: T{count} on Nopal over parlaylib's own scheduler", "<=", EACH_MOST,
             lambda _, c=client, n=name, t=count: enough(over(result, c, n, t)))
            for client, name, count in measured(result) if client == "parlaylib"]
    for client in result.wish.problems:
        count = max(result.wish.workers)
        rows.append((f"geometric mean of {client}: T{count} on Nopal over its own threads", "<=",
                     MEAN_MOST, lambda _, c=client, t=count: enough(mean(result, c, t))))
    return checking.evaluate(result.measurement, rows)


def seconds(result, client, name, count, on):
    return list(result.extra["times"][client][name][count].get(on, {}).values()) or [math.nan]


def tables(result):
    rows = [[name, count, *(statistics.median(seconds(result, client, name, count, on))
                            for on in (OURS, OWN)),
             value(over, result, client, name, count)] for client, name, count in measured(result)]
    return [Table("Seconds, and ours over theirs", ["program", "workers", "on Nopal",
                                                    "on its own threads", "ratio"], rows)]


def lines(result):
    said = [f"{'program':28} {'T':>2} {'on Nopal':>10} {'own':>10} {'ratio':>7}"]
    for client, name, count in measured(result):
        ours, own = (statistics.median(seconds(result, client, name, count, on))
                     for on in (OURS, OWN))
        ratio = value(over, result, client, name, count)
        said.append(f"{name:28} {count:>2} {ours:10.5f} {own:10.5f} "
                    f"{ratio.median if ratio else math.nan:7.3f}")
    for client in result.wish.problems:
        for count in result.wish.workers:
            known = value(mean, result, client, count)
            if known:
                said.append(f"geometric mean of {client}, T{count}: {known.median:.3f}")
    return said


def figures(result):
    drawn = []
    for client in result.wish.problems:
        known = {}
        for of, name, count in measured(result):
            ratio = value(over, result, of, name, count) if of == client else None
            if ratio:
                known.setdefault(f"T{count}", []).append(ratio.median)
        svg = panels.in_order(known, f"programs of {client}, each line in its own order",
                              "on Nopal / its own threads", 1)
        drawn.append(Figure(f"Time of {client}'s programs on Nopal over that on its own threads",
                            svg, spreads=False))
    return drawn
