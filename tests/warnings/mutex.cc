// SPDX-License-Identifier: MIT
// Mutexes and condition variables.
#include "nopal/mutex.h"
#include "nopal/fork.h"

#include <mutex>

bool mutex_is_right() {
  nopal::mutex mutex;
  nopal::condition_variable changed;
  bool done = false;
  nopal::scope s;
  s.fork([&] {
    const std::lock_guard lock{mutex};
    done = true;
    changed.notify_one();
    changed.notify_all();
  });
  {
    std::unique_lock lock{mutex};
    changed.wait(lock, [&done] { return done; });
  }
  s.join();
  return done;
}
