# SPDX-License-Identifier: MIT
"""The overview that script/demo prints, with programs whose times are of the test's own making."""

import unittest

import fake_study

# Problem -> the n that it is asked for.
GRAINED = {"cilksort": None, "fft": 2097152, "strassen": None, "lu": None}
FORKS = 1000
# Nanoseconds per fork.
COSTS = {"tbb": 90, "nopal": 6, "openmp-gcc": 50}
S1 = 3
D = 10


class OverviewStudy(fake_study.FakeStudy):
    STUDY = "overview"

    def setUp(self):
        super().setUp()
        self.fork_s = {runtime: 1 + ns * FORKS * 1e-9 for runtime, ns in COSTS.items()}
        self.census = {"live_pages": 12, "dead_pages": 256}

    def build_all(self):
        self.say("fib", "serial_call", n=32, time_s=1, forks=FORKS)
        for runtime, seconds in self.fork_s.items():
            self.say("fib", runtime, n=32, time_s=seconds, forks=FORKS)
        for problem, n in GRAINED.items():
            self.say(problem, "serial", n=n, time_s=0.4, max_rss_kib=4096)
            self.say(problem, "profile", n=n, depth=D, serial_pages=S1)
            self.say(problem, "nopal", 2, n=n, policy="budget:64M+census", **self.census)
            for runtime in self.fork_s:
                self.say(problem, runtime, 1, n=n, time_s=0.5, max_rss_kib=5120)
                self.say(problem, runtime, 2, n=n, time_s=0.25, max_rss_kib=4096 + 1536)
        self.write_programs()

    def overview(self, *words, rounds=2):
        self.build_all()
        done = self.run_study("-t", "1,2", "-n", rounds, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.rows = [line.split() for line in done.stdout.splitlines()]
        return done

    def row(self, *words):
        """The words after these in the only line that begins with them."""
        rest = [row[len(words):] for row in self.rows if row[:len(words)] == list(words)]
        self.assertEqual(len(rest), 1, words)
        return rest[0]

    def test_runtimes_are_ranked_by_the_cost_of_a_fork(self):
        self.overview()
        table = [row for row in self.rows if ".." in row][1:]
        self.assertEqual([row[0] for row in table], ["nopal", "openmp-gcc", "tbb"])
        self.assertEqual([row[1] for row in table], ["6.0", "50.0", "90.0"])
        self.assertEqual([row[-1] for row in table], ["1.0", "8.3", "15.0"])

    def test_speed_up_is_over_the_serial_program(self):
        self.overview()
        self.assertEqual(self.row("serial,", "seconds", "1"), ["0.40"] * 4)
        self.assertEqual(self.row("tbb", "1"), ["0.80"] * 4)
        self.assertEqual(self.row("nopal", "2"), ["1.60"] * 4)

    def test_memory_stands_beside_its_bounds(self):
        self.overview()
        self.assertEqual(self.row("frames,", "KiB:", "bound", "P", "(S1", "+", "D)"),
                         [str(2 * (S1 + D) * 4)] * 4)
        self.assertEqual(self.row("frames,", "KiB:", "most", "counted"), ["48"] * 4)
        self.assertEqual(self.row("unused", "pages,", "MiB:", "bound"), ["64"] * 4)
        self.assertEqual(self.row("unused", "pages,", "MiB:", "most", "counted"), ["1.00"] * 4)
        self.assertEqual(self.row("peak", "above", "serial,", "MiB:", "tbb"), ["1.50"] * 4)

    def test_the_board_has_a_table_where_it_is_built(self):
        self.overview()
        self.assertFalse([row for row in self.rows if "board_skynet" in row])
        for problem, theirs_s in {"board_fib": 8, "board_skynet": 4, "board_nqueens": 1,
                                  "board_matmul": 2.5}.items():
            self.say(problem, "serial", time_s=1)
            for count in (1, 2):
                self.say(problem, "nopal", count, time_s=2 / count)
                self.say(problem, "board-tbb", count, time_s=theirs_s)
        self.overview()
        self.assertEqual(self.row("serial:", "times", "nopal's", "1"), ["0.50"] * 4)
        self.assertEqual(self.row("nopal,", "seconds", "2"), ["1.00"] * 4)
        self.assertEqual(self.row("board-tbb:", "times", "nopal's", "1"),
                         ["4.00", "2.00", "0.50", "1.25"])
        self.assertEqual(self.row("board-tbb:", "times", "nopal's", "2"),
                         ["8.00", "4.00", "1.00", "2.50"])
        self.assertFalse([row for row in self.rows if row[:1] == ["board-libfork:"]])

    def test_every_line_fits(self):
        done = self.overview()
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)

    def test_what_is_counted_runs_once_and_what_is_timed_in_more_rounds(self):
        self.overview(rounds=6)
        rounds = {(row["problem"], row["runtime"], row["workers"]): row["round"]
                  for row in self.document["samples"]}
        self.assertEqual(rounds["fib@32", "nopal", 1], [1, 2, 3, 4, 5, 6])
        self.assertEqual(rounds["lu", "nopal", 2], [1, 3, 5])
        self.assertEqual(rounds["lu", "profile", 1], [1])
        self.assertEqual(rounds["lu", "nopal:budget:64M+census", 2], [1])

    def test_what_is_not_built_is_one_sentence(self):
        done = self.overview()
        self.assertIn("Not in this build: openmp-llvm, nowa, fibril, cheetah, lace, libfork, "
                      "taskflow, the public board.\nbench/README.md", done.stdout)
        self.assertNotIn("was not built", done.stderr)

    def test_the_picture_of_forks_is_a_file(self):
        self.fork_s["lace"] = 0.999
        self.overview("--svg", self.build)
        picture = (self.build / "overview.svg").read_text()
        for words in (">nopal<", ">openmp-gcc<", ">90<", "fib(32)<", "core"):
            self.assertTrue(words in picture, words)
        # A logarithmic axis has no place for what costs less than a call.
        self.assertFalse(">lace<" in picture)
        self.assertEqual(self.page.count("<svg"), 3)

    def test_the_targets_are_listed(self):
        self.build_all()
        done = self.run_study("--targets")
        self.assertEqual(done.returncode, 0, done.stderr)
        listed = done.stdout.split()
        for name in ("fib-serial_call", "fib-nopal", "cilksort-tbb", "lu-profile", "lu-serial"):
            self.assertIn(f"bench/{name}", listed)
        self.assertEqual(len(listed), len(set(listed)))
        self.assertNotIn("bench/fib-serial", listed)

    def test_what_a_study_runs_itself_is_among_the_targets(self):
        self.build_all()
        done = self.run_study("--study", "mapped", "--targets")
        self.assertIn("bench/prefixes", done.stdout.split(), done.stderr)

    def test_targets_are_those_of_a_study(self):
        done = self.run_study("--study", "", "--targets")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--targets needs --study NAME", done.stderr)


if __name__ == "__main__":
    unittest.main()
