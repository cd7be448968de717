// SPDX-License-Identifier: MIT
// nopal_invoke where strands wait, give way and throw within it: it returns on its thread.
#include <nopal/nopal.h>

#include <nopal/affine.h>
#include <nopal/arena.h>
#include <nopal/blocking.h>
#include <nopal/channel.h>
#include <nopal/fiber.h>
#include <nopal/mutex.h>
#include <nopal/policies.h>
#include <nopal/preemption.h>

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace {

// Calls both, each of which may migrate.
template <class F, class G> int both(F f, G g) {
  const auto call = [](auto* function) {
    return [](void* at) {
      (*static_cast<decltype(function)>(at))();
      return 0;
    };
  };
  return nopal_invoke(call(&f), &f, call(&g), &g);
}

// Calls `leaf` 2^depth times, and checks at each level that the thread is the same.
template <class Leaf> void tree(int depth, const Leaf& leaf) {
  if (depth == 0)
    return leaf();
  const std::thread::id before = std::this_thread::get_id();
  EXPECT_EQ(both([&] { tree(depth - 1, leaf); }, [&] { tree(depth - 1, leaf); }), NOPAL_OK);
  EXPECT_EQ(std::this_thread::get_id(), before);
}

TEST(within, strands_wait_for_a_mutex) {
  nopal::mutex mutex;
  int count = 0;
  tree(9, [&] {
    const std::lock_guard guard{mutex};
    tree(1, [] {}); // may be stolen while the mutex is held
    ++count;
  });
  EXPECT_EQ(count, 512);
}

TEST(within, strands_wait_for_channels) {
  std::atomic<int> sum = 0;
  tree(5, [&] {
    nopal::run([&] {
      nopal::channel<int> numbers;
      nopal::spawn([&] {
        for (int i = 0; i < 10; ++i)
          numbers.send(i);
        numbers.close();
      });
      for (const int each : numbers)
        tree(1, [&] { sum += each; });
    });
  });
  EXPECT_EQ(sum, 32 * 45 * 2);
}

TEST(within, a_thread_blocks) {
  std::atomic<int> count = 0;
  tree(5, [&] {
    nopal::blocking([&] { std::this_thread::yield(); });
    tree(2, [&] { ++count; });
  });
  EXPECT_EQ(count, 128);
}

TEST(within, fibers_call_it_and_give_way) {
  std::atomic<int> count = 0;
  const auto many = [&] {
    for (int i = 0; i < 20; ++i)
      nopal::spawn([&] {
        tree(4, [&] {
          nopal::poll();
          ++count;
        });
      });
  };
  nopal::run(many);
  EXPECT_EQ(count, 320);
  nopal::round_robin turns;
  nopal::run(turns, many);
  EXPECT_EQ(count, 640);
}

TEST(within, regions_and_arenas_lie_in_it_and_around_it) {
  std::atomic<int> count = 0;
  const auto some = [&] { tree(3, [&] { ++count; }); };
  tree(3, [&] { nopal::affine(some); });
  EXPECT_EQ(count, 64);
  tree(3, [&] { nopal::arena{2}.run([&] { tree(1, some); }); });
  EXPECT_EQ(count, 64 + 128);
}

TEST(within, exceptions_are_noted_on_its_thread) {
  for (int round = 0; round < 50; ++round)
    tree(3, [] {
      const int result = both([] { tree(2, [] {}); }, [] { throw std::runtime_error{"thrown"}; });
      EXPECT_EQ(result, NOPAL_EXCEPTION);
      EXPECT_NE(std::string_view{nopal_message()}.find("thrown"), std::string_view::npos);
      EXPECT_THROW(nopal_rethrow(), std::runtime_error);
    });
}

} // namespace
