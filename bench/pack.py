#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packs the programs of the study scaling and what runs them into a folder that needs nothing else.

usage: pack.py BUILD FOLDER
"""

import json
import pathlib
import shutil
import subprocess
import sys

from runner import programs, studies, summary
from runner.programs import UsageError
from runner.studies import _steps, scaling

BENCH = pathlib.Path(__file__).resolve().parent
MIB_MAX = 90
ABOUT = """Nopal's benchmarks, commit {commit}, for x86-64 Linux with Python 3.8 or later.

    ./run            # all that this machine has CPUs for: at most 10 minutes
    ./run --help     # what can be chosen

It needs no package, no compiler and no network, verifies every result, and writes scaling.json into
the current directory. In a checkout of Nopal, on any machine with matplotlib, that is drawn by

    bench/run.py --from scaling.json --html scaling.html
"""


def needed():
    """The (problem, runtime) that the study runs, numbers left out."""
    wish = studies.Wish(scaling.PROBLEMS, scaling.COUNTS, scaling.SIZE, 1, 1, True)
    return list(dict.fromkeys((problem.partition("@")[0], runtime)
                              for problem, runtime, _ in scaling.configurations(wish)))


def require_static(program):
    """A program that names an interpreter would look for shared libraries."""
    try:
        done = subprocess.run(["readelf", "--program-headers", "--wide", str(program)],
                              capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise UsageError(f"{program} cannot be looked into with readelf ({error}).") from error
    if "INTERP" in done.stdout:
        raise UsageError(f"{program} is not linked statically; configure its build with cmake "
                         "--preset scaling.")


def listing(build, commit):
    built = {}
    for problem, runtime in needed():
        if not build.has(problem, runtime):
            raise UsageError(f"{runtime} has no program for {problem} in {build.bench.parent}.")
        about = built.setdefault(runtime, {**build.built[runtime], "problems": []})
        about["problems"].append(problem)
    return {"built": built, "missing": {}, "commit": commit}


def size_mib(folder):
    """As du counts: whole blocks."""
    return sum(path.lstat().st_blocks for path in [folder, *folder.rglob("*")]) * 512 / 2**20


def require_ours(folder):
    """What is there already must be a folder packed earlier; results in it are kept."""
    if folder.exists() and not (folder / "bench" / "programs.json").is_file():
        if not folder.is_dir() or any(folder.iterdir()):
            raise UsageError(f"{folder} is there already and was not packed by this script; name "
                             "a folder that is empty or new.")


def pack(build, folder):
    """Returns the sentence that says what was done."""
    require_ours(folder)
    commit = summary.commit(BENCH.parent)
    listed = listing(build, commit)
    files = [build.program(problem, runtime) for problem, runtime in needed()]
    files.append(build.bench / _steps.PROGRAM)
    for path in files:
        if not path.exists():
            raise UsageError(f"{path} does not exist; build it first.")
        require_static(path)

    into = folder / "bench"
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    for path in [*files, BENCH / "run.py"]:
        shutil.copy2(path, into / path.name)
    shutil.copytree(BENCH / "runner", into / "runner",
                    ignore=shutil.ignore_patterns("__pycache__"))
    (into / "programs.json").write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    shutil.copy2(BENCH / "packed_run.py", folder / "run")
    (folder / "run").chmod(0o755)
    (folder / "README").write_text(ABOUT.format(commit=commit), encoding="utf-8")

    size = size_mib(folder)
    if size >= MIB_MAX:
        raise UsageError(f"{folder} takes {size:.1f} MiB, and less than {MIB_MAX} are wanted.")
    return f"{folder}: {len(files)} programs, {size:.1f} MiB, commit {commit}"


def main(words):
    if len(words) != 2:
        raise UsageError("A build directory and a folder are needed: pack.py BUILD FOLDER.")
    print(pack(programs.Build(words[0]), pathlib.Path(words[1])))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except UsageError as usage:
        print(f"pack.py: {usage}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(f"pack.py: {error.filename} cannot be written: {error.strerror}.", file=sys.stderr)
        sys.exit(1)
