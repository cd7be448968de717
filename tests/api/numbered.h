// SPDX-License-Identifier: MIT
// The exception that the tests of exceptions throw.
#pragma once

#include <atomic>

namespace nopal_test {

// An exception that knows its number and how many of its kind are alive.
class numbered {
public:
  explicit numbered(int number) noexcept : number_{number} { alive += 1; }
  numbered(const numbered& other) noexcept : number_{other.number_} { alive += 1; }
  numbered& operator=(const numbered&) = delete;
  ~numbered() { alive -= 1; }
  int number() const noexcept { return number_; }

  static inline std::atomic<int> alive{0};

private:
  int number_;
};

} // namespace nopal_test
