# SPDX-License-Identifier: MIT
"""The study of growth: what it counts per steal and part, and what it makes of calls that unmap."""

import json
import unittest

import harness
from fake_study import FakeStudy

WORKERS = [2, 4, 8, 16, 32]
STEALS = 100
RUNTIMES = ["nopal-counted", "nopal-nowa-counted", "nopal-fibril-counted"]
PARTS = ["deque", "join", "stacks"]


class Growth(FakeStudy):
    STUDY = "growth"

    def setUp(self):
        super().setUp()
        # (problem, runtime, count) -> the power of the number of workers with which it grows.
        self.powers = {}
        self.unmapping = [
            {"case": "beside", "threads": 1, "ns": 500.0, "interrupts": 0.0, "lost_ns": 0.0},
            {"case": "beside", "threads": 2, "ns": 800.0, "interrupts": 1.0, "lost_ns": 600.0},
            {"case": "mmap", "threads": 2, "ns": 1500.0, "interrupts": 1.0, "lost_ns": 0.0}]

    def build_all(self, runtimes=tuple(RUNTIMES), workers=tuple(WORKERS)):
        for problem, n in (("fib", 24), ("cholesky", 500), ("lu_tiny", 128)):
            for runtime in runtimes:
                for count in workers:
                    metrics = {"steals": STEALS}
                    for part in PARTS:
                        for what in ("lines", "failed"):
                            name = f"{part}_{what}"
                            power = self.powers.get((problem, runtime, name), 0)
                            metrics[name] = STEALS * 3 * count ** power
                    self.say(problem, runtime, count, n=n, told=metrics)
        self.write_programs()
        self.plain_program("unmapping", json.dumps({"cases": self.unmapping}))

    def run_all(self, *words):
        return self.run_study("-n", 1, "-t", ",".join(map(str, WORKERS)), *words)

    def test_what_grows_in_one_part_is_found_with_its_power(self):
        self.powers = {("fib", "nopal-nowa-counted", "join_lines"): 0.5,
                       ("cholesky", "nopal-counted", "stacks_lines"): 0.2,
                       ("lu_tiny", "nopal-fibril-counted", "deque_failed"): 1.0}
        self.build_all()
        done = self.run_all()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.document["checks"]), 3 * 3 * 2 * 3)
        grown = [c["name"].split(" per steal")[0] for c in self.document["checks"]
                 if not c["holds"]]
        self.assertEqual(grown, ["fib@24 on nopal-nowa-counted: remote lines of the join",
                                 "lu_tiny@128 on nopal-fibril-counted: failed swaps of the deque"])
        self.assertAlmostEqual(
            self.only("cholesky@500 on nopal-counted: remote lines of the stacks")["value"], 0.2)
        self.assertEqual(self.page.count("<svg"), 1)

    def test_failed_swaps_that_stay_few_do_not_grow(self):
        self.build_all()
        for count in WORKERS:
            few = self.tables[("fib", "nopal-counted")][(24, count, "")]["told"]
            few["stacks_failed"] = 0.001 * STEALS * count
            few["join_failed"] = 0.05 * STEALS * count
        self.write_programs()
        self.run_all()
        self.assertEqual(self.only("fib@24 on nopal-counted: failed swaps of the stacks")["value"],
                         0.0)
        self.assertAlmostEqual(
            self.only("fib@24 on nopal-counted: failed swaps of the join")["value"], 1.0)

    def test_an_unmap_costs_each_thread_beside_it_an_interrupt(self):
        self.build_all()
        self.run_all()
        # 800 ns and 255 interrupts of 600 ns; 2795 K of these, of which 256 threads pay a part.
        cost = 800 + 600 * 255
        speed = 0.37 / (0.37 + 2795e3 * cost * 1e-9 / 256)
        start = self.page.index("What unmaps cost a program")
        row = self.page[start:].split("<tr>")[2]
        cells = [part.split("<")[0] for part in row.split(">") if part.split("<")[0].strip()]
        self.assertEqual(cells[0], "cholesky")
        self.assertAlmostEqual(float(cells[-2].replace(",", "")) / cost, 1, places=2)
        self.assertAlmostEqual(float(cells[-1]), speed, places=2)

    def test_without_the_programs_the_rest_is_shown(self):
        self.build_all(runtimes=["nopal-counted"])
        (self.build / "bench" / "unmapping").unlink()
        done = self.run_all()
        self.assertEqual(done.returncode, 1)
        self.assertIn("The program unmapping gave nothing", done.stderr)
        self.assertIs(self.only("fib@24 on nopal-counted: remote lines of the deque")["holds"],
                      True)
        self.assertIsNone(
            self.only("fib@24 on nopal-nowa-counted: remote lines of the deque")["holds"])

    def test_a_file_that_was_kept_shows_the_same(self):
        self.build_all()
        self.run_all()
        merged = self.build / "merged.html"
        done = harness.run("--study", "growth", "--merge", self.json, "--html", merged)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Calls that give two pages back", merged.read_text())


if __name__ == "__main__":
    unittest.main()
