# SPDX-License-Identifier: MIT
"""The study of what idle workers cost, with counts that grow as the test wants."""

import json
import unittest

import fake_study
import harness

WORKERS = [2, 4, 8, 16, 32]
COUNTS = ["remote_writes", "copies_lost", "remote_reads", "rmws", "fences", "walked_words",
          "unknown_lines", "spin_locks", "mutexes", "barriers", "interruptions", "futex_waits",
          "futex_wakes"]
STEALS = 400


class IdleStudy(fake_study.FakeStudy):
    STUDY = "idle"

    def setUp(self):
        super().setUp()
        # (phase, count) -> the power of the number of workers that a steal takes of it.
        self.powers = {}
        self.asleep = {}

    def numbers(self, workers, phase, steals):
        prefix = f"{phase}." if phase in ("start", "end") else ""
        metrics = {prefix + "seconds": 2.0, prefix + "cpu_s": 3.8, prefix + "machine_busy_s": 4.4,
                   prefix + "steals": steals}
        for name in COUNTS:
            power = self.powers.get((phase, name), 0)
            metrics[prefix + name] = STEALS * 3 * workers ** power
        return metrics

    def build_all(self, runtimes=("nopal", "nopal-counted"), workers=tuple(WORKERS)):
        for runtime in runtimes:
            for count in workers:
                quiet = {name: self.asleep.get(name, 0) for name in COUNTS}
                self.say("idle", runtime, count, n=1, told=quiet | {
                    "seconds": 2.0, "cpu_s": 2.0, "steals": 0})
                self.say("idle", runtime, count, n=2, told=self.numbers(
                    count, "forks", STEALS) | {"forks": 900, "own_cpu_s": 1.8})
                self.say("idle", runtime, count, n=3, told={
                    "bursts": 10, "unknown_lines": 0} | self.numbers(count, "start", STEALS)
                    | self.numbers(count, "end", 0))
        self.write_programs()

    def run_all(self, *words):
        return self.run_study("-n", 1, "-t", ",".join(map(str, WORKERS)), *words)

    def growing(self):
        return [c["name"].split(", exponent")[0] for c in self.document["checks"]
                if not c["holds"]]

    def test_what_does_not_depend_on_the_number_of_workers_does_not_grow(self):
        self.build_all()
        done = self.run_all()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.growing(), [])
        self.assertEqual(len(self.document["checks"]), 1 + 3 * 7)
        self.assertIn("with the number of workers grow none of the counts", self.page)
        self.assertEqual(self.page.count("<svg"), 1)

    def test_what_grows_is_found_with_its_power(self):
        self.powers = {("forks", "spin_locks"): 1.0, ("end", "copies_lost"): 1.5,
                       ("start", "barriers"): 0.2, ("start", "remote_writes"): -0.5}
        self.build_all()
        done = self.run_all()
        self.assertEqual(self.growing(), ["one strand that forks, per steal: spin locks taken",
                                          "end of a burst, per steal of the burst: copies lost by "
                                          "that"])
        self.assertAlmostEqual(self.only("strand that forks", "spin locks")["value"], 1.0)
        self.assertAlmostEqual(self.only("end of a burst", "copies lost")["value"], 1.5)
        self.assertAlmostEqual(self.only("start of a burst", ": barriers")["value"], 0.2)
        self.assertAlmostEqual(self.only("start of a burst", "written")["value"], -0.5)
        self.assertIn("grow spin locks taken (exponent 1.00).", self.page)
        self.assertIn("grow spin locks taken (exponent 1.00).", " ".join(done.stdout.split()))

    def test_growth_is_judged_where_workers_are_many(self):
        self.build_all()
        for count in WORKERS:
            metrics = self.tables[("idle", "nopal-counted")][(2, count, "")]["told"]
            metrics["remote_reads"] = STEALS * (20 + max(0, count - 8))
        self.write_programs()
        self.run_all()
        # 20, 28, 44 for 8, 16, 32 workers.
        self.assertGreater(self.only("strand that forks", "lines read")["value"], 0.5)

    def test_rates_are_those_of_the_ordinary_library_with_its_processor_time(self):
        self.build_all()
        self.run_all()
        start = self.page.index("with the ordinary library")
        row = self.page[start:].split("<tr>")[2]
        cells = [part.split("<")[0] for part in row.split(">") if part.split("<")[0].strip()]
        # Workers, forks, steals; processors of the others, of the strand, of other programs:
        # (3.8 - 1.8) / 2, 1.8 / 2, (4.4 - 3.8) / 2.
        self.assertEqual(cells[:6], ["2", "450", "200", "1", "0.9", "0.3"])

    def test_a_file_that_was_kept_may_lack_what_came_later(self):
        self.build_all()
        self.run_all()
        for row in self.document["samples"]:
            for metrics in row["told"]:
                metrics.pop("machine_busy_s", None)
        self.json.write_text(json.dumps(self.document))
        merged = self.build / "merged.html"
        done = harness.run("--study", "idle", "--merge", self.json, "--html", merged)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('<td class="number">450</td>', merged.read_text())
        self.assertNotIn('<td class="number">0.3</td>', merged.read_text())

    def test_a_sleeper_that_does_anything_is_noticed(self):
        self.asleep = {"barriers": 4}
        self.build_all()
        self.run_all()
        row = self.only("beside a serial thread")
        self.assertEqual((row["value"], row["holds"]), (2.0, False))

    def test_too_few_numbers_of_workers_judge_nothing(self):
        self.build_all(workers=(2, 4))
        done = self.run_study("-n", 1, "-t", "2,4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({c["holds"] for c in self.document["checks"][1:]}, {None})
        self.assertIn("needs 3 numbers of workers", self.document["checks"][1]["note"])

    def test_without_the_counting_library_rates_are_shown_all_the_same(self):
        self.build_all(runtimes=("nopal",))
        done = self.run_all()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nopal-counted was not built", done.stderr + self.page)
        self.assertEqual({c["holds"] for c in self.document["checks"]}, {None})
        self.assertIn("<td class=\"number\">450</td>", self.page)
        self.assertEqual(self.page.count("<svg"), 0)


if __name__ == "__main__":
    unittest.main()
