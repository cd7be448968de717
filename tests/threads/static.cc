// SPDX-License-Identifier: MIT
// A statically linked program with thread-local data cannot ask the C library how much a thread's
// stack holds. Prints what went wrong.
#define DATA_BYTES (1 << 20)
#define DATA_ALIGNMENT 4096
#include "nopal/fork.h"
#include "nopal/runtime.h"
#include "tests/threads/local_data.h"

#include <atomic>
#include <cstdio>
#include <thread>

int main() {
  nopal::configure({.num_workers = 8});
  std::atomic<int> right{0};
  std::atomic<int> begun{0};
  {
    nopal::scope s;
    for (int i = 0; i < 7; ++i)
      s.fork([&] {
        right += nopal_test::data_is_right() ? 1 : 0;
        for (begun += 1; begun.load() < 8;)
          std::this_thread::yield();
      });
    begun += 1;
    s.join();
  }
  if (right.load() != 7)
    std::printf("%d of 7 threads had their data\n", right.load());
  return right.load() == 7 ? 0 : 1;
}
