# SPDX-License-Identifier: MIT
"""Runs bench/run.py for the tests, and knows what its JSON must look like."""

import json
import os
import pathlib
import subprocess
import sys

RUN_PY = pathlib.Path(__file__).resolve().parents[2] / "bench" / "run.py"

RESULT_FIELDS = ["problem", "runtime", "workers", "size", "n", "median_s", "p10_s", "p90_s",
                 "max_rss_kib", "minor_faults", "steals", "suspensions", "unmaps", "stacks",
                 "stack_pages", "page_counts", "live_pages", "dead_pages", "rss_before_kib",
                 "depth", "serial_pages", "verified"]
CHECK_FIELDS = ["name", "value", "p10", "p90", "bound", "limit", "holds", "note"]
META_FIELDS = {"host": str, "cpu": str, "kernel": str, "cores": int, "compilers": dict,
               "command": str, "date": str, "seed": int, "load": list}


def run(*words):
    command = [sys.executable, "-B", str(RUN_PY), *map(str, words)]
    environment = {**os.environ, "COLUMNS": "160"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def read_json(path):
    return json.loads(pathlib.Path(path).read_text())


def check_document(case, document):
    """The shape that readers of the JSON rely on."""
    for field, kind in META_FIELDS.items():
        case.assertIsInstance(document["meta"][field], kind, field)
    case.assertIn("commit", document["meta"])
    for row in document["results"]:
        case.assertEqual(list(row), RESULT_FIELDS)
        if row["verified"]:
            case.assertGreater(row["median_s"], 0)
            case.assertLessEqual(row["p10_s"], row["median_s"])
            case.assertLessEqual(row["median_s"], row["p90_s"])
            case.assertGreater(row["max_rss_kib"], 0)
    for check in document.get("checks", []):
        case.assertEqual(list(check), CHECK_FIELDS)
        case.assertIn(check["bound"], (None, "<", ">"))
        # Only a median of rounds has percentiles.
        measured = check["value"] is not None and check["bound"] is None
        for field in ("p10", "p90"):
            case.assertEqual(check[field] is not None, measured, check["name"])
