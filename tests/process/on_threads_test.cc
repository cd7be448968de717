// SPDX-License-Identifier: MIT
// The program of written_once.h on the threads of one process.
#define NOPAL_PROCESS_ON_THREADS 1
#include "tests/process/written_once_cases.h"
