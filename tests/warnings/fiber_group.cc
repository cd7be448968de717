// SPDX-License-Identifier: MIT
// Groups of fibers, tasks, and spawners.
#include "nopal/fiber_group.h"

#include <atomic>
#include <string>

bool fiber_group_is_right() {
  std::atomic<int> sum{0};
  const std::string got = nopal::run([&sum] {
    nopal::fiber_group all;
    all.spawn([&sum](int add) { sum += add; }, 1);
    all.join();
    const nopal::spawner into;
    into.spawn([&sum] { sum += 2; });
    nopal::task<void> nothing{[] {}};
    nothing.get();
    nopal::task word{[](const char* text) { return std::string{text}; }, "word"};
    return word.get();
  });
  return got == "word" && sum == 3;
}
