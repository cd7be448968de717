// SPDX-License-Identifier: MIT
// What bindings/python calls beside the functions of nopal.h: a loop whose pieces are calls of a
// function in Python.
//
// ctypes would make such a function a function of C, too. But an exception that strikes between C
// and Python (Ctrl-C, or RecursionError, as the function is entered) would leave that function,
// which ctypes forgets: the piece would count as ended. Here a piece has ended where Python has
// returned an object, and else there is an exception, which is kept.
#pragma once

#include "nopal/nopal.h"

#include <stddef.h>

extern "C" {

/// Functions of Python's interface for C, of its stable part: the caller knows their addresses.
struct nopal_python {
  int (*ensure)();                                            // PyGILState_Ensure
  void (*release)(int held);                                  // PyGILState_Release
  void* (*leave)();                                           // PyEval_SaveThread
  void (*enter)(void* thread);                                // PyEval_RestoreThread
  void* (*call)(void* function, const char* form, ...);       // PyObject_CallFunction
  void (*drop)(void* object);                                 // Py_DecRef, of null too
  void (*fetch)(void** type, void** value, void** traceback); // PyErr_Fetch
  void (*raise)(void* type, void* value, void* traceback);    // PyErr_Restore
};

/// Calls function(begin, end) for pieces of [0, n), as nopal_for_range. The caller holds the
/// interpreter's lock, and holds it again afterwards. Then the exception is raised of the serially
/// first piece that has raised one; what is returned counts where none has.
NOPAL_C_API int nopal_python_loop(int version, const nopal_python* python, size_t n, size_t grain,
                                  void* function);

} // extern "C"
