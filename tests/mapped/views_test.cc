// SPDX-License-Identifier: MIT
#include "tests/mapped/views_cases.h"
