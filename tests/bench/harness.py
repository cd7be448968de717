# SPDX-License-Identifier: MIT
"""Runs bench/run.py for the tests, and knows what its JSON must look like."""

import json
import os
import pathlib
import runpy
import subprocess
import sys
import tempfile
import traceback

RUN_PY = pathlib.Path(__file__).resolve().parents[2] / "bench" / "run.py"
sys.path.insert(0, str(RUN_PY.parent))

RESULT_FIELDS = ["problem", "runtime", "workers", "size", "n", "median_s", "p10_s", "p90_s",
                 "max_rss_kib", "minor_faults", "steals", "suspensions", "unmaps", "stacks",
                 "stack_pages", "page_counts", "live_pages", "dead_pages", "rss_before_kib",
                 "depth", "serial_pages", "verified"]
CHECK_FIELDS = ["name", "value", "p10", "p90", "bound", "limit", "holds", "note"]
META_FIELDS = {"host": str, "cpu": str, "kernel": str, "cores": int, "compilers": dict,
               "command": str, "date": str, "seed": int, "load": list}


def _load():
    """Loads what run.py imports into this process: it takes longer than most runs."""
    runpy.run_path(str(RUN_PY))
    from runner import draw  # pylint: disable=import-outside-toplevel

    try:
        draw.pyplot()
    except ImportError:
        pass  # a run that draws says so


def _become_run_py(command, out, err):
    """In a child process: does what the command does. Does not return."""
    status = 1
    try:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)
        sys.argv = command[2:]
        try:
            runpy.run_path(str(RUN_PY), run_name="__main__")
            status = 0
        except SystemExit as end:
            status = end.code or 0
        except BaseException:  # pylint: disable=broad-except
            traceback.print_exc()
        sys.stdout.flush()
    finally:
        os._exit(status)  # pylint: disable=protected-access


def run(*words, without=()):
    """What `bench/run.py WORDS` prints, and how it ends. It runs in a child process that has loaded
    its modules, without the variables that begin with one of `without`."""
    if "runner" not in sys.modules:
        _load()
    command = [sys.executable, "-B", str(RUN_PY), *map(str, words)]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out, \
            tempfile.TemporaryFile("w+", encoding="utf-8") as err:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            for name in [name for name in os.environ if name.startswith(tuple(without))]:
                del os.environ[name]
            os.environ["COLUMNS"] = "160"
            _become_run_py(command, out, err)
        _, status = os.waitpid(child, 0)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(command, os.waitstatus_to_exitcode(status), out.read(),
                                           err.read())


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
