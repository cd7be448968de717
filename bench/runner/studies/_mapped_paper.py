# SPDX-License-Identifier: MIT
"""The numbers of cilk-m-pact10, section 6: 16 workers on four quad-core Opterons at 2 GHz."""

# Figure 9: D, S1, stack pages for each of 16 workers.
SPACE = {
    "cholesky": (12, 2, 3.19),
    "cilksort": (18, 2, 3.19),
    "fft": (22, 4, 3.75),
    "fib": (43, 2, 3.69),
    "fibx": (281, 8, 8.44),
    "heat": (10, 2, 2.38),
    "knapsack": (34, 2, 5.00),
    "lu": (10, 2, 3.19),
    "matmul": (22, 2, 3.31),
    "nqueens": (16, 2, 3.25),
    "rectmul": (27, 2, 4.06),
    "strassen": (8, 2, 3.13),
}

# Figure 10, of those that we have with frames on the heap: pages of stacks and of the heap of
# Cilk-M, then of Cilk-5.
MEMORY = {
    "cilksort": (51, 193, 16, 265),
    "fib": (59, 169, 16, 185),
    "fibx": (135, 217, 64, 217),
    "heat": (38, 209, 16, 273),
    "matmul": (53, 169, 16, 257),
    "nqueens": (52, 161, 16, 249),
}
