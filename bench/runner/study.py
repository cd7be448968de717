# SPDX-License-Identifier: MIT
"""Runs or merges a study, and writes what came of it."""

import os
import pathlib
import random
import shlex
import sys

from runner import (checks, document, measure, picture, programs, report, studies, study_page,
                    summary)
from runner.budget import Budget
from runner.load import Load, Unknown
from runner.programs import UsageError

# A run of another runtime that takes longer is stopped and shown as a bound.
AT_MOST_S = {"test": 10.0, "quick": 10.0, "paper": 60.0}


def wish_of(module, options):
    """The command line's wish; whatever it does not say, the study does."""
    cores = len(os.sched_getaffinity(0))
    size = options.s or module.SIZE
    if size not in programs.SIZES:
        raise UsageError(f"Size '{size}' is not known; accepted are {', '.join(programs.SIZES)}.")
    return studies.Wish(
        problems=programs.choose(options.b or "all", module.PROBLEMS, "Problem", module.PROBLEMS),
        workers=programs.choose_workers(options.t) if options.t else module.workers(cores),
        size=size, rounds=options.n or module.ROUNDS, cores=cores,
        workers_asked=options.t is not None, before=options.before is not None,
        all=options.all)


def command_of(name, wish, seed, at_most_s):
    """The command that repeats this run, without the files that it wrote."""
    words = ["bench/run.py", "--study", name, "-b", ",".join(wish.problems)]
    if wish.workers_asked:
        words += ["-t", ",".join(map(str, wish.workers))]
    if wish.before:
        words += ["--before", "DIR"]
    if wish.all:
        words += ["--all"]
    return shlex.join(words + ["-s", wish.size, "-n", str(wish.rounds), "--seed", str(seed),
                               "--at-most", f"{at_most_s:g}"])


def refuse(options, names, why):
    for name in names:
        given = getattr(options, name)
        if given is not None and given is not False:
            dashes = "-" if len(name) == 1 else "--"
            raise UsageError(f"{dashes}{name.replace('_', '-')} {why}.")


def require_plain_environment():
    for name in sorted(os.environ):
        if name.startswith("NOPAL_"):
            raise UsageError(f"{name} is set in the environment; a study compares the runtimes as "
                             "they are: unset it.")


def without_paths(measured, build):
    """Sentences of programs may name where they lie, which concerns no later reader."""
    def clean(text):
        for folder in (build.bench, *build.folders.values()):
            text = text.replace(f"{folder.resolve()}/", "").replace(f"{folder}/", "")
        return text
    measured.failures = {c: [clean(said) for said in reasons]
                         for c, reasons in measured.failures.items()}
    measured.refused = {c: clean(said) for c, said in measured.refused.items()}


def perform(module, options, source):
    """Measures the study; returns its document."""
    require_plain_environment()
    budget = Budget(options.within or getattr(module, "WITHIN_S", None))
    wish = wish_of(module, options)
    build = programs.Build(options.build)
    if options.before:
        build.compare_with(programs.Build(options.before))
    wanted = module.configurations(wish)  # none, where extra() measures all
    configurations, left_out = build.split(wanted, wish.size) if wanted else ([], [])
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    at_most_s = options.at_most or AT_MOST_S[wish.size]
    machine = summary.machine(build, source, command_of(options.study, wish, seed, at_most_s),
                              seed, wish.rounds)
    used = {programs.base(runtime) for _, runtime, _ in configurations}
    host = {name: machine[name] for name in document.HOST}
    host["compilers"] = {r: c for r, c in machine["compilers"].items() if r in used}

    extra = module.extra(build, wish) if hasattr(module, "extra") else {}
    seldom = (frozenset(configurations) - frozenset(module.judged(wish))
              if hasattr(module, "judged") else frozenset())
    once = frozenset(module.once(wish)) if hasattr(module, "once") else frozenset()
    print(f"{len(configurations)} configurations ({len(seldom)} of them in few rounds), "
          f"{wish.rounds} rounds, seed {seed}", file=sys.stderr)

    def as_study(measured):
        without_paths(measured, build)
        return document.Study(options.study, studies.Result(measured, wish, extra), host,
                              [{name: machine[name] for name in document.RUN}], left_out)

    def keep(measured):
        """A long study that is interrupted has at least the rounds before."""
        if options.json:
            write_json(options.json, module, as_study(measured))

    return as_study(measure.measure(build, configurations, wish.size, wish.rounds, seed,
                                    options.timeout, at_most_s, keep, seldom, once, budget,
                                    Load() if options.quiet else Unknown()))


def write_json(path, module, study):
    text = document.to_json(study, summary.results(study.result.measurement),
                            module.checks(study.result))
    part = pathlib.Path(f"{path}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def write_picture(directory, study, saved):
    """Beside its JSON a picture has the same name; that of a fresh run has the study's."""
    source = pathlib.Path(saved) if saved else None
    svg = picture.drawn(study, picture.mark_of(source) if source else "drawn by bench/run.py")
    if not svg:
        return None
    path = directory / f"{source.stem if source else study.name}.svg"
    path.write_text(svg, encoding="utf-8")
    return path


def write(module, study, options):
    """Prints checks and tables, writes the files and says which, returns the sentences about
    failures."""
    result = study.result
    measured = result.measurement
    check_rows = module.checks(result)
    brief = hasattr(module, "lines")
    print("\n".join(module.lines(result) if brief else
                    report.table(measured, summary.results(measured))))
    if check_rows:
        print("\n" + "\n".join(checks.show(check_rows)))
    written = [options.json, options.html]
    if options.json:
        write_json(options.json, module, study)
    if options.html:
        study_page.write(options.html, module, study, check_rows)
    if options.svg:
        written.append(write_picture(pathlib.Path(options.svg), study, options.saved))
    for note in ([] if brief else study.left_out) + measured.notes():
        print(note, file=sys.stderr)
    for path in filter(None, written):
        print(f"{path} was written.", file=sys.stderr)
    return measured.failure_sentences() + result.extra.get("failures", [])


def require_shown(module, study, path):
    """A file may be whole and yet lack what its study shows, which its `extra` holds."""
    try:
        module.checks(study.result)
        module.tables(study.result)
    except (AttributeError, KeyError, TypeError) as error:
        raise UsageError(
            f"{path} lacks what the study '{study.name}' shows ({error!r}).") from error


def targets(options):
    """Of the problems' programs those that the build directory can have, and the study's own."""
    module = studies.find(options.study)
    wish = wish_of(module, options)
    build = programs.Build(options.build)
    return sorted({f"bench/{build.program(problem, runtime).name}"
                   for problem, runtime, _ in module.configurations(wish)
                   if build.has(problem, runtime)} |
                  {f"bench/{name}" for name in getattr(module, "PROGRAMS", [])})


def run(options, source):
    """The whole of `run.py --study`; the sentences about what failed."""
    module = picture.module_of(options.study) if options.saved else studies.find(options.study)
    refuse(options, ["r", "csv", "check"],
           "cannot be given with --study, which says itself what is measured and shown")
    if not hasattr(module, "COMPARES_BUILDS"):
        refuse(options, ["before"], "cannot be given with this study, which compares no builds")
    if not hasattr(module, "HAS_ALL"):
        refuse(options, ["all"], "cannot be given with this study, which always runs all it has")
    if options.merge:
        refuse(options, ["all", "before", "b", "t", "s", "n", "seed", "at_most", "within"],
               "cannot be given with --merge, which measures nothing")
        study = document.merged(options.merge, module)
        if study.name != options.study:
            raise UsageError(f"{options.merge[0]} is of the study '{study.name}', not of "
                             f"'{options.study}'.")
        require_shown(module, study, options.merge[0])
    else:
        study = perform(module, options, source)
    return write(module, study, options)
