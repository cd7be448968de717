# SPDX-License-Identifier: MIT
"""Tests exceptions that strike between C and Python, where no `try` in Python sees them: as a
callback is entered or left. A call returns with all its work done, or raises the exception. Run by
bindings/python/build --test."""

import ctypes
import functools
import gc
import signal
import sys
import threading
import unittest

import nopal

N = 400


class Strike(BaseException):
    """What is raised at a moment that the test chooses."""


def flat(visit):
    nopal.parallel_for(N, visit, 1)


def in_pieces(visit):
    nopal.parallel_for(N, visit)


def nested(visit):
    nopal.parallel_for(20, lambda i: nopal.parallel_for(20, lambda j: visit(20 * i + j), 1), 1)


def mapped(visit):
    if nopal.map(lambda i: [visit(i)], range(N), 7) != [[None]] * N:
        raise AssertionError("a result is missing")


def outcome(loop, before=lambda i: None, after=lambda: None):
    """The exception that the loop has raised; None where it returned with all its work done."""
    done = [0] * N

    def visit(i):
        before(i)
        done[i] += 1

    raised = None
    try:
        loop(visit)
        after()
    except BaseException as error:
        raised = error
    if raised is None and done != [1] * N:
        raise AssertionError(f"{done.count(0)} of {N} iterations are missing, silently")
    return raised


def interrupt(_, frame):
    """A handler of signals that raises within a call of the module, and not in the test itself."""
    while frame is not None:
        if frame.f_code.co_filename == nopal.__file__:
            raise KeyboardInterrupt
        frame = frame.f_back


class Interrupts(unittest.TestCase):
    def setUp(self):
        self.ignored = []
        self.addCleanup(setattr, sys, "unraisablehook", sys.unraisablehook)
        sys.unraisablehook = lambda unraisable: self.ignored.append(unraisable.exc_type)
        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, interrupt))
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)

    def tearDown(self):
        self.assertEqual(self.ignored, [])

    def test_at_each_event_of_the_module(self):
        """The calling thread is struck at the first event (call, line, return) of the module, at
        the second and so on: so at the entry of the callback, too."""
        for loop in (flat, in_pieces, nested, mapped):
            struck = 0
            for event in range(300):
                left = event

                def trace(frame, *_):
                    nonlocal left
                    if frame.f_code.co_filename != nopal.__file__:
                        return None
                    left -= 1
                    if left < 0:
                        raise Strike
                    return trace

                sys.settrace(trace)
                raised = outcome(loop, after=lambda: sys.settrace(None))
                sys.settrace(None)
                self.assertIs(type(raised), Strike if left < 0 else type(None))
                struck += left < 0
            self.assertGreater(struck, 3)

    def test_where_no_recursion_is_left(self):
        def deep(levels, loop, visit):
            if levels == 0:
                loop(visit)
            else:
                deep(levels - 1, loop, visit)

        limit = sys.getrecursionlimit()
        self.addCleanup(sys.setrecursionlimit, limit)
        sys.setrecursionlimit(120)
        for loop in (flat, in_pieces, nested, mapped):
            raised = [type(outcome(functools.partial(deep, levels, loop))) for levels in range(120)]
            # ctypes says ArgumentError where none is left to convert an argument.
            self.assertLessEqual(set(raised), {type(None), RecursionError, ctypes.ArgumentError})
            self.assertLessEqual({type(None), RecursionError}, set(raised))

    def test_signals_within_a_callback(self):
        main = threading.get_ident()

        def before(i):
            if threading.get_ident() == main:
                signal.raise_signal(signal.SIGALRM)

        for loop in (flat, in_pieces, nested, mapped):
            for _ in range(20):
                self.assertIsInstance(outcome(loop, before), (KeyboardInterrupt, type(None)))

    def test_signals_at_any_time(self):
        """Where a signal comes is by chance; a call that it does not end is whole."""
        for loop in (flat, in_pieces, nested, mapped):
            for round_ in range(60):
                signal.setitimer(signal.ITIMER_REAL, 1e-4 + 2e-5 * round_)
                raised = outcome(loop)
                signal.setitimer(signal.ITIMER_REAL, 0)
                self.assertIsInstance(raised, (KeyboardInterrupt, type(None)))

    def test_signals_again_and_again(self):
        for loop in (flat, in_pieces, nested, mapped):
            for round_ in range(20):
                signal.setitimer(signal.ITIMER_REAL, 1e-4 + 5e-5 * round_, 2e-4)
                raised = outcome(loop)
                signal.setitimer(signal.ITIMER_REAL, 0)
                self.assertIsInstance(raised, (KeyboardInterrupt, type(None)))

    def test_exceptions_that_are_sent_to_any_thread(self):
        sent = ctypes.pythonapi.PyThreadState_SetAsyncExc
        sent.argtypes = [ctypes.c_ulong, ctypes.py_object]
        for loop in (flat, in_pieces, nested, mapped):
            for index in range(0, N, 9):

                def before(i):
                    if i == index:
                        sent(threading.get_ident(), Strike)

                self.assertIsInstance(outcome(loop, before), (Strike, type(None)))

    def test_exceptions_that_end_programs(self):
        for kind in (SystemExit, GeneratorExit, StopIteration, MemoryError, nopal.Cancelled):

            def before(i):
                if i % 7 == 5:
                    raise kind(i)

            for loop in (flat, in_pieces, nested, mapped):
                raised = outcome(loop, before)
                self.assertEqual((type(raised), raised.args), (kind, (5,)))
                self.assertIn("visit", {frame.f_code.co_name for frame in frames_of(raised)})

    def test_exceptions_that_are_not_raised_are_let_go(self):
        class Counted(Exception):
            alive = 0

            def __init__(self):
                super().__init__()
                Counted.alive += 1

            def __del__(self):
                Counted.alive -= 1

        def before(i):
            raise Counted

        for loop in (flat, in_pieces, nested, mapped):
            for _ in range(20):
                self.assertIs(type(outcome(loop, before)), Counted)
        gc.collect()  # frames of tracebacks hold exceptions that hold these
        self.assertEqual(Counted.alive, 0)


def frames_of(error):
    place = error.__traceback__
    while place is not None:
        yield place.tb_frame
        place = place.tb_next


if __name__ == "__main__":
    nopal.set_option("num_workers", 4)
    unittest.main(argv=sys.argv[:1])
