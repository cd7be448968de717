// SPDX-License-Identifier: MIT
// Where threads wait for one another, so that a test knows that all block at the same time.
#pragma once

#include <condition_variable>
#include <mutex>

namespace nopal_test {

// A thread that comes leaves only after `count` have come.
class meeting {
public:
  explicit meeting(int count) : missing_{count} {}
  void come() {
    std::unique_lock guard{lock_};
    missing_ -= 1;
    all_.notify_all();
    all_.wait(guard, [this] { return missing_ <= 0; });
  }

private:
  std::mutex lock_;
  std::condition_variable all_;
  int missing_;
};

} // namespace nopal_test
