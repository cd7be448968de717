// SPDX-License-Identifier: MIT
// Two levels of assertions. NOPAL_ASSERT finds errors of the user and is always on. NOPAL_CHECK
// finds broken invariants of ours, in check builds (NOPAL_CHECKS) and models only.
#pragma once

#include "nopal/base/die.h"

#define NOPAL_ASSERT(condition, ...)                                                               \
  ((condition) ? static_cast<void>(0) : ::nopal::base::die(__VA_ARGS__))

#if defined(NOPAL_CHECKS)
#define NOPAL_CHECK(condition)                                                                     \
  NOPAL_ASSERT(condition, "broken invariant at %s:%d: %s (please report this)", __FILE__,          \
               __LINE__, #condition)
#else
#define NOPAL_CHECK(condition) static_cast<void>(0)
#endif
