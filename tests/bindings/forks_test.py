# SPDX-License-Identifier: MIT
"""Tests children of os.fork() of a program that has used the module, as multiprocessing and
concurrent.futures make them. Run by bindings/python/build --test."""

import concurrent.futures
import multiprocessing
import os
import sys
import threading
import unittest

import nopal

SQUARES = [i * i for i in range(300)]


def square(i):
    return i * i


def squares(_=None):
    """Computed in the calling process by its own workers."""
    return nopal.map(square, range(300), 10)


def child_of(f):
    """The exit status of a child that has called f."""
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if f() else 1)
        except BaseException:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def in_turn():
    """Uses all that the module has."""
    right = squares() == SQUARES
    nopal.stop()
    seen = [0] * 100
    nopal.parallel_for(100, lambda i: seen.__setitem__(i, i))
    return right and seen == list(range(100)) and nopal.num_workers() > 0


class Forks(unittest.TestCase):
    def setUp(self):
        self.assertEqual(squares(), SQUARES)

    def test_a_child_computes(self):
        for _ in range(10):
            self.assertEqual(child_of(in_turn), 0)

    def test_a_child_of_a_child_computes(self):
        self.assertEqual(child_of(lambda: in_turn() and child_of(in_turn) == 0), 0)

    def test_beside_a_thread_that_computes(self):
        over = threading.Event()

        def compute():
            while not over.is_set():
                squares()

        other = threading.Thread(target=compute)
        other.start()
        try:
            for _ in range(10):
                self.assertEqual(child_of(in_turn), 0)
        finally:
            over.set()
            other.join()

    def test_in_a_function_that_a_worker_calls(self):
        statuses = nopal.map(lambda i: child_of(in_turn), range(8), 1)
        self.assertEqual(statuses, [0] * 8)

    def test_multiprocessing(self):
        context = multiprocessing.get_context("fork")
        with context.Pool(2) as pool:
            self.assertEqual(pool.map(squares, range(6)), [SQUARES] * 6)
        process = context.Process(target=lambda: os._exit(0 if in_turn() else 1))
        process.start()
        process.join()
        self.assertEqual(process.exitcode, 0)

    def test_a_pool_of_processes(self):
        context = multiprocessing.get_context("fork")
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            calls = [pool.submit(squares) for _ in range(6)]
            self.assertEqual([each.result() for each in calls], [SQUARES] * 6)

    def test_a_pool_begun_by_a_worker(self):
        def begin(_):
            context = multiprocessing.get_context("fork")
            with context.Pool(1) as pool:
                return pool.map(squares, [0])[0]

        self.assertEqual(nopal.map(begin, range(2), 1), [SQUARES] * 2)

    def test_a_child_ends_as_programs_do(self):
        def ends():
            process = multiprocessing.get_context("fork").Process(target=in_turn)
            process.start()
            process.join()
            return process.exitcode

        self.assertEqual(ends(), 0)
        self.assertEqual(nopal.map(lambda i: ends(), range(2), 1), [0, 0])


if __name__ == "__main__":
    nopal.set_option("num_workers", 4)
    unittest.main(argv=sys.argv[:1])
