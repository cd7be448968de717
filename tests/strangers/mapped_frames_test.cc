// SPDX-License-Identifier: MIT
// What lies in the frame of a strand and is reached by others, through a list or an address, where
// workers are processes: cousins wait at one object that lies in a frame above both.
#include "nopal/broadcast.h"
#include "nopal/cancel.h"
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/fiber_group.h"
#include "nopal/fork.h"
#include "nopal/future.h"
#include "nopal/io.h"
#include "nopal/mutex.h"
#include "nopal/per_worker.h"
#include "nopal/reducer.h"
#include "nopal/runtime.h"
#include "nopal/semaphore.h"
#include "nopal/sleep.h"
#include "tests/api/support.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace nopal_test {
namespace {

const start this_program{4, 41};
constexpr int rounds = 20, cousins = 6;

template <class Body> [[gnu::noinline]] void below(int bytes, Body body) {
  auto* const room = static_cast<volatile char*>(__builtin_alloca(static_cast<std::size_t>(bytes)));
  room[0] = 0;
  body();
}

// Forks cousins, whose frames lie at the same addresses and at others; each is given its number.
template <class Body> void in_cousins(int number, Body body) {
  nopal::scope s;
  for (int i = 0; i < number; ++i)
    s.fork([&body, i] { below(i % 3 * 4096 + 16, [&] { body(i); }); });
  s.join();
}
template <class Body> void in_cousins(Body body) {
  for (int round = 0; round < rounds; ++round)
    in_cousins(cousins, body);
}
// Two at a time, each of which has a worker.
template <class First, class Second> void in_two(First first, Second second) {
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> here{0};
    in_cousins(2, [&](int i) {
      ++here;
      while (here != 2)
        std::this_thread::yield();
      i == 0 ? first() : second();
    });
  }
}

TEST(mapped_frames, wait_for_locks) {
  nopal::mutex lock;
  nopal::condition_variable changed;
  long count = 0;
  int turn = 0;
  in_cousins([&](int i) {
    std::unique_lock guard{lock};
    changed.wait(guard, [&] { return turn == i; });
    turn = (turn + 1) % cousins;
    count += 1;
    changed.notify_all();
  });
  EXPECT_EQ(count, rounds * cousins);
  nopal::semaphore permits{1};
  in_cousins([&](int) {
    permits.acquire();
    count -= 1;
    permits.release();
  });
  EXPECT_EQ(count, 0);
  in_cousins([&](int) {
    if (lock.try_lock_for(std::chrono::microseconds{50}))
      lock.unlock();
    static_cast<void>(permits.try_acquire_for(std::chrono::microseconds{50}) &&
                      (permits.release(), true));
  });
}

TEST(mapped_frames, wait_for_messages) {
  nopal::channel<std::string> words, buffered{2}, never, never_received;
  std::atomic<int> received{0};
  in_cousins([&](int i) {
    const std::string own = "a word that is too long to lie in the string " + std::to_string(i);
    if (i % 2 == 0) {
      nopal::select(nopal::send(words, own), nopal::send(never_received, own));
      buffered.send(own);
      return;
    }
    const auto count = [&](const std::string& word) { received += word.size() > 40 ? 1 : 0; };
    nopal::select(nopal::recv(never, count), nopal::recv(words, count));
    count(buffered.recv());
    nopal::select(nopal::recv(never, count), nopal::timeout(std::chrono::microseconds{20}));
  });
  EXPECT_EQ(received, rounds * cousins);
  nopal::broadcast<std::string> all{8};
  std::atomic<int> listeners{0}, got{0};
  in_cousins(cousins, [&](int i) {
    if (i + 1 == cousins) {
      while (listeners != cousins - 1)
        nopal::sleep_for(std::chrono::microseconds{50});
      all.send("a word that is too long to lie in the string");
      return all.close();
    }
    nopal::subscription<std::string> mine{all};
    ++listeners;
    for (const std::string& each : mine.values())
      got += each.size() > 40 ? 1 : 0;
  });
  EXPECT_EQ(got, cousins - 1);
}

TEST(mapped_frames, wait_for_values_and_times) {
  for (int round = 0; round < rounds; ++round) {
    nopal::ivar<std::string> word;
    std::atomic<int> sum{0};
    in_cousins(cousins, [&](int i) {
      if (i == cousins - 1)
        return word.set("a word that is too long to lie in the string");
      nopal::sleep_for(std::chrono::microseconds{10 * i});
      sum += static_cast<int>(word.get().size());
    });
    nopal::run([&] {
      nopal::future1<int> later{[] { return 7; }};
      in_cousins(1, [&](int) { sum += later.touch(); });
    });
    EXPECT_EQ(sum, (cousins - 1) * 44 + 7);
  }
}

// Also by system calls, which read and write frames.
TEST(mapped_frames, wait_for_descriptors) {
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> sum{0};
    int ends[cousins];
    for (int i = 0; i < cousins; i += 2)
      ASSERT_EQ(pipe(ends + i), 0);
    in_cousins(cousins, [&](int i) {
      nopal::io::descriptor own{ends[i]};
      char byte = static_cast<char>(i);
      if (i % 2 == 1)
        nopal::io::write_all(own, {&byte, 1});
      else if (nopal::io::read_some(own, {&byte, 1}) == 1)
        sum += byte;
    });
    EXPECT_EQ(sum, 1 + 3 + 5);
  }
}

TEST(mapped_frames, are_cancelled_by_cousins) {
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> ready{0}, stopped{0};
    nopal::cancel_scope outer;
    for (int i = 0; i < cousins; ++i)
      outer.fork([&, i] {
        below(i % 3 * 4096 + 16, [&] {
          nopal::cancel_scope inner;
          nopal::channel<int> never;
          inner.fork([&] {
            ++ready;
            try {
              never.recv();
            } catch (const nopal::cancelled&) {
              ++stopped;
              throw;
            }
          });
          static_cast<void>(inner.try_join());
        });
      });
    outer.fork([&] {
      while (ready != cousins)
        std::this_thread::yield();
      outer.cancel(std::make_exception_ptr(std::runtime_error{"enough"}));
    });
    static_cast<void>(outer.try_join());
    EXPECT_EQ(stopped, cousins);
    EXPECT_NE(outer.reason(), nullptr);
  }
}

TEST(mapped_frames, hold_what_is_combined_and_thrown) {
  for (int round = 0; round < rounds; ++round) {
    nopal::reducer<nopal::adding<long>> sum;
    nopal::per_worker<std::vector<int>> parts;
    in_cousins(cousins, [&](int i) {
      *sum += i;
      parts.local().push_back(i);
    });
    EXPECT_EQ(sum.take(), cousins * (cousins - 1) / 2);
    std::string what;
    try {
      in_cousins(cousins, [&](int i) {
        const std::string own = "a text that is too long to lie in the string";
        if (i % 2 == 1)
          throw std::runtime_error{own};
      });
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    EXPECT_EQ(what.size(), 44u);
  }
}

TEST(mapped_frames, hold_groups_and_tasks) {
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> sum{0};
    in_cousins(cousins, [&](int i) {
      nopal::run([&] {
        nopal::fiber_group own;
        own.spawn([&] { sum += i; });
        nopal::task<int> number{[i] { return i; }};
        sum += number.get();
        own.join();
      });
    });
    EXPECT_EQ(sum, 2 * cousins * (cousins - 1) / 2);
  }
}

TEST(mapped_frames, hold_objects_of_the_standard_library) {
  std::mutex lock;
  std::recursive_mutex again;
  std::timed_mutex timed;
  std::shared_mutex shared;
  std::condition_variable changed;
  std::condition_variable_any any_changed;
  std::counting_semaphore<4> permits{2};
  std::barrier together{2};
  std::once_flag once;
  std::atomic<int> waits{0}, calls{0};
  int count = 0, turn = 0;
  const auto own_part = [&](int mine) {
    {
      const std::scoped_lock guard{lock, again, timed};
      ++count;
    }
    {
      const std::lock_guard guard{shared};
      ++count;
    }
    {
      const std::shared_lock guard{shared};
    }
    permits.acquire();
    permits.release();
    together.arrive_and_wait();
    std::call_once(once, [&] { ++calls; });
    std::unique_lock guard{lock};
    changed.wait(guard, [&] { return turn % 2 == mine; });
    ++turn;
    changed.notify_all();
    any_changed.notify_all();
    any_changed.wait(guard, [&] { return turn % 2 == mine; });
    ++turn;
    any_changed.notify_all();
  };
  in_two(
      [&] {
        own_part(0);
        waits.wait(0);
        waits = 0;
        waits.notify_one();
      },
      [&] {
        std::promise<std::string> promised;
        std::future<std::string> word = promised.get_future();
        std::thread{[&promised, own = std::string(44, 'w')] { promised.set_value(own); }}.join();
        EXPECT_EQ(word.get().size(), 44u);
        own_part(1);
        waits = 1;
        waits.notify_one();
        waits.wait(1);
      });
  EXPECT_EQ(count, 4 * rounds);
  EXPECT_EQ(calls, 1);
}

} // namespace
} // namespace nopal_test
