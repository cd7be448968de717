// SPDX-License-Identifier: MIT
// Fork-join programs on several processes, on one machine or many.
//
//     long fib(int n) {
//       if (n < 2) return n;
//       nopal::process::task<long> x = nopal::process::spawn(fib, n - 1);
//       long y = fib(n - 2);
//       return nopal::process::join(x) + y;
//     }
//     int main(int argc, char** argv) {
//       nopal::process::session all{argc, argv};           // every process comes here
//       long f = all.run(fib, 40);                         // and gets the result
//       if (all.rank() == 0) std::printf("%ld\n", f);
//     }
//
// `mpirun -n 4 ./program` begins four processes; NOPAL_PROCESSES=4 ./program does so without a
// launcher. `spawn` runs the child now, as a call; meanwhile another process may take the rest of
// its caller, copy its frames to the same address, and go on there.
//
// Rules. Tasks are isolated: a task uses its own local variables, its arguments, and what is the
// same in every process (constants, functions, what each process had set up before). It uses no
// pointer to another task's variables, nor to memory that one process has allocated, across a spawn
// or a join. Functions, arguments and results are trivially copyable, which is checked. Each task
// is joined once, by any task that has it.
//
// Exceptions. A task that throws makes its join throw remote_error, with the type and the text. An
// exception that leaves `run`'s function makes `run` throw in every process. A task that is never
// joined, because an exception has passed by, runs to its end before `run` returns.
//
// Compiled with NOPAL_PROCESS_ON_THREADS the same program runs on the threads of one process, and
// with NOPAL_SERIAL one task after the other. Then tasks are not copied, and the tasks of a
// function are joined in the reverse order of their spawns.
//
// Thread rules: the thread that made the session calls everything here.
//
// Paper: uni-address-hpdc15, sections 3 and 5.
#pragma once

#include "nopal/process/remote_error.h"

#if defined(NOPAL_SERIAL) || defined(NOPAL_PROCESS_ON_THREADS)
#include "nopal/process/on_threads.h"
#else
#include "nopal/process/session.h"
#endif
