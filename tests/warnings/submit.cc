// SPDX-License-Identifier: MIT
// What is submitted, and awaited in a coroutine.
#include "nopal/submit.h"

#include <coroutine>
#include <exception>
#include <latch>

namespace awaited {

struct begun {
  struct promise_type {
    begun get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

inline int one() { return 1; }
inline int& same(int* of) { return *of; }
inline void nothing() {}

} // namespace awaited

// Others may see this function, so its frame is to be as visible.
awaited::begun submit_awaits(int& sum, std::latch& ended) {
  sum += co_await nopal::submit(awaited::one);
  int referred = 2;
  sum += co_await nopal::submit(awaited::same, &referred);
  nopal::future<void> kept = nopal::submit(awaited::nothing);
  co_await std::move(kept);
  const auto [one, two] =
      co_await nopal::when_all(nopal::submit(awaited::one), nopal::submit(awaited::one));
  sum += one + two;
  ended.count_down();
}

bool submit_is_right() {
  int sum = 0;
  std::latch ended{1};
  submit_awaits(sum, ended);
  ended.wait();
  return sum == 5;
}
