// SPDX-License-Identifier: MIT
// A small program whose points are numbered in the order of the serial elision. Tests cancel it, or
// let it throw, at each of them in turn.
#pragma once

#include "nopal/fiber.h"
#include "nopal/loop.h"
#include "nopal/mutex.h"
#include "tests/api/support.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace nopal_test {

constexpr int points = 16;
constexpr int last_before_a_fork = 10;            // behind it joins may find their children done
constexpr long whole_result = (1L << points) - 1; // a bit for each point

inline long files_open() {
  const std::filesystem::directory_iterator all{"/proc/self/fd"};
  return std::distance(begin(all), end(all));
}

// What happens at the points, and what was acquired there.
class watched_program {
public:
  explicit watched_program(std::function<void(int)> at_point) : at_point_{std::move(at_point)} {}

  // Returns the bits of the points that it has passed, if it comes to its end.
  long run() {
    const auto [first, second, third, last] =
        nopal::invoke([this] { return nested(); }, [this] { return loop(); },
                      [this] { return children(); }, [this] { return point(15); });
    return first | second | third | last;
  }

  int passed(int number) const { return passed_[static_cast<std::size_t>(number)].load(); }
  int passed_in_all() const {
    int sum = 0;
    for (int i = 0; i < points; ++i)
      sum += passed(i);
    return sum;
  }
  // Everything acquired was released, once.
  void expect_released() {
    EXPECT_EQ(acquired_, released_);
    EXPECT_TRUE(lock_.try_lock());
    lock_.unlock();
    EXPECT_EQ(files_open(), files_before_);
  }

private:
  struct resource {
    explicit resource(watched_program& in)
        : program{in}, memory{std::make_unique<int>(1)}, file{::open("/dev/null", O_RDONLY)} {
      program.acquired_ += *memory;
    }
    ~resource() {
      program.released_ += *memory;
      close(file);
    }
    resource(const resource&) = delete;
    resource& operator=(const resource&) = delete;
    watched_program& program;
    std::unique_ptr<int> memory;
    int file;
  };

  long point(int number) {
    const resource held{*this};
    passed_[static_cast<std::size_t>(number)] += 1;
    at_point_(number);
    return 1L << number;
  }
  long nested() {
    const resource held{*this};
    const long before = point(0);
    const auto [low, high] = nopal::invoke([this] { return point(1); },
                                           [this] {
                                             const std::lock_guard locked{lock_};
                                             return point(2);
                                           });
    return before | low | high | point(3);
  }
  long loop() {
    const resource held{*this};
    return nopal::reduce(4, 9, 0L, std::bit_or<>{}, [this](int i) { return point(i); }, 1);
  }
  long children() {
    const resource held{*this};
    long low = 0;
    long middle = 0;
    nopal::scope s;
    s.fork(low, [this] { return point(9) | point(10); });
    s.fork(middle, [this] {
      nopal::scope inner;
      long innermost = 0;
      inner.fork(innermost, [this] { return point(11); });
      inner.join();
      return innermost | point(12);
    });
    s.join();
    return low | middle | point(13) | point(14);
  }

  std::function<void(int)> at_point_;
  std::array<std::atomic<int>, points> passed_{};
  nopal::mutex lock_;
  const long files_before_ = files_open();
  std::atomic<long> acquired_{0};
  std::atomic<long> released_{0};
};

} // namespace nopal_test
