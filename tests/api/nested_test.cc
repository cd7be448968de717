// SPDX-License-Identifier: MIT
// Every construct in every other one: what may wait, begin a region or replace a thread, and each
// policy. More fibers than vprocs are in both at the same time, and each waits there, between its
// forks, for a partner that is outside of both or in the outer one only. The name of a case and the
// workers are written before they run, since a mistake here is one that hangs.
#include "nopal/affine.h"
#include "nopal/arena.h"
#include "nopal/blocking.h"
#include "nopal/cancel.h"
#include "nopal/channel.h"
#include "nopal/either.h"
#include "nopal/fiber.h"
#include "nopal/mutex.h"
#include "nopal/policies.h"
#include "tests/api/support.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

namespace nopal_test {
namespace {

// What a construct is called, and how it runs a body. The mutex is this level's.
struct construct {
  const char* name;
  void (*run)(const std::function<void()>& body, nopal::mutex& lock);
};

template <class Policy, unsigned... Vprocs>
void run_with(const std::function<void()>& body, nopal::mutex&) {
  Policy order{Vprocs...};
  nopal::run(order, body);
}
template <unsigned Vprocs> void run_in_arena(const std::function<void()>& body, nopal::mutex&) {
  nopal::arena{Vprocs}.run(body);
}

constexpr std::array constructs{
    construct{"affine", [](const auto& body, auto&) { nopal::affine(body); }},
    construct{"arena_of_one", run_in_arena<1>},
    construct{"arena_of_two", run_in_arena<2>},
    construct{"blocking", [](const auto& body, auto&) { nopal::blocking(body); }},
    construct{"mutex",
              [](const auto& body, auto& lock) {
                const std::lock_guard guard{lock};
                body();
              }},
    construct{"channel",
              [](const auto& body, auto&) {
                nopal::channel<int> begin;
                nopal::channel<int> end;
                nopal::run([&] {
                  nopal::spawn([&] {
                    begin.recv();
                    body();
                    end.send(1);
                  });
                  begin.send(1);
                  end.recv();
                });
              }},
    construct{"select",
              [](const auto& body, auto&) {
                nopal::channel<int> begin;
                nopal::channel<int> never;
                nopal::run([&] {
                  nopal::spawn([&] { begin.send(1); });
                  nopal::select(nopal::recv(never, [](int) {}),
                                nopal::recv(begin, [&](int) { body(); }));
                });
              }},
    construct{"either",
              [](const auto& body, auto&) {
                nopal::either(
                    [&] {
                      body();
                      return std::optional{1};
                    },
                    [] { return std::optional<int>{}; });
              }},
    construct{"cancel_scope",
              [](const auto& body, auto&) {
                nopal::cancel_scope s;
                s.fork([&] { body(); });
                s.join();
              }},
    construct{"run", [](const auto& body, auto&) { nopal::run(body); }},
    construct{"round_robin", run_with<nopal::round_robin>},
    construct{"newest_first", run_with<nopal::newest_first>},
    construct{"newest_first_on_one_vproc", run_with<nopal::newest_first, 1>},
    construct{"proportional_share", run_with<nopal::proportional_share>},
    construct{"gang", run_with<nopal::gang>},
    construct{"work_stealing", run_with<nopal::work_stealing>}};

// Answers each question.
class partner {
public:
  void ask() {
    asked_.send(1);
    sum_ += answers_.recv();
  }
  void answer(int questions) {
    for (int i = 0; i < questions; ++i)
      answers_.send(asked_.recv() + 2);
  }
  int sum() const { return sum_; }

private:
  nopal::channel<int> asked_;
  nopal::channel<int> answers_;
  std::atomic<int> sum_{0};
};

enum class partner_is { outside, in_the_outer };

using pair = std::tuple<construct, construct>;

// The sum of what its fibers were answered, and of what they have forked.
std::uint64_t ask_in_both(const pair& nesting, partner_is where) {
  constexpr int fibers = 5;
  const construct outer = std::get<0>(nesting);
  const construct inner = std::get<1>(nesting);
  nopal::mutex of_outer;
  nopal::mutex of_inner;
  partner asked;
  std::atomic<int> forked{0};
  const auto leaf = [&] {
    forked += static_cast<int>(fib(6));
    asked.ask();
    nopal::yield();
    forked += static_cast<int>(fib(6));
    asked.ask();
  };
  const auto in_both = [&] { inner.run(leaf, of_inner); };
  const auto all_in_the_outer = [&] {
    nopal::run([&] {
      for (int i = 0; i < fibers; ++i)
        nopal::spawn(in_both);
      nopal::spawn([&] { asked.answer(2 * fibers); });
    });
  };
  nopal::run([&] {
    if (where == partner_is::in_the_outer)
      return outer.run(all_in_the_outer, of_outer);
    for (int i = 0; i < fibers; ++i)
      nopal::spawn([&, outer] { outer.run(in_both, of_outer); });
    nopal::spawn([&] { asked.answer(2 * fibers); });
  });
  return static_cast<std::uint64_t>(1000 * asked.sum() + forked);
}

class nested : public testing::TestWithParam<pair> {
protected:
  // `start` decides how the process runs that is made for this.
  static void expect_answers(const char* workers, void (*start)()) {
    const auto sum = apart([&] {
      start();
      std::uint64_t sum_of_both = 0;
      for (const auto where : {partner_is::outside, partner_is::in_the_outer}) {
        std::fprintf(stderr, "%s, the partner is %s\n", workers,
                     where == partner_is::outside ? "outside" : "in the outer one");
        sum_of_both += ask_in_both(GetParam(), where);
      }
      return sum_of_both;
    });
    EXPECT_EQ(sum, 2u * (1000 * 5 * 2 * 3 + 5 * 2 * 8)) << workers;
  }
};

TEST_P(nested, ends_with_the_right_answer) {
  expect_answers("one worker", [] { nopal::configure({.num_workers = 1}); });
  expect_answers("two workers", [] { nopal::configure({.num_workers = 2}); });
  expect_answers("four workers", [] { nopal::configure({.num_workers = 4}); });
  expect_answers("forced steals", [] {
    nopal::configure({.num_workers = 4});
    nopal::vproc::force_steals(23);
  });
  expect_answers("virtual workers", [] { nopal::configure({.virtual_workers = 3, .seed = 7}); });
}

std::string name_of(const testing::TestParamInfo<pair>& tested) {
  const auto& [outer, inner] = tested.param;
  return std::string{inner.name} + "_in_" + outer.name;
}

INSTANTIATE_TEST_SUITE_P(pairs, nested,
                         testing::Combine(testing::ValuesIn(constructs),
                                          testing::ValuesIn(constructs)),
                         name_of);

} // namespace
} // namespace nopal_test
