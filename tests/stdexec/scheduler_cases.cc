// SPDX-License-Identifier: MIT
// stdexec's parallel scheduler on Nopal: work begins, loops have each index once, errors and stops
// come through, and the scheduler is one of P2300.
#include "nopal/parallel_scheduler.h"
#include "tests/api/support.h"

#include <stdexec/execution.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

namespace replacement = stdexec::parallel_scheduler_replacement;
using backend =
    nopal::parallel_scheduler<replacement::parallel_scheduler_backend, replacement::receiver_proxy,
                              replacement::bulk_item_receiver_proxy>;

} // namespace
} // namespace nopal_test

namespace stdexec::parallel_scheduler_replacement {
std::shared_ptr<parallel_scheduler_backend> query_parallel_scheduler_backend() {
  static const auto only = std::make_shared<nopal_test::backend>();
  return only;
}
} // namespace stdexec::parallel_scheduler_replacement

namespace nopal_test {
namespace {

static_assert(stdexec::scheduler<stdexec::parallel_scheduler>);

TEST(parallel_scheduler, schedules_on_workers) {
  const auto scheduler = stdexec::get_parallel_scheduler();
  for (int round = 0; round < repetitions(200, 10); ++round) {
    auto work = stdexec::schedule(scheduler) | stdexec::then([] {
                  EXPECT_TRUE(nopal::vproc::on_strand());
                  return fib(12);
                });
    const auto [result] = stdexec::sync_wait(std::move(work)).value();
    ASSERT_EQ(result, 144);
  }
}

TEST(parallel_scheduler, runs_many_at_a_time) {
  const auto scheduler = stdexec::get_parallel_scheduler();
  const auto one = [&](int n) {
    return stdexec::starts_on(scheduler, stdexec::just(n) | stdexec::then(fib));
  };
  const auto [x, y, z] = stdexec::sync_wait(stdexec::when_all(one(10), one(11), one(12))).value();
  EXPECT_EQ(x + y + z, 55 + 89 + 144);
}

TEST(parallel_scheduler, bulk_has_each_index_once) {
  const auto scheduler = stdexec::get_parallel_scheduler();
  for (const int count : {0, 1, 7, 1000, repetitions(100000, 2000)}) {
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
    const auto visit = [&](int i) { ++seen[static_cast<std::size_t>(i)]; };
    const auto visit_chunk = [&](int i, int j) {
      for (; i < j; ++i)
        visit(i);
    };
    stdexec::sync_wait(stdexec::schedule(scheduler) | stdexec::bulk(stdexec::par, count, visit));
    stdexec::sync_wait(stdexec::schedule(scheduler) |
                       stdexec::bulk_chunked(stdexec::par, count, visit_chunk));
    stdexec::sync_wait(stdexec::schedule(scheduler) |
                       stdexec::bulk_unchunked(stdexec::par, count, visit));
    for (const std::atomic<int>& each : seen)
      ASSERT_EQ(each, 3);
  }
}

TEST(parallel_scheduler, bulk_passes_values_and_errors) {
  const auto scheduler = stdexec::get_parallel_scheduler();
  auto values = stdexec::schedule(scheduler) | stdexec::then([] { return std::vector<int>(100); }) |
                stdexec::bulk(stdexec::par, 100, [](int i, std::vector<int>& all) {
                  all[static_cast<std::size_t>(i)] = i;
                });
  const auto [result] = stdexec::sync_wait(std::move(values)).value();
  for (std::size_t i = 0; i < result.size(); ++i)
    EXPECT_EQ(result[i], static_cast<int>(i));
  auto throws = stdexec::schedule(scheduler) | stdexec::then([] { throw std::logic_error{"one"}; });
  EXPECT_THROW(stdexec::sync_wait(std::move(throws)), std::logic_error);
}

// Without the library in between: an operation without room fails, one with room allocates nothing.
struct counting final : replacement::bulk_item_receiver_proxy {
  void set_value() noexcept override { done.open(); }
  void set_error(std::exception_ptr) noexcept override {
    failed = true;
    done.open();
  }
  void set_stopped() noexcept override {}
  void execute(std::size_t i, std::size_t j) noexcept override {
    longest = std::max(longest.load(), j - i);
    items += j - i;
  }
  bool failed = false;
  std::atomic<std::size_t> items{0};
  std::atomic<std::size_t> longest{0};
  gate done;

private:
  void __query_env(stdexec::__type_index, stdexec::__type_index, void*) const noexcept override {}
};

TEST(parallel_scheduler, chunks_are_as_they_were_asked_for) {
  backend on;
  std::array<std::byte, 72> storage;
  counting chunked;
  on.schedule_bulk_chunked(5000, chunked, storage);
  chunked.done.wait();
  EXPECT_EQ(chunked.items, 5000u);
  EXPECT_GT(chunked.longest, 1u);
  counting unchunked;
  on.schedule_bulk_unchunked(5000, unchunked, storage);
  unchunked.done.wait();
  EXPECT_EQ(unchunked.items, 5000u);
  EXPECT_EQ(unchunked.longest, 1u);
  counting without_room;
  on.schedule(without_room, std::span(storage).first(8));
  without_room.done.wait();
  EXPECT_TRUE(without_room.failed);
}

TEST(parallel_scheduler, is_used_from_all_threads_and_from_its_own) {
  const auto scheduler = stdexec::get_parallel_scheduler();
  std::vector<std::thread> threads;
  std::atomic<int> calls{0};
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < repetitions(50, 5); ++round)
        stdexec::sync_wait(stdexec::schedule(scheduler) | stdexec::continues_on(scheduler) |
                           stdexec::then([&] { ++calls; }));
    });
  for (std::thread& each : threads)
    each.join();
  EXPECT_EQ(calls, 3 * repetitions(50, 5));
}

} // namespace
} // namespace nopal_test
