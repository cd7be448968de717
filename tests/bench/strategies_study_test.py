# SPDX-License-Identifier: MIT
"""The study of the cactus-stack strategies, with programs that behave like each of them."""

import unittest

import fake_study

# Runtime -> its policy; all but the first run every problem.
RUNTIMES = {"heap-frames": "", "one-stack": "", "depth-restricted": "", "nopal": "",
            "nopal-cilkplus": "stacks:4", "reuse-ancestors": "", "nopal-mapped": ""}
WAIT = ("depth-restricted", "nopal-cilkplus")
P, S1, D = 4, 30, 10
COUNTED = "budget:0+census"
# Speed-up of `captives` with four workers where no thief has to wait, and where thieves do.
FREE, STALLED = 3.6, 2.0
USUAL_PAGES = {"one-stack": 3 * P * S1, "reuse-ancestors": P * P * S1 // 2}


class StrategiesStudy(fake_study.FakeStudy):
    STUDY = "strategies"

    def setUp(self):
        super().setUp()
        # (problem, runtime) -> fields that differ from the usual.
        self.changes = {}

    def say_one(self, problem, n, runtime, count, policy, **fields):
        fields |= self.changes.get((problem, runtime), {})
        self.say(problem, runtime, count, n=n, policy=policy, **fields)

    def build_all(self, without=()):
        for problem, n in (("comparing", None), ("captives", None), ("captives", 96),
                           ("suspended", 200), ("arms", P)):
            self.say(problem, "profile", n=n, depth=D, serial_pages=S1)
            for runtime, policy in RUNTIMES.items():
                if runtime in without or (runtime == "heap-frames" and problem != "captives"):
                    continue
                pages = USUAL_PAGES.get(runtime, P * S1)
                for count in (1, P):
                    faster = 1 if count == 1 else STALLED if runtime in WAIT else FREE
                    fewest = policy.replace("4", str(P))
                    self.say_one(problem, n, runtime, count, fewest, time_s=0.8 / faster,
                                 steals=count, suspensions=1, stacks=6, stack_pages=pages,
                                 told={"heap_pages": 20})
                    if runtime == "nopal-mapped":
                        self.say_one(problem, n, runtime, count, COUNTED, live_pages=P * S1 - 2,
                                     dead_pages=2)
        self.write_programs()

    def run_problems(self, problems="comparing,captives,suspended,arms"):
        return self.run_study("-b", problems, "-n", 1, "-t", P)

    def test_everything_holds_where_each_behaves_as_the_paper_says(self):
        self.build_all()
        done = self.run_problems()
        self.assertEqual(done.returncode, 0, done.stderr)
        for check in self.document["checks"]:
            self.assertIs(check["holds"], True, check)
        for runtime in ("depth-restricted over", "nopal-cilkplus:stacks:P over"):
            self.assertAlmostEqual(self.only(f"T4 of {runtime}")["value"], FREE / STALLED)
        self.assertAlmostEqual(self.only("speed-up of one-stack over P")["value"], FREE / P)
        self.assertAlmostEqual(self.only("1. captives@96: pages")["value"],
                               (P * S1 + 20) / (P * (S1 + D)))
        self.assertAlmostEqual(self.only("2. captives@96: pages")["value"], 3)
        self.assertAlmostEqual(self.only("6. arms@4: pages")["value"], 0.5)
        self.assertAlmostEqual(self.only("7. arms@4: pages")["value"], S1 / (S1 + D))
        self.assertEqual(self.only("5. comparing on nopal:")["value"], P)

    def test_all_seven_rows_stand_beside_the_papers_words(self):
        self.build_all()
        self.run_problems()
        for words in ("1. Recompile everything", "2. One stack per worker",
                      "3. Depth-restricted stealing", "4. Limited-depth stacks",
                      "5. New stack when needed", "6. Reuse ancestor stacks",
                      "7. TLMM cactus stacks", "very strong", f"yes ({P} steals)",
                      "no frames on the heap"):
            self.assertIn(words, self.page)
        self.assertEqual(self.page.count("<svg"), 2)

    def test_a_wrong_result_breaks_reciprocity(self):
        self.changes["comparing", "one-stack"] = {"verified": False}
        self.build_all()
        done = self.run_problems()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.only("2. comparing on one-stack")["value"], 0)
        self.assertIs(self.only("2. comparing on one-stack")["holds"], False)
        self.assertIs(self.only("3. comparing")["holds"], True)
        self.assertIn("not shown", self.page)

    def test_without_a_steal_reciprocity_is_not_shown(self):
        self.changes["comparing", "reuse-ancestors"] = {"steals": 0}
        self.build_all()
        self.run_problems()
        self.assertIs(self.only("6. comparing")["holds"], False)

    def test_a_restricted_thief_that_does_not_wait_is_noticed(self):
        self.changes["captives", "depth-restricted"] = {"time_s": 0.8 / FREE}
        self.build_all()
        self.run_problems()
        self.assertIs(self.only("T4 of depth-restricted")["holds"], False)
        self.assertIs(self.only("T4 of nopal-cilkplus")["holds"], True)

    def test_a_thief_that_waits_though_it_need_not_is_noticed(self):
        self.changes["captives", "nopal-mapped"] = {"time_s": 0.8}
        self.build_all()
        self.run_problems()
        self.assertIs(self.only("speed-up of nopal-mapped over P")["holds"], False)

    def test_pages_on_the_wrong_side_of_their_bounds_are_noticed(self):
        for problem, runtime, pages in (
                ("captives", "heap-frames", {"stack_pages": P * (S1 + D) - 19}),
                ("captives", "one-stack", {"stack_pages": P * S1}),
                ("captives", "depth-restricted", {"stack_pages": P * (S1 + 1) + 1}),
                ("captives", "nopal-cilkplus", {"stack_pages": P * (S1 + 1) + 1}),
                ("captives", "nopal", {"stack_pages": D * P * S1 + 1}),
                ("arms", "reuse-ancestors", {"stack_pages": P * S1 - 1}),
                ("captives", "nopal-mapped", {"live_pages": P * (S1 + D) + 1}),
                ("arms", "nopal-mapped", {"live_pages": P * (S1 + D) + 1})):
            self.changes[problem, runtime] = pages
        self.build_all()
        self.run_problems()
        rows = [c for c in self.document["checks"] if "pages of" in c["name"]]
        self.assertEqual(len(rows), 8)
        for check in rows:
            self.assertIs(check["holds"], False, check)

    def test_the_most_pages_of_all_rounds_count(self):
        self.build_all()
        self.counting_pages()
        self.run_study("-b", "captives", "-n", 3, "-t", P)
        self.assertAlmostEqual(self.only("2. captives@96: pages")["value"], 5)

    def counting_pages(self):
        """one-stack has other pages in its second round."""
        path = self.build / "bench" / "captives-one-stack"
        text = path.read_text().replace(f'"stack_pages": {3 * P * S1}',
                                        '"stack_pages": \'"$pages"\'')
        before = (f'pages={P * S1}; case "$*" in *96*)\n'
                  'runs=$(cat "$0.count" 2>/dev/null || echo 0)\n'
                  f'[ "$runs" = 1 ] && pages={5 * P * S1}\n'
                  'echo $((runs + 1)) >"$0.count";; esac\n')
        path.write_text(text.replace("#!/bin/sh\n", "#!/bin/sh\n" + before))

    def test_runtimes_that_were_not_built_are_said(self):
        self.build_all(without=("nopal-mapped", "heap-frames"))
        done = self.run_problems()
        self.assertEqual(done.returncode, 0, done.stderr)
        for runtime, row in (("nopal-mapped", "7. arms"), ("heap-frames", "1. captives@96")):
            self.assertIn(f"{runtime} was not built", done.stderr)
            self.assertIsNone(self.only(row)["holds"])

    def test_nothing_of_a_problem_that_was_not_asked_for_is_judged(self):
        self.build_all()
        self.run_problems("comparing")
        names = [c["name"] for c in self.document["checks"]]
        self.assertEqual(len(names), 6)
        for name in names:
            self.assertIn("comparing on", name)


if __name__ == "__main__":
    unittest.main()
