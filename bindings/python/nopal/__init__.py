# SPDX-License-Identifier: MIT
"""Nopal for Python: loops whose pieces run on all cores.

    nopal.parallel_for(n, f)         # f(i) for each i below n
    nopal.map(f, array)              # an array or list of f(x) for each x of it

What runs at the same time. Threads take turns in the interpreter: they hold its lock (the GIL)
while they run Python. So a function in Python gains nothing, but for the time in which it calls
what gives the lock away. Truly parallel are:

  functions of C, without Python     parallel_for(n, native(...)): the lock is never taken
  functions of C, by map             map(library.function, array): the lock is given away for the
                                     call of each piece
  ufuncs of NumPy                    map(numpy.exp, array): NumPy gives the lock away within a
                                     piece, for numbers, not for objects
  functions of pieces                map(f, array, pieces=True), as far as f itself calls such
                                     ufuncs, or zlib, hashlib, files, ctypes
  functions that wait                for files, sockets, time

Exceptions: what a serial loop would have raised first is raised, and what comes after it is not
begun any more. So is Ctrl-C, wherever it strikes on the calling thread: a call that returns has
done all its work. Each function here returns on the thread that called it, so what belongs to a
thread (threading.local, open locks) is as before; f itself is called on that thread, and on threads
of Nopal's, each time as on a thread that is new to Python. A loop may be in a loop. A child of
os.fork (multiprocessing: "fork") has workers of its own; one that f has forked does not return from
f. Only the main interpreter of a process imports the module. On Nopal's stacks a recursion has
NOPAL_STACK_SIZE (1M) of room. For CPython; tested with 3.11.
"""

try:
    import ctypes
except ImportError as error:  # an interpreter with a lock of its own refuses it until CPython 3.13
    raise ImportError("Nopal needs ctypes, which this interpreter does not import; where a process "
                      "has several interpreters, import Nopal in the main one") from error
import operator
import os


def _refuse_other_interpreters():
    """PyGILState_Ensure, by which our threads enter Python, knows the main interpreter alone."""
    names = ("PyInterpreterState_Get", "_PyInterpreterState_Get")  # the second is CPython 3.8's
    name = next(each for each in names if hasattr(ctypes.pythonapi, each))
    state = ctypes.PYFUNCTYPE(ctypes.c_void_p)
    this, main = (state((each, ctypes.pythonapi))() for each in (name, "PyInterpreterState_Main"))
    if this != main:
        raise ImportError("Nopal was imported in a subinterpreter, but its threads can enter the "
                          "main interpreter alone; import it there, or use several processes")


_refuse_other_interpreters()  # before NumPy, which warns of them
try:
    import numpy
except ImportError:  # then map takes sequences
    numpy = None

__version__ = "0.1.0"
__all__ = ["Cancelled", "Error", "map", "native", "num_workers", "parallel_for", "set_option",
           "statistics", "stop"]

_ABI_VERSION = 1  # NOPAL_ABI_VERSION of the header that this file was written for
_CANCELLED = -1
_FunctionPointer = ctypes.CFUNCTYPE(None).__base__
_INTERPRETER = ("PyGILState_Ensure", "PyGILState_Release", "PyEval_SaveThread",
                "PyEval_RestoreThread", "PyObject_CallFunction", "Py_DecRef", "PyErr_Fetch",
                "PyErr_Restore")  # the fields of nopal_python
_STATISTICS = ("steals", "suspensions", "resumptions", "sleeps", "wakeups", "preemptions", "unmaps",
               "pages_returned", "page_counts", "stacks", "fiber_stacks", "stack_pages",
               "charged_pages", "suppressed_exceptions")


class Error(RuntimeError):
    """What Nopal says in a sentence."""


class Cancelled(BaseException):
    """Ends a loop within one that has failed. To be let through."""


def _load():
    beside = os.path.join(os.path.dirname(__file__), "libnopal_c.so")
    library = ctypes.CDLL(beside if os.path.exists(beside) else "libnopal_c.so")
    # This one is called with the interpreter's lock, and may raise.
    loop = ctypes.PyDLL(library._name, handle=library._handle).nopal_python_loop
    size, pointer, number = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int
    library.nopal_message.restype = ctypes.c_char_p
    library.nopal_for_range_as.argtypes = [number, size, size, size, pointer, pointer]
    library.nopal_set_option.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    library.nopal_num_workers.restype = ctypes.c_uint
    library.nopal_statistics_of.argtypes = [pointer, size]
    loop.argtypes = [number, pointer, size, size, ctypes.py_object]
    return library, loop


_library, _python_loop = _load()
_interpreter = (ctypes.c_void_p * len(_INTERPRETER))(
    *(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
      for name in _INTERPRETER))


def _check(result):
    if result == _CANCELLED:
        raise Cancelled
    if result < 0:
        raise Error(_library.nopal_message().decode())


def _refuse_wrapped(function):
    """Refuses a function in Python that ctypes has wrapped: ctypes forgets its exceptions."""
    kept = getattr(function, "_objects", None) or {}
    if any(type(each).__name__ == "CThunkObject" for each in kept.values()):
        raise TypeError("a function in Python was given as one of C, so that ctypes would forget "
                        "its exceptions, Ctrl-C too; give the function itself")


class native:
    """A function of C for parallel_for: int f(void* context, size_t begin, size_t end), which works
    on the indices from begin to end - 1 and returns 0; another number ends the loop.

    Given as a function of ctypes, an address, or what has one (numba.cfunc). cffi:
    native(int(ffi.cast("intptr_t", f))).
    """

    def __init__(self, function, context=None):
        if isinstance(function, _FunctionPointer):
            _refuse_wrapped(function)
            self.address = ctypes.cast(function, ctypes.c_void_p).value
        else:
            self.address = int(getattr(function, "address", function))
        if not self.address:
            raise ValueError("the address of the function is null")
        self.context = context
        self._kept = function


def _loop(n, grain, call):
    """call(begin, end) for pieces of range(n); raises the exception of the first piece."""
    _check(_python_loop(_ABI_VERSION, _interpreter, n, grain, call))


def parallel_for(n, f, grain=0):
    """Calls f(i) for each i in range(n), on all cores; f is called as the module's page says. At
    most `grain` consecutive calls are one piece; 0: about 512 pieces."""
    n = max(operator.index(n), 0)
    if isinstance(f, native):
        result = _library.nopal_for_range_as(_ABI_VERSION, 0, n, grain, f.address, f.context)
        _check(result)
        if result:
            raise Error(f"the function of C returned {result}")
        return

    def each(begin, end):
        for i in range(begin, end):
            f(i)

    _loop(n, grain, each)


def map(f, array, grain=0, pieces=False):
    """f(x) for each x of an array of NumPy (along its first axis) or of a sequence, as an array or
    a list.

    A ufunc of one argument is called with pieces of the array, and so is any f with pieces=True
    (of a sequence: with lists), which returns as many elements as it is given. A function of ctypes
    is called as f(in, out, count), with the addresses of a piece and of its place in an array of
    the same type.
    """
    if numpy is None or not isinstance(array, numpy.ndarray):
        items = list(array)
        results = [None] * len(items)

        def each(begin, end):
            for i in range(begin, end):
                results[i] = f(items[i])

        def piece(begin, end):
            part = list(f(items[begin:end]))
            _check_length(part, begin, end)
            results[begin:end] = part

        _loop(len(items), grain, piece if pieces else each)
        return results
    if isinstance(f, _FunctionPointer):
        _refuse_wrapped(f)
        return _map_native(f, numpy.ascontiguousarray(array), grain)
    if isinstance(f, numpy.ufunc) and f.nin == 1 and f.nout == 1:
        out = numpy.empty(array.shape, f(array[:0]).dtype)
        _loop(len(array), grain, lambda begin, end: f(array[begin:end], out=out[begin:end]))
        return out
    if not pieces:
        return _map_pieces(lambda piece: numpy.array([f(x) for x in piece]), array, grain)
    return _map_pieces(f, array, grain)


def _map_native(f, array, grain):
    out = numpy.empty_like(array)
    row = array.nbytes // len(array) if len(array) else 0

    def piece(begin, end):
        result = f(ctypes.c_void_p(array.ctypes.data + begin * row),
                   ctypes.c_void_p(out.ctypes.data + begin * row),
                   ctypes.c_size_t((end - begin) * (row // array.itemsize)))
        if f.restype is not None and result:
            raise Error(f"the function of C returned {result}")

    _loop(len(array), grain, piece)
    return out


def _check_length(part, begin, end):
    if len(part) != end - begin:
        raise ValueError(f"f returned {len(part)} elements for {end - begin}")


def _map_pieces(f, array, grain):
    if len(array) == 0:
        return f(array)
    done = {}

    def piece(begin, end):
        part = numpy.asarray(f(array[begin:end]))
        _check_length(part, begin, end)
        done[begin] = part

    _loop(len(array), grain, piece)
    return numpy.concatenate([done[begin] for begin in sorted(done)])


def set_option(name, value):
    """Sets an option, such as num_workers, before the first loop; raises Error with a sentence if
    it is not accepted."""
    _check(_library.nopal_set_option(str(name).encode(), str(value).encode()))


def num_workers():
    """How many workers there are. The options are decided then."""
    return _library.nopal_num_workers()


def stop():
    """Ends the workers' threads, where no loop runs. The next loop starts others."""
    _check(_library.nopal_stop())


def statistics():
    """What all workers did, by the names of the fields of nopal_statistics."""
    counts = (ctypes.c_uint64 * len(_STATISTICS))()
    _library.nopal_statistics_of(counts, ctypes.sizeof(counts))
    return dict(zip(_STATISTICS, counts))


if _library.nopal_abi_version() != _ABI_VERSION:
    _check(_library.nopal_start_as(_ABI_VERSION))
