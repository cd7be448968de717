#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the benchmark programs: problem x runtime x workers, interleaved, verified; studies."""

import argparse
import json
import pathlib
import random
import shlex
import sys

from runner import checks, document, measure, page, programs, report, studies, study, summary
from runner.budget import Budget
from runner.programs import PROBLEMS, RUNTIMES, SIZES, UsageError

SOURCE = pathlib.Path(__file__).resolve().parent.parent


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, without the usage before it."""

    def error(self, message):
        raise UsageError(f"{message[:1].upper()}{message[1:]}; run.py --help lists what is "
                         "accepted.")


def positive(kind):
    def parse(text):
        value = kind(text)
        if not 0 < value < 1e9:
            raise ValueError
        return value
    parse.__name__ = "positive number"
    return parse


def arguments(words):
    parser = Parser(
        prog="bench/run.py", allow_abbrev=False,
        description="Measures problem x runtime x workers. Every measurement is a fresh process; "
        "in each round every configuration runs once, problem by problem, both in random order. "
        "Only the number of workers is set: nothing is pinned or tuned.")
    parser.add_argument("action", nargs="?", choices=["list"],
                        help="print problems, runtimes and sizes, and stop")
    parser.add_argument("-b", metavar="P,...",
                        help="problems: %s, or all (default all)" % ", ".join(PROBLEMS))
    parser.add_argument("-r", metavar="R,...",
                        help="runtimes: %s, or all: those built, less %s; one of ours with another "
                        "stack policy is written RUNTIME:POLICY (%s)" % (
                            ", ".join(RUNTIMES), ", ".join(programs.NOT_IN_ALL),
                            programs.POLICIES))
    parser.add_argument("-t", metavar="N,...",
                        help="numbers of workers (default 1,2); serial runtimes always have one")
    parser.add_argument("-s", metavar="SIZE",
                        help="size: %s (default quick)" % ", ".join(SIZES))
    parser.add_argument("-n", type=positive(int), metavar="N",
                        help="rounds (default 5)")
    parser.add_argument("--json", metavar="FILE", help="write results and raw samples")
    parser.add_argument("--csv", metavar="FILE", help="write results")
    parser.add_argument("--html", metavar="FILE", help="write one page with plots and results")
    parser.add_argument("--svg", metavar="DIR",
                        help="write speed_up.svg, overhead.svg and memory.svg; of a study: one "
                        "picture, which has the study's name, or that of the file after --from")
    parser.add_argument("--study", metavar="NAME",
                        help="run a comparison with its own problems, runtimes, workers, rounds "
                        "and checks: %s" % ", ".join(studies.names()))
    parser.add_argument("--merge", nargs="+", metavar="FILE",
                        help="with --study: measure nothing, join the JSON of several of its runs")
    parser.add_argument("--from", dest="saved", metavar="FILE",
                        help="measure nothing, show the JSON of a study; its page goes to "
                        "build/FILE.html if it can be drawn, unless --html, --svg or --json says "
                        "what is written")
    parser.add_argument("--targets", action="store_true",
                        help="with --study: print the targets that build its programs, and stop")
    parser.add_argument("--check", action="store_true",
                        help="print the ratios that are promised, computed from this run")
    parser.add_argument("--build", default=str(SOURCE / "build" / "release"), metavar="DIR",
                        help="build directory (default build/release)")
    parser.add_argument("--before", metavar="DIR",
                        help="with --study scheduling or cancellation: the build directory of an "
                        "older commit, whose programs are measured beside these")
    parser.add_argument("--all", action="store_true",
                        help="with --study nodes: the largest trees too, once each")
    parser.add_argument("--seed", type=int, metavar="N", help="of the random order")
    parser.add_argument("--timeout", type=positive(float), default=600, metavar="S",
                        help="a run that takes longer has failed (default 600)")
    parser.add_argument("--within", type=positive(float), metavar="S",
                        help="what the whole may take: a round that would end later is left out "
                        "(default no limit; of the study scaling: 570)")
    parser.add_argument("--quiet", action="store_true",
                        help="with --study: leave out runs beside which other programs took more "
                        "than a tenth of a processor, where there are others; and say so")
    parser.add_argument("--at-most", type=positive(float), metavar="S",
                        help="a run of another runtime than ours that takes longer is stopped, "
                        "shown as slower than this and not repeated; that is no failure")
    return parser.parse_args(words)


def print_list(directory):
    print("problems: " + ", ".join(PROBLEMS))
    print("sizes:    " + ", ".join(SIZES))
    print("runtimes:")
    try:
        build = programs.Build(directory)
    except UsageError:
        build = None
    for name, about in RUNTIMES.items():
        state = ""
        if build and name not in build.built:
            state = f" [not built: {build.missing.get(name, 'not part of this build')}]"
        print(f"  {name:22} {about}{state}")
    print("studies:")
    for name in studies.names():
        print(f"  {name:22} {studies.find(name).ABOUT}")


def fill_in(options):
    """What an ordinary run takes where nothing is asked for; a study has its own."""
    for name, usual in (("b", "all"), ("r", "all"), ("t", "1,2"), ("s", "quick"), ("n", 5)):
        if getattr(options, name) is None:
            setattr(options, name, usual)


def choose(options, build):
    problems = programs.choose(options.b, PROBLEMS, "Problem", PROBLEMS)
    runtimes = programs.choose_runtimes(options.r, build.built)
    if options.s not in SIZES:
        raise UsageError(f"Size '{options.s}' is not known; accepted are {', '.join(SIZES)}.")
    workers = programs.choose_workers(options.t)
    build.require(runtimes)
    return build.configurations(problems, runtimes, workers)


def can_draw():
    try:
        import matplotlib  # pylint: disable=unused-import
    except ImportError:
        return False
    return True


def check_outputs(options):
    """Finds out before measuring that a result could not be written."""
    for path in (options.json, options.csv, options.html):
        if path and not pathlib.Path(path).resolve().parent.is_dir():
            raise UsageError(f"{path} cannot be written: its directory does not exist.")
    if options.svg and not pathlib.Path(options.svg).is_dir():
        raise UsageError(f"{options.svg} is not a directory, which --svg needs.")
    if (options.html or options.svg) and not can_draw():
        raise UsageError("--html and --svg need matplotlib (python3-matplotlib).")


def write_outputs(options, measured, meta, left_out):
    """Prints the tables, writes the files, returns the sentences about failures."""
    rows = summary.results(measured)
    failures = measured.failure_sentences()
    notes = left_out + measured.notes()
    check_rows = checks.evaluate(measured, checks.listed(PROBLEMS)) if options.check else []
    check_lines = checks.show(check_rows) if options.check else []
    print("\n".join(report.table(measured, rows)))
    if check_lines:
        print("\n" + "\n".join(check_lines))
    if options.json:
        document = {"meta": meta, "results": rows, "samples": summary.samples(measured),
                    "stopped": summary.stopped(measured), "failures": failures}
        if options.check:
            document["checks"] = check_rows
        pathlib.Path(options.json).write_text(json.dumps(document, indent=1) + "\n")
    if options.csv:
        report.write_csv(options.csv, rows)
    if options.html:
        page.write_html(options.html, meta, rows, failures, notes, check_lines)
    if options.svg:
        page.write_svg(pathlib.Path(options.svg), rows)
    for note in notes:
        print(note, file=sys.stderr)
    return failures


def ordinary_run(options, words):
    fill_in(options)
    build = programs.Build(options.build)
    configurations, left_out = choose(options, build)
    check_outputs(options)
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    command = shlex.join(["bench/run.py", *words])
    meta = summary.machine(build, SOURCE, command, seed, options.n)
    print(f"{len(configurations)} configurations, {options.n} rounds, seed {seed}",
          file=sys.stderr)
    measured = measure.measure(build, configurations, options.s, options.n, seed,
                               options.timeout, options.at_most, budget=Budget(options.within))
    return write_outputs(options, measured, meta, left_out)


def main(words):
    options = arguments(words)
    if options.action == "list":
        print_list(options.build)
        return 0
    if options.saved:
        if options.study or options.merge:
            raise UsageError("--from says itself which study it shows; leave --study and --merge "
                             "out.")
        options.study, options.merge = document.from_json(options.saved).name, [options.saved]
        if not (options.html or options.svg or options.json or can_draw()):
            print("run.py: the tables alone; a page needs matplotlib (python3-matplotlib).",
                  file=sys.stderr)
        elif not (options.html or options.svg or options.json):
            (SOURCE / "build").mkdir(exist_ok=True)
            options.html = str(SOURCE / "build" / f"{pathlib.Path(options.saved).stem}.html")
    if options.merge and not options.study:
        raise UsageError("--merge needs --study NAME, the study that the files are of.")
    if options.before and not options.study:
        raise UsageError("--before needs --study NAME, a study that compares builds.")
    if options.all and not options.study:
        raise UsageError("--all needs --study NAME, a study that leaves out what takes long.")
    if options.targets and not options.study:
        raise UsageError("--targets needs --study NAME, the study that runs the programs.")
    if options.targets:
        print("\n".join(study.targets(options)))
        return 0
    if options.study:
        if not options.saved:
            studies.find(options.study)
        check_outputs(options)
        failures = study.run(options, SOURCE)
    else:
        failures = ordinary_run(options, words)
    for sentence in failures:
        print(sentence, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except UsageError as usage:
        print(f"run.py: {usage}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("\nrun.py: interrupted; nothing was written but the finished rounds of a study.",
              file=sys.stderr)
        sys.exit(130)
