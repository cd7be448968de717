# SPDX-License-Identifier: MIT
"""The study of processes, with numbers of the test's own making."""

import unittest

import fake_study
import harness

FORKS = 1000
TREES = {"uts@1": 1, "uts@2": 2, "uts@3": 3, "uts@4": 4, "uts@5": 5, "uts@8": 8, "uts@10": 10}
PROBLEMS = ["btc1", "btc2", "task_queens", "task_fib", *TREES]


class NodesStudy(fake_study.FakeStudy):
    STUDY = "nodes"

    def setUp(self):
        super().setUp()
        self.told = {"ghz": 2.0, "fence_cycles": 10.0, "region_used": 60000.0,
                     "region_size": 262144.0, "page_faults": 40.0,
                     "tries": 100.0, "steals": 50.0, "suspended": 25.0,
                     "stolen_bytes": 150000.0, "look_cycles": 20000.0, "take_cycles": 20000.0,
                     "copy_cycles": 50000.0, "suspend_cycles": 50000.0, "resume_cycles": 5000.0}
        self.two, self.threads_two, self.elision = 0.52e-6, 0.5e-6, 0.98e-6

    def build_all(self, runtimes=("process",), size="quick"):
        line = {"forks": FORKS, "size": size}
        for problem in PROBLEMS if size == "quick" else [*PROBLEMS[:4], "uts@6"]:
            name, _, n = problem.partition("@")
            line["n"] = int(n) if n else None
            self.say(name, "serial_call", time_s=self.elision, **line)
            self.say(name, "nopal", time_s=1e-6, **line)
            self.say(name, "nopal", 2, time_s=self.threads_two, **line)
            for runtime in runtimes:
                counts = (1, 2, 4, 8) if runtime == "process" else (1, 2)
                for workers in counts:
                    time_s = {1: 1e-6, 2: self.two}.get(workers, 1e-6)
                    self.say(name, runtime, workers, time_s=time_s, told=self.told, **line)
        line["n"] = None
        for runtime in runtimes:
            self.say("steal", runtime, 2, told=self.told, **line)
            self.say("latency", runtime, 2, told={"get_8": 5.0, "get_65536": 900.0, "put_8": 6.0,
                                                  "compare_swap": 7.0}, **line)
        self.write_programs()

    def run_all(self, *words, rounds=15, size="quick"):
        """The last size that is given counts."""
        return self.run_study("-s", size, "-n", rounds, *words)

    def test_what_is_promised_is_judged(self):
        self.build_all()
        done = self.run_all()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([c["holds"] for c in self.document["checks"]], [True] * 9)
        # (1.0 - 0.98) us of a thousand forks at 2 GHz, less the fence.
        self.assertAlmostEqual(self.only("cycles of a task")["value"], 0.04 - 10)
        # (20000 / 100 + 20000 / 50 + 50000 / 50) cycles at 2 GHz.
        self.assertAlmostEqual(self.only("look, take and copy")["value"], 0.8)
        self.assertAlmostEqual(self.only("UTS T1", "efficiency")["value"], 1 / 1.04)
        self.assertAlmostEqual(self.only("UTS T1", "threads")["value"], 1.04)
        self.assertAlmostEqual(self.only("UTS D=8", "bytes")["value"], 7500)
        self.assertEqual(self.page.count("<svg"), 3)
        self.assertIn("process-openmpi was not built", done.stderr + self.page)

    def test_what_falls_short_is_said(self):
        self.two, self.threads_two, self.elision = 0.6e-6, 0.5e-6, 0.5e-6
        self.told |= {"region_used": 90000.0, "copy_cycles": 90000.0, "fence_cycles": -50.0}
        self.build_all()
        self.run_all()
        self.assertEqual([c["holds"] for c in self.document["checks"]], [False] * 9)

    def test_few_rounds_judge_no_times(self):
        self.build_all()
        self.run_all(rounds=1)
        self.assertEqual([c["holds"] for c in self.document["checks"]],
                         [True, True, None, True, None, None, None, None, None])

    def test_who_has_stolen_nothing_is_not_judged(self):
        self.told |= {"steals": 0.0, "suspended": 0.0}
        self.build_all()
        done = self.run_all(rounds=1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("has stolen nothing", self.only("look, take")["note"])

    def test_a_run_of_size_test_has_a_small_tree_alone(self):
        self.build_all(size="test")
        done = self.run_all(rounds=1, size="test")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({r["problem"] for r in self.document["results"]},
                         {"btc1", "btc2", "task_queens", "task_fib", "uts@6", "steal", "latency"})

    def test_the_largest_trees_run_once_when_all_is_asked_for(self):
        self.build_all()
        for number in (12, 21, 22, 23):
            for runtime in ("process", "nopal"):
                for workers in (1, 2):
                    self.say("uts", runtime, workers, n=number, size="quick", told=self.told)
        self.write_programs()
        done = self.run_all("--all", rounds=2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--all", self.document["runs"][0]["command"])
        rounds = {s["problem"]: s["round"] for s in self.document["samples"]}
        self.assertEqual((rounds["uts@12"], rounds["uts@1"]), ([1], [1, 2]))
        self.assertEqual(self.only("UTS D=12")["value"], 5000)

    def test_a_launcher_begins_the_processes(self):
        launcher = self.build / "begin"
        launcher.write_text('#!/bin/sh\necho "$@" >>"$0.log"\nshift 3\nexec "$@"\n')
        launcher.chmod(0o755)
        self.build_all(runtimes=("process", "process-mpich"))
        self.listing["built"]["process-mpich"]["launcher"] = [str(launcher), "--quietly"]
        self.write_programs()
        done = self.run_all("-b", "steal", rounds=1)
        self.assertEqual(done.returncode, 0, done.stderr)
        log = (self.build / "begin.log").read_text()
        self.assertIn("--quietly -n 2 ", log)
        self.assertIn("steal-process-mpich --size quick --workers 2", log)
        self.assertEqual(len([c for c in self.document["checks"] if "steal" in c["name"]]), 2)

    def test_steals_over_tcp_have_a_limit_of_their_own(self):
        self.told |= {"look_cycles": 2e6, "take_cycles": 5e6, "copy_cycles": 2e6}
        self.build_all()
        self.say("steal_slowly", "process-mpich-tcp", 2, told=self.told, forks=FORKS, size="quick")
        self.write_programs()
        done = self.run_all("-b", "steal,steal_slowly", rounds=1)
        self.assertEqual(done.returncode, 0, done.stderr)
        # (2e6 / 100 + 5e6 / 50 + 2e6 / 50) cycles at 2 GHz are 80 us, one message 50.
        self.assertEqual([(c["value"], c["holds"]) for c in self.document["checks"]],
                         [(80.0, False), (50.0, True)])

    def test_a_busy_process_delays_others_but_little(self):
        self.build_all()
        for runtime, most in (("process-openmpi-tcp", 49e3), ("process-mpich-tcp", 51e3)):
            self.say("latency", runtime, 2, told={"one_get_50": 20e3, "one_get_90": most,
                                                  "one_get_99": 90e3}, forks=FORKS, size="quick")
        self.write_programs()
        done = self.run_all("-b", "latency", rounds=1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([(c["value"], c["holds"]) for c in self.document["checks"]],
                         [(49.0, True), (51.0, False)])
        rows = [line.split() for line in done.stdout.splitlines() if "-mpich-tcp" in line]
        self.assertIn(["process-mpich-tcp", "20", "51", "90"], rows)

    def test_itoyori_is_compared_with_where_it_is_built(self):
        self.elision = 0.6e-6
        self.build_all()
        self.say("btc1", "itoyori", time_s=1.7e-6, forks=FORKS, size="quick")
        self.write_programs()
        done = self.run_all("-b", "btc1")
        self.assertEqual(done.returncode, 0, done.stderr)
        # (1.0 - 0.6) us over (1.7 - 0.6) us
        self.assertAlmostEqual(self.only("over Itoyori's")["value"], 0.4 / 1.1)
        self.assertTrue(self.only("over Itoyori's")["holds"], self.only("over Itoyori's"))

    def test_iso_address_stands_beside_uni_address(self):
        self.build_all()
        iso = self.told | {"region_size": 524288.0, "page_faults": 77.0}
        for number in (8, 10):
            for workers in (1, 2, 4, 8):
                self.say("uts", "process-iso", workers, n=number, told=iso, forks=FORKS,
                         size="quick")
        self.write_programs()
        done = self.run_all("-b", "uts", rounds=1)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line.split() for line in done.stdout.splitlines() if "UTS D=8, 2 " in line]
        self.assertEqual([row[3:7] for row in rows], [["process", "262,144", "60,000", "40"],
                                                      ["process-iso", "524,288", "60,000", "77"]])

    def test_only_a_study_that_leaves_something_out_takes_all(self):
        for words, text in ((["--study", "idle", "--all"], "always runs all it has"),
                            (["--all"], "--all needs --study")):
            done = harness.run(*words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main()
