# SPDX-License-Identifier: MIT
"""The study of the time bound, with programs that obey a bound of known constant, or do not."""

import json
import unittest

import fake_study
import harness

UNIT = 1e-7
FORK = 1e-9
UNITS = 1000
CASES = 16
BELOW = 8
C = 0.8


def listed(n):
    """Work is the same everywhere, and the span halves from one program to the next."""
    work = 0 if n == 1 else 2 << 20
    return {"n": n, "family": "balanced", "levels": n, "grain": 1, "spine": 0, "repeat": 1,
            "work": work, "span": 0 if n == 1 else max(1, work >> (n - 1)), "forks": 1000,
            "path_forks": n, "pages": 0, "above": 0}


def listed_below(n):
    """The work and the span of one program, below 2, 4 .. pages or frames."""
    ancestors = {"pages": 1 << (n - 16), "above": 0} if n <= 20 else {"pages": 0,
                                                                      "above": 1 << (n - 20)}
    return {**listed(5), "n": n, **ancestors}


def all_listed():
    return ([listed(n) for n in range(1, CASES + 1)] +
            [listed_below(n) for n in range(CASES + 1, CASES + BELOW + 1)])


def span_of(n):
    known = all_listed()[n - 1]
    return known["span"] * UNIT + known["path_forks"] * FORK


def t1_of(n):
    known = all_listed()[n - 1]
    return known["work"] * UNIT + known["forks"] * FORK


class BoundStudy(fake_study.FakeStudy):
    STUDY = "bound"

    def setUp(self):
        super().setUp()
        self.side_by_side = {1: 1.0, 2: 1.0, 4: 1.0}
        self.slower = {}

    def build_all(self, runtimes=("nopal",), workers=(2,)):
        self.plain_program("known_span_cases", json.dumps(
            {"side_by_side_units": UNITS, "cases": all_listed()}))
        for count in (1, *workers):
            self.say("side_by_side", "serial", n=count,
                     time_s=UNITS * UNIT * self.side_by_side[count])
        for n in range(1, CASES + BELOW + 1):
            self.say("known_span", "profile", n=n, depth=n, serial_pages=2)
            for runtime in runtimes:
                for count in (1, *workers):
                    time = t1_of(n) if count == 1 else t1_of(n) / count + C * span_of(n)
                    time *= self.slower.get((runtime, n, count), 1)
                    self.say("known_span", runtime, count, n=n, time_s=time, forks=1000, steals=7)
        self.write_programs()

    def fit_row(self, runtime):
        start = self.page.index(f"<td>{runtime}</td>")
        row = self.page[start:self.page.index("</tr>", start)]
        return [cell.split("</td>")[0].split(">", 1)[1] for cell in row.split("<td")[1:]]

    def programs_over(self):
        return [c for c in self.document["checks"]
                if "T_P over T1/P" in c["name"] and not c["holds"]]

    def test_the_constant_of_the_programs_is_found_and_the_bound_holds(self):
        self.build_all()
        done = self.run_study("-n", 2, "-t", "1,2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nopal-fibril was not built", done.stderr)
        self.assertEqual(len(self.document["checks"]), 3 + CASES - 1 + BELOW)
        for words in ("c fitted", "c that every program obeys"):
            self.assertAlmostEqual(self.only(words)["value"], C, places=6)
            self.assertIs(self.only(words)["holds"], True)
        self.assertEqual(self.programs_over(), [])
        for check in self.document["checks"][2:-BELOW]:
            self.assertAlmostEqual(check["value"], 1, places=6)
        for check in self.document["checks"][3:-BELOW]:
            self.assertIn("c = 0.8", check["name"])
        for check in self.document["checks"][-BELOW:]:
            self.assertIsNone(check["holds"], "nopal-mapped was not built")
        self.assertEqual(self.page.count("<svg"), 1)
        self.assertIn("The constant", self.page)

    def test_the_constant_below_ancestors_is_found_and_held_against_the_papers(self):
        self.slower["nopal-mapped", CASES + 4, 2] = 3
        self.build_all(runtimes=("nopal", "nopal-mapped"))
        self.run_study("-n", 2, "-t", "1,2")
        checks = self.document["checks"][-BELOW:]
        self.assertEqual([c["name"].split(":")[0] for c in checks[:4]],
                         [f"nopal-mapped below {pages} pages" for pages in (2, 4, 8, 16)])
        for number, check in enumerate(checks, CASES + 1):
            self.assertIs(check["holds"], True)
            self.assertEqual(check["limit"], number + 2)
            if number != CASES + 4:
                self.assertAlmostEqual(check["value"], C, places=6)
        self.assertGreater(checks[3]["value"], 3)
        self.assertIn("One program below ancestors", self.page)
        self.assertIn("16 open frames", self.page)

    def test_a_program_that_exceeds_the_bound_is_found(self):
        self.slower[("nopal", 12, 2)] = 1.2
        self.build_all()
        self.run_study("-n", 1, "-t", "1,2")
        over = self.programs_over()
        self.assertEqual([c["name"].split(",")[0] for c in over], ["balanced 12"])
        self.assertAlmostEqual(over[0]["value"], 1.2, places=2)
        self.assertAlmostEqual(self.only("worst program")["value"], 1.2, places=2)
        self.assertIs(self.only("worst program")["holds"], False)
        # The excess of 20 % is so many times that program's span.
        needed = (1.2 * (t1_of(12) / 2 + C * span_of(12)) - t1_of(12) / 2) / span_of(12)
        self.assertAlmostEqual(self.only("every program")["value"] / needed, 1, places=6)

    def test_what_the_noise_may_cost_does_not_count(self):
        self.slower[("nopal", 12, 2)] = 1.09
        self.build_all()
        self.run_study("-n", 1, "-t", "1,2")
        self.assertEqual(self.programs_over(), [])

    def test_no_speed_up_at_all_is_beyond_every_finite_constant(self):
        for n in range(2, CASES + 1):
            self.slower[("nopal", n, 2)] = 3
        self.build_all()
        self.run_study("-n", 1, "-t", "1,2")
        self.assertIs(self.only("finite")["holds"], False)

    def test_the_machines_own_limit_stands_beside(self):
        self.side_by_side[2] = 1.25
        for n in range(2, CASES + 1):
            self.slower[("nopal", n, 2)] = 1.25
        self.build_all()
        self.run_study("-n", 1, "-t", "1,2")
        self.assertGreater(len(self.programs_over()), 10)
        from_page = self.fit_row("nopal")
        # P effective is 2 / 1.25, and held against that nothing is over the bound.
        self.assertAlmostEqual(float(from_page[-3]), 1.6)
        self.assertAlmostEqual(float(from_page[-2]), 1.25 * C, places=2)
        self.assertAlmostEqual(self.only("worst program")["value"], 1, places=2)
        self.assertIs(self.only("worst program")["holds"], True)

    def test_more_workers_than_cores_are_called_so(self):
        self.build_all(workers=(2, 4))
        self.run_study("-n", 1, "-t", "1,2,4")
        self.document["wish"]["cores"] = 2
        self.json.write_text(json.dumps(self.document))
        merged = self.build / "merged.json"
        done = harness.run("--study", "bound", "--merge", self.json, "--json", merged)
        self.assertEqual(done.returncode, 0, done.stderr)
        names = [c["name"] for c in harness.read_json(merged)["checks"]]
        for name in names:
            self.assertEqual("oversubscribed: 2 cores" in name, "4 workers" in name, name)
        self.assertEqual(len(names), 2 * (CASES + 2 + BELOW))

    def test_runtimes_that_were_not_built_are_said(self):
        self.build_all(runtimes=("nopal-nowa",))
        done = self.run_study("-n", 1, "-t", "1,2")
        self.assertIn("nopal was not built", done.stderr)
        for check in self.document["checks"]:
            self.assertIsNone(check["holds"])
        self.assertEqual(self.page.count("<svg"), 1)

    def test_cases_that_are_missing_are_said(self):
        self.build_all()
        self.plain_program("known_span_cases", json.dumps({"side_by_side_units": 1, "cases": []}))
        done = self.run_study("-n", 1, "-t", "1,2")
        self.assertEqual(done.returncode, 2)
        self.assertIn("build it again", done.stderr)
        (self.build / "bench" / "known_span_cases").unlink()
        self.assertIn("build it first", self.run_study("-n", 1, "-t", "1,2").stderr)


if __name__ == "__main__":
    unittest.main()
