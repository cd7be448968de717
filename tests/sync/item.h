// SPDX-License-Identifier: MIT
// An item of work as the queues see it.
#pragma once

#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
namespace nopal_test {

struct item {
  item* next = nullptr;
  item* before = nullptr;
};

} // namespace nopal_test
NOPAL_HIDDEN_END
