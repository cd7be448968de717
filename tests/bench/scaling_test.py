# SPDX-License-Identifier: MIT
"""The study scaling and the folder that holds it, with programs of the test's own making."""

import os
import pathlib
import subprocess
import sys
import unittest
from unittest import mock

import harness
from timed_study import TimedStudy

BENCH = pathlib.Path(harness.RUN_PY).parent
sys.path.insert(0, str(BENCH))

import pack  # pylint: disable=wrong-import-position
from runner import programs  # pylint: disable=wrong-import-position

STEPS = """case "$1 $2" in
'--cpus ') echo %d ;;
'--workers 1') echo '{"workers": 1, "fork": [7.0, 8.0, 9.0]}' ;;
*) printf '{"workers": %%s, "steal": [2000], "wake": [30000], ' "$2"
   printf '"wake_all": [40000], "sleep": [90000]}' ;;
esac"""


class FakePrograms(TimedStudy):
    def threads(self):
        """As many threads as --n says, each the slower the more there are."""
        self.timed("serial", "side_by_side")
        path = self.build / "bench" / "side_by_side-serial"
        path.write_text(path.read_text().replace('"n": 24', '"n": \'"$6"\'')
                        .replace('"size": "test"', '"size": "\'"$2"\'"')
                        .replace("t=0.5;", "t=$6;"))

    def told(self, problem, *runtimes):
        """These programs say what --n they were given."""
        for runtime in runtimes:
            path = self.build / "bench" / f"{problem}-{runtime}"
            path.write_text(path.read_text().replace('"n": 24', '"n": \'"${6:-24}"\''))

    def steps(self, script):
        path = self.build / "bench" / "steps"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)


class Scaling(FakePrograms):
    def programs(self, cpus=2):
        self.timed("serial", "lu", 1.0)
        self.timed("nopal", "lu", 1.25, 0.5)
        self.timed("serial", "fib", 0.1)
        self.timed("serial_call", "fib", 1.0, forks=10**9)
        self.timed("nopal", "fib", 9.0, 5.0, forks=10**9)
        self.timed("nopal-ivars", "fib", 4.0, 8.0)
        self.told("fib", "serial_call", "nopal", "nopal-ivars")
        self.threads()
        self.steps(STEPS % cpus)

    def scaling(self, *words, status=0):
        done = self.study("scaling", "-b", "fib,lu", "-n", 2, *words)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def row(self, done, first):
        rows = [line.split() for line in done.stdout.splitlines()
                if line.strip().startswith(first + " ")]
        return [row[len(first.split()):] for row in rows]

    def test_speed_up_is_over_one_worker_and_over_the_serial_program(self):
        self.programs()
        done = self.scaling("-t", "1,2")
        self.assertEqual(self.row(done, "lu"), [["1.00", "2.50"], ["0.80", "2.00"],
                                                ["1.000", "1.250"]])
        # Not over the serial program's 0.1 s, in which there are no calls left.
        self.assertEqual(self.row(done, "fib")[1], ["0.11", "0.20"])
        self.assertEqual(self.row(done, "plain threads")[0], ["1.00", "1.00"])

    def test_the_problems_of_manticore_run_by_its_policies_too(self):
        self.programs()
        for runtime, one, two, build_s in (("serial", 1.0, 1.0, 0.1), ("nopal", 1.0, 0.5, 0.05),
                                           ("nopal-ivars", 1.25, 0.625, 0.2)):
            self.timed(runtime, "barnes_hut", one, two,
                       told={"build_s": build_s, "forces_s": one - build_s})
        done = self.study("scaling", "-b", "lu,barnes_hut", "-n", 2, "-t", "1,2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.row(done, "barnes_hut by nopal-ivars"),
                         [["1.00", "2.00"], ["0.80", "1.60"]])
        self.assertEqual(self.row(done, "tree by nopal"), [["2.00", "2.00"]])
        self.assertEqual(self.row(done, "tree by nopal-ivars"), [["0.50", "0.50"]])
        self.assertEqual(self.row(done, "lu by nopal-ivars"), [])
        self.assertIn("Manticore, 2008", self.drawn())

    def test_the_fib_of_manticore_runs_by_ivars_and_is_compared_with_calls(self):
        self.programs()
        done = self.scaling("-t", "1,2")
        self.assertEqual(self.row(done, "fib@29 by nopal-ivars"),
                         [["1.00", "0.50"], ["0.25", "0.12"]])

    def test_a_fork_costs_the_time_of_all_workers(self):
        self.programs()
        done = self.scaling("-t", "1,2")
        self.assertEqual(self.row(done, "fib: cost of a fork, ns"), [["8", "9"]])

    def test_the_steps_are_pooled_and_told_in_their_units(self):
        self.programs()
        done = self.scaling("-t", "1,2")
        self.assertEqual(self.row(done, "fork and join that nobody steals, ns"), [["8"]])
        self.assertEqual(self.row(done, "from a fork to its thief, us"), [["2"]])
        self.assertEqual(len(self.document["extra"]["steps"]["1"]["fork"]), 9)

    def test_workers_beyond_the_cpus_are_left_out_and_said(self):
        self.programs()
        done = self.scaling("-t", "1,2")
        said = "This machine lets a program use 2 CPUs: 4, 6, 8 and 16 workers were left out."
        self.assertIn(said, done.stderr)
        self.assertIn(said, self.document["extra"]["notes"])
        self.assertIn(said, self.drawn())

    def test_workers_beyond_the_cpus_that_were_asked_for_are_marked(self):
        self.programs()
        done = self.scaling("-t", "1,2,4")
        said = ("This machine lets a program use 2 CPUs: 4 workers (marked *) have to share, and "
                "their figures say nothing of scaling.")
        self.assertIn(said, done.stderr)
        self.assertEqual(self.row(done, "workers"), [["1", "2", "4*"]] * 3)

    def test_the_json_alone_draws_the_same_page(self):
        self.programs()
        direct = self.build / "direct.html"
        self.scaling("-t", "1,2,4", "--html", direct)
        again = self.build / "again.html"
        done = self.run_study("--from", self.json, "--html", again)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(again.read_text(), direct.read_text())
        self.assertEqual(again.read_text().count("<svg"), 4)

    def test_from_accepts_a_study_alone(self):
        self.refusal("programs.json is not the JSON of a study", "--from",
                     self.write("programs.json", "{}"))
        self.refusal("--from says itself which study it shows", "--study", "scaling", "--from",
                     "x.json")

    def write(self, name, text):
        path = self.build / name
        path.write_text(text)
        return path

    def test_steps_that_fail_are_a_failure_and_the_rest_is_kept(self):
        self.programs()
        self.steps('test "$1" = --cpus && echo 2 && exit\necho out of luck >&2; exit 3')
        done = self.scaling("-t", "1,2", status=1)
        for count in (1, 2):
            said = (f"steps with {count} worker{'s' * (count > 1)} failed: it ended with status 3: "
                    "out of luck.")
            self.assertIn(said, done.stderr)
            self.assertIn(said, self.drawn())
        self.assertEqual(self.row(done, "lu")[0], ["1.00", "2.50"])

    def test_steps_of_another_number_of_workers_are_refused(self):
        self.programs()
        self.steps('test "$1" = --cpus && echo 2 && exit\necho \'{"workers": 9, "fork": [1]}\'')
        done = self.scaling("-t", "1", status=1)
        self.assertIn("it did not print one JSON line with the steps expected", done.stderr)


class Folder(FakePrograms):
    """What script/scaling packs, of programs that are fake, and its `run`."""

    def pack(self, *words):
        return subprocess.run([sys.executable, "-B", str(BENCH / "pack.py"), *map(str, words)],
                              capture_output=True, text=True, check=False)

    def build_all(self, steps=STEPS % 2):
        for problem, runtime in pack.needed():
            if problem == "side_by_side":
                self.threads()
            else:
                self.timed(runtime, problem, size="quick")
        self.told("fib", "serial_call", "nopal", "nopal-ivars")
        self.steps(steps)

    def refused(self, text, *words):
        done = self.pack(*words)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(text, done.stderr)

    def test_manticores_programs_are_packed_by_forks_and_by_the_papers_policies(self):
        packed = pack.needed()
        for problem, policy in (("raytracer", "gang"), ("barnes_hut", "ivars"),
                                ("merge_sort", "ivars"), ("bitonic", "ivars"), ("fib", "ivars")):
            for runtime in ("serial", "nopal", f"nopal-{policy}"):
                self.assertIn((problem, runtime), packed)

    def test_arguments_that_are_not_accepted(self):
        self.refused("A build directory and a folder are needed")
        self.timed("serial")
        self.refused("serial has no program for integrate", self.build, self.build / "out")

    def test_a_folder_of_other_things_is_left_alone(self):
        self.build_all()
        other = self.build / "other"
        other.mkdir()
        (other / "thesis").write_text("all of it")
        self.refused("was not packed by this script", self.build, other)
        self.assertEqual([path.name for path in other.iterdir()], ["thesis"])

    def test_a_program_that_is_not_linked_statically_is_refused(self):
        self.build_all()
        shared = self.build / "bench" / "fib-serial"
        shared.write_bytes(pathlib.Path(os.path.realpath(sys.executable)).read_bytes())
        self.refused("fib-serial is not linked statically", self.build, self.build / "out")

    def folder(self, cpus=2):
        """Packed as it would be, though fake programs are scripts, which readelf refuses."""
        self.build_all(STEPS % cpus)
        with mock.patch.object(pack, "require_static"):
            self.said = pack.pack(programs.Build(self.build), self.build / "packed")
        return self.build / "packed"

    def run_packed(self, folder, *words):
        plain = {k: v for k, v in os.environ.items() if not k.startswith("NOPAL_")}
        return subprocess.run([sys.executable, "-I", "-S", str(folder / "run"), *words],
                              capture_output=True, text=True, check=False, cwd=self.build,
                              env=plain)

    def test_it_runs_by_itself_and_is_drawn(self):
        folder = self.folder()
        before = sorted(folder.rglob("*"))
        done = self.run_packed(folder, "--within", "100")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("4, 6, 8 and 16 workers were left out", done.stderr)
        document = harness.read_json(self.build / "scaling.json")
        self.assertEqual(document["wish"]["workers"], [1, 2])
        self.assertEqual(len({row["problem"] for row in document["samples"]}), 22)
        listed = harness.read_json(folder / "bench" / "programs.json")
        self.assertEqual(document["runs"][0]["commit"], listed["commit"])
        self.assertEqual(sorted(folder.rglob("*")), before)
        html = self.build / "scaling.html"
        self.run_study("--from", self.build / "scaling.json", "--html", html)
        self.assertEqual(html.read_text().count("<svg"), 4)

    def test_a_folder_is_packed_again_and_keeps_its_results(self):
        folder = self.folder()
        (folder / "scaling.json").write_text("{}")
        (folder / "bench" / "stale").write_text("")
        self.folder()
        self.assertTrue((folder / "scaling.json").exists())
        self.assertFalse((folder / "bench" / "stale").exists())

    def test_what_run_does_not_accept(self):
        folder = self.folder()
        for text, *words in (("--workers '0' is not a list of workers; accepted are numbers from 1",
                              "--workers", "0"),
                             ("invalid positive number value: 'soon'", "--within", "soon"),
                             ("Unrecognized arguments: --fast", "--fast"),
                             ("its directory does not exist", "--json", "absent/x.json")):
            done = self.run_packed(folder, *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(text, done.stderr)
            self.assertNotIn("Traceback", done.stderr)


class Script(unittest.TestCase):
    def refused(self, text, *words):
        script = BENCH.parent / "script" / "scaling"
        done = subprocess.run([str(script), *words], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.strip(), f"scaling: {text}")

    def test_arguments_that_are_not_accepted(self):
        self.refused("unknown option '--fast'; accepted are a folder's name and --help", "--fast")
        self.refused("'b' is one argument too many; accepted are a folder's name and --help",
                     "a", "b")


if __name__ == "__main__":
    unittest.main()
