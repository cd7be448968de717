#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures how Nopal scales on this machine, with the programs beside it: needs Python 3.8 and its
standard library, no compiler, no package, no network. script/scaling packs it as `run`."""

import argparse
import pathlib
import sys

if sys.version_info < (3, 8):
    sys.exit("run: Python %d.%d is too old; 3.8 or later is needed." % sys.version_info[:2])

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE / "bench"))

import run as bench_run  # pylint: disable=wrong-import-position
from runner import programs  # pylint: disable=wrong-import-position
from runner.studies import _steps, scaling  # pylint: disable=wrong-import-position


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, without the usage before it."""

    def error(self, message):
        raise programs.UsageError(f"{message[:1].upper()}{message[1:]}; --help lists what is "
                                  "accepted.")


def arguments(words):
    parser = Parser(prog="run", allow_abbrev=False, description=__doc__)
    parser.add_argument("--workers", metavar="N,...",
                        help="numbers of workers (default %s, as far as there are CPUs)" %
                        ",".join(map(str, scaling.COUNTS)))
    parser.add_argument("--within", metavar="S", default=scaling.WITHIN_S,
                        type=bench_run.positive(float),
                        help="seconds that the whole may take (default %(default)s)")
    parser.add_argument("--json", metavar="FILE", default="scaling.json",
                        help="where the results go (default %(default)s)")
    return parser.parse_args(words)


def chosen_workers(text):
    if text is None:
        return scaling.workers(_steps.cpus(programs.Build(HERE)))
    try:
        return programs.choose_workers(text)
    except programs.UsageError as error:
        raise programs.UsageError(
            f"--workers '{text}' is not a list of workers; accepted are numbers from 1 to "
            f"{programs.WORKERS_MAX}, separated by commas.") from error


def main(words):
    options = arguments(words)
    workers = ",".join(map(str, chosen_workers(options.workers)))
    print(f"Measuring with {workers} workers takes at most {options.within:g} s.", file=sys.stderr)
    status = bench_run.main(["--study", "scaling", "--build", str(HERE), "-t", workers,
                             "--within", str(options.within), "--json", options.json])
    print(f"{options.json} is written. In a checkout of Nopal it is drawn by:\n"
          f"  bench/run.py --from {options.json} --html scaling.html")
    return status


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except programs.UsageError as usage:
        print(f"run: {usage}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("\nrun: interrupted; the JSON has the rounds that were finished.", file=sys.stderr)
        sys.exit(130)
