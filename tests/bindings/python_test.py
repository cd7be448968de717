# SPDX-License-Identifier: MIT
"""Tests the Python module: python_test.py LIBRARY, which native.c was compiled to. Run by
bindings/python/build --test."""

import ctypes
import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import tempfile
import threading
import unittest

import nopal

try:
    import numpy
except ImportError:
    numpy = None

LIBRARY = ctypes.CDLL(sys.argv[1])
PATIENCE = 100  # seconds until something that is waited for counts as missing


def in_new_process(text):
    """Options are decided once in a process."""
    done = subprocess.run([sys.executable, "-c", "import nopal\n" + text], capture_output=True,
                          text=True, timeout=PATIENCE, check=False)
    return done.stdout + done.stderr


class ParallelFor(unittest.TestCase):
    def test_calls_each_index_once(self):
        for n, grain in ((0, 0), (1, 0), (1000, 1), (5000, 0), (3, 10), (-2, 0)):
            times = [0] * max(n, 0)

            def visit(i):
                times[i] += 1

            nopal.parallel_for(n, visit, grain)
            self.assertEqual(times, [1] * max(n, 0))

    def test_returns_on_its_thread_and_may_be_nested(self):
        wrong = []

        def outer(i):
            before = threading.get_ident()
            local = threading.local()
            local.i = i
            inner = [0] * 20

            def visit(j):
                inner[j] = i * j

            nopal.parallel_for(20, visit, 1)
            if (threading.get_ident(), local.i, inner) != (before, i, [i * j for j in range(20)]):
                wrong.append(i)

        nopal.parallel_for(50, outer, 1)
        self.assertEqual(wrong, [])

    def test_raises_what_a_serial_loop_would(self):
        def fails(i):
            if i in (30, 31, 400):
                raise ValueError(i)

        for grain in (0, 1, 1000):
            with self.assertRaises(ValueError) as raised:
                nopal.parallel_for(1000, fails, grain)
            self.assertEqual(raised.exception.args, (30,))

    def test_raises_through_loops_within_loops(self):
        def outer(i):
            nopal.parallel_for(100, lambda j: 1 // (i + j - 5), 1)

        with self.assertRaises(ZeroDivisionError):
            nopal.parallel_for(100, outer, 1)

    def test_exceptions_cancel_the_rest(self):
        said = in_new_process(
            "nopal.set_option('num_workers', 1)\n"
            "calls = []\n"
            "def f(i):\n"
            "  calls.append(i)\n"
            "  if i == 3: raise KeyError(i)\n"
            "try: nopal.parallel_for(1000, f, 1)\n"
            "except KeyError as error: print(error, calls)\n")
        self.assertEqual(said, "3 [0, 1, 2, 3]\n")

    def test_waiting_functions_run_at_the_same_time(self):
        meeting = threading.Barrier(2)
        nopal.parallel_for(2, lambda i: meeting.wait(PATIENCE), 1)

    def test_refuses_what_is_no_number(self):
        with self.assertRaises(TypeError):
            nopal.parallel_for(1.5, print)


class Native(unittest.TestCase):
    def test_functions_of_c_run_at_the_same_time(self):
        nopal.parallel_for(2, nopal.native(LIBRARY.native_meet), 1)

    def test_a_function_of_c_gets_its_context(self):
        squares = (ctypes.c_long * 1000)()
        address = ctypes.cast(LIBRARY.native_square, ctypes.c_void_p).value
        nopal.parallel_for(1000, nopal.native(address, ctypes.addressof(squares)))
        self.assertEqual(list(squares), [i * i for i in range(1000)])

    def test_a_number_that_it_returns_is_raised(self):
        with self.assertRaisesRegex(nopal.Error, "returned 42"):
            nopal.parallel_for(1000, nopal.native(LIBRARY.native_fails), 10)

    def test_a_function_in_python_is_refused(self):
        wrapped = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t,
                                   ctypes.c_size_t)(lambda context, begin, end: 1 // 0)
        with self.assertRaisesRegex(TypeError, "forget its exceptions"):
            nopal.parallel_for(10, nopal.native(wrapped))

    def test_null_is_refused(self):
        with self.assertRaises(ValueError):
            nopal.native(0)


class Map(unittest.TestCase):
    def test_of_a_list(self):
        self.assertEqual(nopal.map(str, range(1000)), [str(i) for i in range(1000)])
        self.assertEqual(nopal.map(str, []), [])

    def test_of_pieces_of_a_list(self):
        longest = []

        def squares(piece):
            longest.append(len(piece))
            return [x * x for x in piece]

        for items in (list(range(1000)), range(1000), tuple(range(1000))):
            self.assertEqual(nopal.map(squares, items, 100, pieces=True),
                             [i * i for i in range(1000)])
        self.assertGreater(max(longest), 1)
        self.assertEqual(nopal.map(squares, [], pieces=True), [])
        self.assertEqual(nopal.map(lambda piece: (str(x) for x in piece), [1, 2], pieces=True),
                         ["1", "2"])
        with self.assertRaisesRegex(ValueError, "1 elements for"):
            nopal.map(lambda piece: piece[:1], list(range(100)), 10, pieces=True)

    @unittest.skipIf(numpy is None, "this Python has no numpy")
    def test_of_arrays(self):
        LIBRARY.native_double.restype = None
        small = numpy.arange(12.0).reshape(4, 3)
        large = numpy.linspace(0, 1, 100001)
        for array in (small, large, large[::7], numpy.arange(5000), small[:0], large[:0]):
            for grain in (0, 1000):
                numpy.testing.assert_array_equal(nopal.map(numpy.sqrt, array, grain),
                                                 numpy.sqrt(array))
                numpy.testing.assert_array_equal(
                    nopal.map(lambda x: x * x + 1, array, grain, pieces=True), array * array + 1)
        numpy.testing.assert_array_equal(nopal.map(lambda x: x + 0.5, numpy.arange(3000)),
                                         numpy.arange(3000) + 0.5)
        numpy.testing.assert_array_equal(nopal.map(sum, small), small.sum(axis=1))
        for array in (small, large, large[::7]):
            numpy.testing.assert_array_equal(nopal.map(LIBRARY.native_double, array), 2 * array)

    @unittest.skipIf(numpy is None, "this Python has no numpy")
    def test_raises(self):
        with self.assertRaisesRegex(ValueError, "1 elements for"):
            nopal.map(lambda piece: piece[:1], numpy.arange(100.0), 10, pieces=True)


# Other interpreters of a process: `run(kind, text)` runs the text in a new one. The kind "isolated"
# has a lock of its own, where CPython knows such.
INTERPRETERS = """
try:
    import _interpreters
    def run(kind, text):
        return _interpreters.exec(_interpreters.create(kind), text)
except ImportError:
    import _xxsubinterpreters
    def run(kind, text):
        try:
            one = _xxsubinterpreters.create(isolated=kind == "isolated")
        except TypeError:  # CPython before 3.9
            one = _xxsubinterpreters.create()
        _xxsubinterpreters.run_string(one, text)
import os, sys
TEXT = f"import sys; sys.path[:] = {sys.path!r}" + '''
try:
    import nopal
    said = "imported"
except ImportError as error:
    said = str(error)
open(OUTPUT, "w").write(said)
'''
def refused(kind):
    path = os.path.join(os.environ["SCRATCH"], kind)
    run(kind, TEXT.replace("OUTPUT", repr(path)))
    said = open(path).read()
    return said.startswith("Nopal ") and "main" in said
"""
RIGHT = "assert nopal.map(abs, [-1] * 1000) == [1] * 1000\n"


class OtherInterpreters(unittest.TestCase):
    def setUp(self):
        if not any(map(importlib.util.find_spec, ("_interpreters", "_xxsubinterpreters"))):
            self.skipTest("this Python has no module for interpreters")

    def in_new_process(self, text):
        with tempfile.TemporaryDirectory() as scratch:
            return subprocess.run(
                [sys.executable, "-c", INTERPRETERS + text], check=False, text=True,
                env={**os.environ, "SCRATCH": scratch}, timeout=PATIENCE, capture_output=True)

    def test_are_refused_and_the_main_one_goes_on(self):
        for kind in ("legacy", "isolated"):
            done = self.in_new_process(f"import nopal\n{RIGHT}assert refused({kind!r})\n" + RIGHT)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_are_refused_before_the_main_one_imports(self):
        for kind in ("legacy", "isolated"):
            done = self.in_new_process(f"assert refused({kind!r})\nimport nopal\n" + RIGHT)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_are_refused_on_another_thread_while_a_loop_runs(self):
        done = self.in_new_process(
            "import nopal, threading\nseen = []\n"
            "t = threading.Thread(target=lambda: seen.append(refused('legacy')))\nt.start()\n"
            f"while t.is_alive():\n    {RIGHT}t.join()\nassert seen == [True]\n" + RIGHT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Control(unittest.TestCase):
    def test_version(self):
        self.assertEqual(nopal.__version__, importlib.metadata.version("nopal"))

    def test_options(self):
        said = in_new_process(
            "nopal.set_option('num_workers', 3)\n"
            "for name, value in (('workers', 1), ('tick', 'soon')):\n"
            "  try: nopal.set_option(name, value)\n"
            "  except nopal.Error as error: print(error)\n"
            "print(nopal.num_workers())\n"
            "try: nopal.set_option('num_workers', 4)\n"
            "except nopal.Error as error: print(error)\n")
        self.assertRegex(said, '(?s)^there is no option "workers".*\n'
                               'NOPAL_TICK is "soon".*\n3\nnum_workers was set after')

    def test_workers_end_and_begin_again(self):
        nopal.parallel_for(100, lambda i: None, 1)
        nopal.stop()
        nopal.parallel_for(100, lambda i: None, 1)
        with self.assertRaisesRegex(nopal.Error, "nopal_stop was called by a strand"):
            nopal.parallel_for(1, lambda i: nopal.stop())
        counts = nopal.statistics()
        self.assertGreater(counts["stacks"], 0)
        self.assertEqual(len(counts), 14)


if __name__ == "__main__":
    print(f"Python {sys.version.split()[0]}, "
          f"{'numpy ' + numpy.__version__ if numpy else 'without numpy'}", flush=True)
    nopal.set_option("num_workers", 4)
    unittest.main(argv=sys.argv[:1])
