# SPDX-License-Identifier: MIT
"""What the study of Nowa measures: the runtimes, problems and workers of each of its figures."""

from runner.programs import CHILD_STEALING
from runner.studies._common import TWELVE, every

# The papers' twelve, and two of cilk-m-pact10, Figure 7.
FOURTEEN = sorted([*TWELVE, "fibx", "cilksort"])
PLAIN, OURS = "nopal", "nopal-nowa"
THE, LOCKED = "nopal-nowa-the", "nopal-fibril:budget:unlimited"
PRESETS = [OURS, THE, "nopal-fibril", "nopal-cilkplus"]

FIGURE_7 = [PLAIN, OURS, LOCKED, "nopal-cilkplus", "tbb", "nowa", "fibril",
            "cheetah", CHILD_STEALING]
ADVISING = f"{OURS}:budget:0"
FIGURE_8 = [OURS, ADVISING, "nopal-cilkplus"]
FIGURE_9 = [OURS, THE, LOCKED]
OPENMP = ["openmp-gcc-untied", "openmp-gcc", "openmp-llvm-untied", "openmp-llvm"]
PICTURED = [PLAIN, OURS, "nowa", "fibril", "tbb", "openmp-gcc"]
FIGURE_10 = [PLAIN, OURS, "tbb", *OPENMP]

# More workers than cores: what then waits for a lock waits long.
MANY = [2, 4, 8, 16, 32, 64]
JOINS = [LOCKED, THE]
JOIN_PROBLEMS = ["fib", "integrate", "nqueens", "cholesky"]
STRESS = [PLAIN, OURS]
STRESS_PROBLEM = "cholesky"

# Where most of the time is that of forks.
FINE = ["fib", "integrate", "nqueens", "matmul", "fibx", "cilksort"]
# Its work depends on the order in which branches are tried.
UNSTEADY = "knapsack"
# The same with its forks in the other order.
SWAPPED = "knapsack_swapped"
# The checks are for so many workers.
CHECKED = 2


def configurations(wish):
    runtimes = list(dict.fromkeys(FIGURE_7 + FIGURE_8 + FIGURE_9 + FIGURE_10 + PRESETS))
    wanted = every(wish.problems, ["serial"], [1]) + every(wish.problems, runtimes, wish.workers)
    many = wish.narrow(MANY)
    wanted += every([p for p in JOIN_PROBLEMS if p in wish.problems], JOINS, many)
    wanted += every([p for p in [STRESS_PROBLEM] if p in wish.problems], STRESS, many)
    if UNSTEADY in wish.problems:
        wanted += every([SWAPPED], ["serial"], [1])
        wanted += every([SWAPPED], FIGURE_7, [max(wish.workers)])
    return wanted
