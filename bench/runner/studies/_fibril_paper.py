# SPDX-License-Identifier: MIT
"""The numbers of fibril-spaa16, section 5: 72 threads on two 18-core Haswells at 2.3 GHz."""

THREADS = 72

# Table 1. Its grid of heat is not Nowa's, and has a number.
TWELVE = ["cholesky", "fft", "fib", "heat@2048", "integrate", "knapsack", "lu", "matmul", "nqueens",
          "quicksort", "rectmul", "strassen"]


def row(table, problem):
    """The row of a problem, whatever its size here; None if there is none."""
    return table.get(problem.partition("@")[0])


# Speed of Fibril over Cilk Plus and over TBB, where the text states it: with one thread, with 72.
RATIOS = {
    "cholesky": (None, None, 1.4, 3.0),
    "fib": (1.9, 6.0, 2.8, 7.9),
    "integrate": (1.3, 3.6, 1.8, 4.5),
    "knapsack": (1.5, 4.2, 2.2, 4.8),
    "matmul": (1.7, 2.5, 2.3, 4.3),
    "nqueens": (1.4, 2.3, 2.1, 2.8),
    "quicksort": (1.6, 2.0, None, None),
}

# Table 2: steals and unmaps of Fibril; page faults of Fibril, Cilk Plus, TBB.
OPERATIONS = {
    "cholesky": ("6568K", "2795K", "89K", "31K", "193K"),
    "fft": ("81K", "63K", "2392K", "1475K", "346K"),
    "fib": ("20K", "12K", "6K", "3K", "9K"),
    "heat": ("579K", "452K", "10K", "10K", "9K"),
    "integrate": ("22K", "19K", "5K", "3K", "5K"),
    "knapsack": ("13K", "12K", "1K", "2K", "1K"),
    "lu": ("2440K", "1384K", "41K", "2K", "5K"),
    "matmul": ("92K", "62K", "13K", "10K", "69K"),
    "nqueens": ("37K", "12K", "19K", "3K", "4K"),
    "quicksort": ("7263K", "4005K", "1299K", "693K", "66K"),
    "rectmul": ("43K", "33K", "3012K", "2712K", "6472K"),
    "strassen": ("25K", "9K", "9336K", "9494K", "23926K"),
}

# Table 3: D, S1, S1 + D, stack pages for each of 72 workers.
STACK_SPACE = {
    "cholesky": (10, 2, 12, 4.82),
    "fft": (19, 5, 24, 13.90),
    "fib": (41, 3, 44, 8.46),
    "heat": (12, 1, 13, 4.49),
    "integrate": (32, 3, 35, 8.76),
    "knapsack": (32, 3, 35, 5.71),
    "lu": (8, 2, 10, 4.92),
    "matmul": (10, 2, 12, 4.90),
    "nqueens": (14, 3, 17, 6.19),
    "quicksort": (69, 4, 73, 9.89),
    "rectmul": (24, 3, 27, 9.31),
    "strassen": (6, 2, 8, 4.79),
}

# Table 4: increase of RSS / peak RSS in MB of Fibril, Cilk Plus, TBB; stacks of the first two.
MEMORY = {
    "cholesky": ("84/95", "81/91", "173/184", 346, 333),
    "fft": ("1540/2055", "1546/2060", "1639/2154", 334, 321),
    "fib": ("3/6", "3/5", "108/111", 315, 297),
    "heat": ("36/65", "31/31", "139/175", 323, 314),
    "integrate": ("3/6", "3/5", "97/100", 326, 310),
    "knapsack": ("3/6", "3/5", "106/109", 316, 326),
    "lu": ("3/134", "3/133", "92/224", 356, 348),
    "matmul": ("11/54", "14/57", "123/167", 356, 348),
    "nqueens": ("5/5", "3/3", "113/116", 352, 314),
    "quicksort": ("385/769", "391/775", "883/883", 340, 323),
    "rectmul": ("513/772", "680/938", "1026/1285", 335, 333),
    "strassen": ("2434/2694", "2762/3020", "2603/2862", 343, 329),
}
