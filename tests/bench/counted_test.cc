// SPDX-License-Identifier: MIT
// The counting atomics count what two threads hand to each other, exactly.
#include "bench/counted/directory.h"

#include "nopal/base/atomic.h"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace bench::counted {
namespace {

using nopal::base::relaxed;

struct alignas(64) two_words {
  nopal::base::atomic<std::uint64_t> first{0};
  nopal::base::atomic<std::uint64_t> second{0};
};

// The counts of all threads while `f` ran.
template <class F> totals counts_of(F f) {
  const totals before = so_far();
  f();
  totals after = so_far();
  for (std::size_t i = 0; i < after.size(); ++i)
    after[i] -= before[i];
  return after;
}

std::uint64_t count_of(const totals& counts, event what) {
  return counts[static_cast<std::size_t>(what)];
}

// The numbers of remote writes, of copies lost and of remote reads.
std::array<std::uint64_t, 3> moves(const totals& counts) {
  return {count_of(counts, event::remote_writes), count_of(counts, event::copies_lost),
          count_of(counts, event::remote_reads)};
}
using moved = std::array<std::uint64_t, 3>;

template <class F> void in_another_thread(F f) { std::thread{f}.join(); }

TEST(counted_atomics, what_one_thread_has_for_itself_is_not_remote) {
  two_words line;
  const totals counts = counts_of([&] {
    line.first.store(1, relaxed);
    line.first.fetch_add(1, relaxed);
    EXPECT_EQ(line.first.load(relaxed), 2u);
    line.second.store(3, relaxed);
  });
  EXPECT_EQ(moves(counts), (moved{0, 0, 0}));
  EXPECT_EQ(count_of(counts, event::rmws), 1u);
}

TEST(counted_atomics, a_line_is_remote_from_the_other_threads_write_on) {
  two_words line;
  line.first.store(1, relaxed);
  EXPECT_EQ(moves(counts_of([&] {
              in_another_thread([&] {
                line.first.store(2, relaxed);
                line.first.store(3, relaxed);
              });
            })),
            (moved{1, 1, 0}));
  EXPECT_EQ(moves(counts_of([&] { EXPECT_EQ(line.first.load(relaxed), 3u); })), (moved{0, 0, 1}));
  EXPECT_EQ(moves(counts_of([&] { EXPECT_EQ(line.first.load(relaxed), 3u); })), (moved{0, 0, 0}));
}

TEST(counted_atomics, each_reader_loses_its_copy_to_the_next_write) {
  two_words line;
  line.first.store(1, relaxed);
  EXPECT_EQ(moves(counts_of([&] {
              for (int i = 0; i < 3; ++i)
                in_another_thread([&] { EXPECT_EQ(line.first.load(relaxed), 1u); });
            })),
            (moved{0, 0, 3}));
  EXPECT_EQ(moves(counts_of([&] { line.first.store(2, relaxed); })), (moved{1, 3, 0}));
  EXPECT_EQ(moves(counts_of([&] { line.first.store(3, relaxed); })), (moved{0, 0, 0}));
}

TEST(counted_atomics, two_words_of_one_line_are_one_line) {
  two_words line[2];
  line[0].first.store(1, relaxed);
  EXPECT_EQ(moves(counts_of([&] {
              in_another_thread([&] {
                line[0].second.store(1, relaxed);
                line[1].second.store(1, relaxed);
              });
            })),
            (moved{1, 1, 0}));
}

// Two threads take turns: every turn but the first takes the line from the other.
TEST(counted_atomics, hand_offs_of_two_threads_are_counted_exactly) {
  constexpr unsigned turns = 100;
  two_words line;
  line.first.store(0, relaxed); // whatever lay there before was another thread's, perhaps
  std::mutex lock;
  std::condition_variable changed;
  unsigned turn = 0;
  const auto run = [&](unsigned own) {
    for (unsigned i = 0; i < turns; ++i) {
      std::unique_lock guard{lock};
      changed.wait(guard, [&] { return turn % 2 == own; });
      line.first.fetch_add(1, relaxed);
      ++turn;
      changed.notify_one();
    }
  };
  const totals counts = counts_of([&] {
    std::thread other{run, 1u};
    run(0);
    other.join();
  });
  EXPECT_EQ(count_of(counts, event::rmws), 2 * turns);
  EXPECT_EQ(moves(counts), (moved{2 * turns - 1, 2 * turns - 1, 0}));
  EXPECT_GE(count_of(counts, event::mutexes), 2 * turns);
}

TEST(counted_atomics, a_failed_exchange_takes_the_line_too) {
  two_words line;
  line.first.store(1, relaxed);
  const totals counts = counts_of([&] {
    in_another_thread([&] {
      std::uint64_t expected = 7;
      EXPECT_FALSE(line.first.compare_exchange_strong(expected, 8, relaxed, relaxed));
      EXPECT_EQ(expected, 1u);
    });
  });
  EXPECT_EQ(count_of(counts, event::rmws), 1u);
  EXPECT_EQ(moves(counts), (moved{1, 1, 0}));
}

TEST(counted_atomics, a_line_is_counted_for_its_part) {
  alignas(64) std::uint64_t words[3][8]{};
  static const void* pools = nullptr;
  static bool searching = false;
  pools = words[2];
  static constexpr known_parts known{
      [](const void* at) noexcept { return at == pools ? part::stacks : part::others; },
      []() noexcept { return searching; }};
  tell_parts(&known);
  const auto write_all = [&] {
    note_write(words[0], "x/nopal/deque/limit.h");
    note_write(words[1], "x/nopal/join/wait_free.h");
    note_write(words[2], "x/nopal/base/free_list.h");
    note_failed(words[2], "x/nopal/base/free_list.h");
  };
  write_all();
  const totals counts = counts_of([&] { in_another_thread(write_all); });
  EXPECT_EQ(count_of(counts, event::deque_lines), 1u);
  EXPECT_EQ(count_of(counts, event::join_lines), 1u);
  EXPECT_EQ(count_of(counts, event::stacks_lines), 1u);
  EXPECT_EQ(count_of(counts, event::others_lines), 0u);
  EXPECT_EQ(count_of(counts, event::stacks_failed), 1u);
  EXPECT_EQ(count_of(counts, event::deque_failed), 0u);
  const totals read = counts_of([&] { note_read(words[0], "x/nopal/stack/marks.cc"); });
  EXPECT_EQ(count_of(read, event::deque_lines), 1u) << "marks are the deque's";
  searching = true;
  const totals sought = counts_of([&] { in_another_thread(write_all); });
  searching = false;
  EXPECT_EQ(count_of(sought, event::deque_lines), 0u);
  EXPECT_EQ(count_of(sought, event::search_lines), 1u) << "of deques";
  EXPECT_EQ(count_of(sought, event::join_lines), 1u);
  write_all(); // what lies there next is this thread's
}

TEST(counted_atomics, a_swap_that_fails_is_counted_as_such) {
  two_words line;
  const totals counts = counts_of([&] {
    std::uint64_t expected = 7;
    EXPECT_FALSE(line.first.compare_exchange_weak(expected, 8, relaxed, relaxed));
    EXPECT_TRUE(line.first.compare_exchange_weak(expected, 8, relaxed, relaxed));
  });
  EXPECT_EQ(count_of(counts, event::others_failed), 1u);
}

TEST(counted_atomics, a_spin_lock_counts_when_it_is_taken) {
  nopal::base::lock_word word{0};
  const totals counts = counts_of([&] {
    std::uint32_t expected = 0;
    EXPECT_TRUE(word.compare_exchange_strong(expected, 1, nopal::base::acquire, relaxed));
    expected = 0;
    EXPECT_FALSE(word.compare_exchange_strong(expected, 1, nopal::base::acquire, relaxed))
        << "it is taken";
    word.store(0, nopal::base::release);
    expected = 0;
    EXPECT_TRUE(word.compare_exchange_strong(expected, 1, nopal::base::acquire, relaxed));
  });
  EXPECT_EQ(count_of(counts, event::spin_locks), 2u);
}

TEST(counted_atomics, words_of_stacks_and_fences_are_counted) {
  alignas(64) std::uintptr_t words[8]{};
  const totals counts = counts_of([&] {
    nopal::base::full_fence();
    for (const std::uintptr_t& word : words)
      EXPECT_EQ(nopal::base::load_relaxed_word(reinterpret_cast<std::uintptr_t>(&word)), 0u);
  });
  EXPECT_EQ(count_of(counts, event::fences), 1u);
  EXPECT_EQ(count_of(counts, event::walked_words), 8u);
  EXPECT_EQ(count_of(counts, event::unknown_lines), 0u);
}

TEST(counted_atomics, what_an_unnoticed_thread_reads_is_not_counted) {
  two_words line;
  line.first.store(1, relaxed);
  EXPECT_EQ(moves(counts_of([&] {
              in_another_thread([&] {
                const unnoticed looking;
                EXPECT_EQ(line.first.load(relaxed), 1u);
              });
              line.first.store(2, relaxed);
            })),
            (moved{0, 0, 0}));
}

TEST(counted_calls, a_sleeper_sleeps_from_its_wait_to_the_wake) {
  std::uint32_t word = 1;
  const std::uint32_t before = asleep();
  const totals counts = counts_of([&] {
    std::thread sleeper{[&] { syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, nullptr); }};
    while (syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1) != 1)
      std::this_thread::yield();
    sleeper.join();
  });
  EXPECT_EQ(count_of(counts, event::futex_waits), 1u);
  EXPECT_GE(count_of(counts, event::futex_wakes), 1u);
  EXPECT_EQ(asleep(), before);
}

TEST(counted_calls, a_wait_that_fails_is_no_sleep) {
  std::uint32_t word = 1;
  const std::uint32_t before = asleep();
  const totals counts =
      counts_of([&] { EXPECT_EQ(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, nullptr), -1); });
  EXPECT_EQ(count_of(counts, event::futex_waits), 1u);
  EXPECT_EQ(asleep(), before);
}

TEST(counted_calls, barriers_interrupt_those_that_are_awake) {
  syscall(__NR_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
  two_words line;
  line.first.store(1, relaxed); // this thread has reported
  const std::uint32_t others = awake() - 1;
  const totals counts =
      counts_of([&] { syscall(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); });
  EXPECT_EQ(count_of(counts, event::barriers), 1u);
  EXPECT_EQ(count_of(counts, event::interruptions), others);
}

TEST(counted_calls, locking_a_mutex_is_counted) {
  std::mutex lock;
  const totals counts = counts_of([&] {
    lock.lock();
    lock.unlock();
    lock.lock();
    lock.unlock();
  });
  EXPECT_EQ(count_of(counts, event::mutexes), 2u);
}

} // namespace
} // namespace bench::counted
