# SPDX-License-Identifier: MIT
"""The numbers of nowa-ipdps21, section V: 256 threads on two EPYC 7702 with 64 cores each."""

THREADS = 256

# Table II: peak RSS of Nowa in MiB without and with madvise().
RSS = {
    "cholesky": (117, 109), "fft": (2073, 2073), "heat": (82, 82), "lu": (146, 145),
    "matmul": (63, 65), "quicksort": (785, 783), "rectmul": (3831, 3773),
    "strassen": (7638, 7638), "integrate": (7, 7), "knapsack": (7, 7), "nqueens": (7, 7),
}

# Table III: seconds of Nowa, of libomp with untied and with tied tasks.
OPENMP = {
    "cholesky": (0.37, 4.28, 1.66), "fft": (0.32, 0.71, 0.45), "fib": (0.05, 6.30, 2.86),
    "heat": (0.14, 0.20, 0.25), "integrate": (0.05, 2.37, 2.33), "knapsack": (0.04, 0.09, 0.09),
    "lu": (0.26, 2.09, 1.64), "matmul": (0.15, 15.41, 2.85), "nqueens": (0.06, 1.07, 1.32),
    "quicksort": (1.98, 1.71, 1.81), "rectmul": (0.30, 0.98, 0.44), "strassen": (0.24, 0.62, 0.29),
}

# Speed of Nowa over the others: mean over all problems but knapsack, then single problems.
OVER_FIBRIL = {"mean": 1.17, "fib": 1.62, "integrate": 1.37, "matmul": 1.29, "nqueens": 1.64,
               "knapsack": 0.36}
OVER_CILKPLUS = {"mean": 1.62, "knapsack": 0.63}
OVER_TBB = {"mean": 3.84, "knapsack": 0.21}
OVER_LIBGOMP = {"mean": 486.93}
OVER_LIBOMP_UNTIED = {"mean": 8.68, "fib": 116.69}
OVER_LIBOMP_TIED = {"mean": 5.47, "fib": 52.92}
# Speed with madvise(MADV_FREE) over that without.
MADVISE = {"mean": 0.73, "cholesky": 0.18, "lu": 0.39}
MADVISE_FIBRIL = {"mean": 0.75}
# Speed with the Chase-Lev deque over that with THE.
CHASE_LEV = {"fib": 1.72}
