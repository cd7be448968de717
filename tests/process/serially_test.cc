// SPDX-License-Identifier: MIT
// The program of written_once.h as the serial elision.
#define NOPAL_SERIAL 1
#include "tests/process/written_once_cases.h"
