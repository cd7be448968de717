// SPDX-License-Identifier: MIT
// A std::stop_callback lies in the frame of a strand, and a cousin that cancelled the scope looked
// for it in its own frames: the program died. The callbacks of one token refer to each other, too.
#include "nopal/blocking.h"
#include "nopal/cancel.h"
#include "nopal/cancelable.h"
#include "nopal/fiber.h"
#include "nopal/preemption.h"
#include "nopal/runtime.h"
#include "nopal/semaphore.h"
#include "tests/api/support.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace nopal_test {
namespace {

constexpr int rounds = 30, children = 8;

// Frames of cousins begin at other addresses, or at the same.
template <class Body> [[gnu::noinline]] void below(int bytes, Body body) {
  auto* const room = static_cast<volatile char*>(__builtin_alloca(static_cast<std::size_t>(bytes)));
  room[0] = 0;
  body();
}

// The strand has a callback, and waits until that was called.
[[gnu::noinline]] void wait_with_callback(const std::stop_token& token, std::atomic<int>& ready,
                                          std::atomic<int>& told) {
  nopal::semaphore called{0};
  int mine = 0;
  const std::stop_callback tells{token, [&called, &mine] {
                                   mine = 1;
                                   called.release();
                                 }};
  ++ready;
  nopal::shielded([&called] { called.acquire(); });
  told += mine;
}

void wait_for(const std::atomic<int>& value, int wanted) {
  for (; value != wanted; std::this_thread::yield())
    nopal::poll(); // others run here, too
}

// A scope of a strand, which a sibling of that cancels from above.
bool of_a_scope_that_a_sibling_cancels() {
  std::atomic<int> told{0};
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> ready{0};
    nopal::cancel_scope outer;
    outer.fork([&] {
      below(3000, [&] {
        nopal::cancel_scope inner;
        const std::stop_callback tells{inner.token(), [&told] { ++told; }};
        inner.fork([&] { wait_with_callback(inner.token(), ready, told); });
        static_cast<void>(inner.try_join());
      });
    });
    outer.fork([&] {
      wait_for(ready, 1);
      outer.cancel();
    });
    static_cast<void>(outer.try_join());
  }
  return told == 2 * rounds;
}

// Children copy the token of the scope.
bool of_one_token_in_many_strands() {
  std::atomic<int> told{0};
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> ready{0};
    nopal::cancel_scope s;
    const std::stop_token token = s.token();
    for (int i = 0; i < children; ++i)
      s.fork([&, token, i] {
        below(i % 3 * 5000 + 16, [&] { wait_with_callback(token, ready, told); });
      });
    wait_for(ready, children);
    s.cancel();
    static_cast<void>(s.try_join());
  }
  return told == children * rounds;
}

// Those that begin too late call their callbacks themselves, or are not begun.
bool of_a_scope_with_a_deadline() {
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> ready{0}, told{0};
    nopal::cancel_scope s{std::chrono::milliseconds{2}};
    const std::stop_token token = s.token();
    for (int i = 0; i < children; ++i)
      s.fork([&, token] { wait_with_callback(token, ready, told); });
    static_cast<void>(s.try_join());
    if (told != ready)
      return false;
  }
  return true;
}

bool of_a_wait_of_the_library() {
  for (int round = 0; round < rounds; ++round) {
    std::mutex lock;
    std::condition_variable_any never;
    std::atomic<int> ready{0};
    nopal::cancel_scope s;
    const std::stop_token token = s.token();
    s.fork([&, token] {
      std::unique_lock guard{lock};
      ready = 1;
      nopal::blocking([&] { never.wait(guard, token, [] { return false; }); });
    });
    wait_for(ready, 1);
    {
      const std::lock_guard guard{lock};
    }
    s.cancel();
    static_cast<void>(s.try_join());
  }
  return true;
}

bool of_a_cancelable_and_its_fibers() {
  std::atomic<int> told{0};
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> ready{0};
    nopal::cancelable all;
    const std::stop_token token = all.token();
    nopal::run([&] {
      for (int i = 0; i < children; ++i)
        nopal::spawn(all, [&, token] { wait_with_callback(token, ready, told); });
      while (ready != children)
        nopal::yield();
      all.cancel();
    });
  }
  return told == children * rounds;
}

// The program's own source, which a thread that runs no strands asks to stop.
bool of_a_source_of_the_program() {
  std::atomic<int> told{0};
  for (int round = 0; round < rounds; ++round) {
    std::stop_source source;
    std::atomic<int> ready{0};
    nopal::cancel_scope s{source.get_token()};
    for (int i = 0; i < children; ++i)
      s.fork([&] { wait_with_callback(source.get_token(), ready, told); });
    std::thread{[&] {
      while (ready != children)
        std::this_thread::yield();
      source.request_stop();
    }}.join();
    static_cast<void>(s.try_join());
    static_cast<void>(s.token());
  }
  return told == children * rounds;
}

// A callback cancels another scope, and one destroys itself.
bool that_do_more() {
  std::atomic<int> told{0};
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> ready{0};
    nopal::cancel_scope first, second;
    first.fork([&] { wait_with_callback(first.token(), ready, told); });
    second.fork([&, token = second.token()] { wait_with_callback(token, ready, told); });
    std::optional<std::stop_callback<std::function<void()>>> itself;
    const std::stop_callback cancels{first.token(), [&] { second.cancel(); }};
    itself.emplace(first.token(), [&] {
      ++told;
      itself.reset();
    });
    wait_for(ready, 2);
    first.cancel();
    static_cast<void>(second.try_join());
    static_cast<void>(first.try_join());
  }
  return told == 3 * rounds;
}

// Each in programs of their own, with one worker and with more, whose steals are forced or not.
void everywhere(bool (*is_right)()) {
  struct {
    unsigned workers;
    std::uint64_t seed;
  } constexpr programs[] = {{1, 0}, {2, 0}, {4, 0}, {4, 41}};
  for (const auto& each : programs)
    EXPECT_EQ(apart([&] {
                nopal::configure({.num_workers = each.workers});
                if (each.seed != 0)
                  nopal::vproc::force_steals(each.seed);
                return is_right();
              }),
              1)
        << each.workers << " workers, seed " << each.seed;
}

TEST(mapped_callbacks, of_a_scope_that_a_sibling_cancels) {
  everywhere(of_a_scope_that_a_sibling_cancels);
}
TEST(mapped_callbacks, of_one_token_in_many_strands) { everywhere(of_one_token_in_many_strands); }
TEST(mapped_callbacks, of_a_scope_with_a_deadline) { everywhere(of_a_scope_with_a_deadline); }
TEST(mapped_callbacks, of_a_wait_of_the_library) { everywhere(of_a_wait_of_the_library); }
TEST(mapped_callbacks, of_a_cancelable_and_its_fibers) {
  everywhere(of_a_cancelable_and_its_fibers);
}
TEST(mapped_callbacks, of_a_source_of_the_program) { everywhere(of_a_source_of_the_program); }
TEST(mapped_callbacks, that_do_more) { everywhere(that_do_more); }

} // namespace
} // namespace nopal_test
