// SPDX-License-Identifier: MIT
// Loops whose body adds work.
#include "nopal/worklist.h"

#include <atomic>
#include <memory>
#include <vector>

bool worklist_is_right() {
  std::atomic<int> sum{0};
  nopal::for_worklist({short{10}}, [&sum](short at, nopal::worklist<short>& more) {
    sum += at;
    if (at > 0)
      more.add(static_cast<short>(at - 1));
  });
  std::vector<std::unique_ptr<int>> owned;
  owned.push_back(std::make_unique<int>(5));
  nopal::for_worklist(std::move(owned), [&sum](std::unique_ptr<int> at, auto&) { sum += *at; });
  const std::vector<int> items(3, 1);
  nopal::for_worklist(items, [&sum](const int& at, auto&) { return sum += at; });
  return sum == 63;
}
