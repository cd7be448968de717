// SPDX-License-Identifier: MIT
// A reducer that others add to than the children of its own strand: tasks of a group, submitted
// functions, other threads, fibers that are awaited within nopal::run. Their values were lost,
// without a word. Each wait that orders them makes `value` complete; where there was none, `value`
// ends the program with a sentence.
#include "nopal/affine.h"
#include "nopal/arena.h"
#include "nopal/blocking.h"
#include "nopal/cancel.h"
#include "nopal/channel.h"
#include "nopal/either.h"
#include "nopal/engine.h"
#include "nopal/fiber_group.h"
#include "nopal/loop.h"
#include "nopal/pipeline.h"
#include "nopal/reducer.h"
#include "nopal/submit.h"
#include "nopal/task_group.h"
#include "nopal/worklist.h"
#include "tests/api/support.h"

#include <coroutine>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace nopal_test {
namespace {

using sum = nopal::reducer<nopal::adding<long>>;
using text = nopal::reducer<nopal::appending<std::string>>;

// Adds 4, in strands of its own, some of which wait.
void add_four(sum& to) {
  *to += 1;
  nopal::invoke([&] { *to += 1; }, [&] { *to += 1; });
  if (nopal::vproc::on_strand())
    nopal::yield();
  *to += 1;
}

TEST(reducer_of_tasks, is_complete_when_the_group_was_awaited) {
  for (int round = 0; round < repetitions(30, 3); ++round) {
    sum all;
    *all += 1;
    nopal::task_group group;
    for (int i = 0; i < 20; ++i)
      group.add([&] {
        add_four(all);
        group.add([&] { add_four(all); });
        nopal::spawn([&] { add_four(all); });
      });
    group.wait();
    ASSERT_EQ(all.value(), 241);
    auto first = group.add_node([&] { add_four(all); });
    auto second = group.add_after({first}, [&] { add_four(all); });
    auto third = group.add_after({first, second}, [&] { add_four(all); });
    group.wait();
    ASSERT_EQ(all.take(), 253);
  }
}

TEST(reducer_of_tasks, has_the_order_in_which_they_ended) {
  for (int round = 0; round < repetitions(30, 3); ++round) {
    text all{"<"};
    nopal::task_group group;
    nopal::task_node last = group.add_node([&] { *all += 'a'; });
    for (const char* next : {"bcd", "efg", "hij"})
      last = group.add_after({last}, [&all, next] {
        nopal::invoke([&] { *all += next[0]; }, [&] { *all += next[1]; }, [&] { *all += next[2]; });
      });
    group.wait();
    nopal::submit([&] { *all += 'k'; }).then([&] { *all += 'l'; }).get();
    ASSERT_EQ(all.value(), "<abcdefghijkl");
  }
}

TEST(reducer_of_tasks, keeps_what_one_has_added_that_throws) {
  sum all;
  nopal::task_group group;
  group.add([&] {
    add_four(all);
    throw std::runtime_error("meant");
  });
  EXPECT_THROW(group.wait(), std::runtime_error);
  EXPECT_EQ(all.value(), 4);
  nopal::task_group cancelled;
  cancelled.add([&] { *all += 1; });
  cancelled.cancel();
  cancelled.wait();
  const long with_it = all.value();
  EXPECT_TRUE(with_it == 4 || with_it == 5) << with_it;
}

TEST(reducer_of_submitted, is_complete_when_the_result_has_come) {
  for (int round = 0; round < repetitions(100, 5); ++round) {
    sum all;
    std::vector<nopal::future<void>> begun;
    for (int i = 0; i < 5; ++i)
      begun.push_back(nopal::submit([&] { add_four(all); }).then([&] { add_four(all); }));
    nopal::when_all(std::move(begun)).get();
    ASSERT_EQ(all.value(), 40);
    nopal::submit([&] { nopal::submit([&] { add_four(all); }).get(); }).get();
    auto fails = nopal::submit([&] {
      add_four(all);
      throw std::runtime_error("meant");
    });
    EXPECT_THROW(fails.get(), std::runtime_error);
    ASSERT_EQ(all.value(), 48);
  }
}

TEST(reducer_of_submitted, may_be_made_in_such_a_function) {
  EXPECT_EQ(nopal::submit([] {
              sum own;
              *own += 1;
              nopal::submit([&] { add_four(own); }).get();
              nopal::run([&] { nopal::spawn([&] { add_four(own); }); });
              return own.value();
            }).get(),
            9);
}

// A coroutine that a thread waits for, and which tells that thread of its end before it has left
// the function that has resumed it.
struct coroutine {
  struct promise_type {
    std::promise<void> given;
    coroutine get_return_object() { return {given.get_future()}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() { given.set_value(); }
    void unhandled_exception() { given.set_exception(std::current_exception()); }
  };
  std::future<void> ended;
};
coroutine adds(sum& to) {
  *to += 1;
  co_await nopal::submit(add_four, std::ref(to));
  *to += 1;
  co_await nopal::submit(add_four, std::ref(to));
  *to += 1;
}

TEST(reducer_of_coroutines, is_complete_when_they_have_ended) {
  for (int round = 0; round < repetitions(100, 5); ++round) {
    sum all;
    adds(all).ended.get();
    ASSERT_EQ(all.value(), 11);
  }
}

TEST(reducer_of_threads, is_complete_when_they_have_ended) {
  const auto all = std::make_unique<sum>(1);
  for (int round = 0; round < repetitions(20, 3); ++round) {
    std::thread plain{[&] { **all += 1; }};
    std::thread forks{[&] { add_four(*all); }};
    std::thread runs{[&] {
      nopal::run([&] {
        nopal::spawn([&] { add_four(*all); });
        add_four(*all);
      });
    }};
    auto later = std::async(std::launch::async, [&] { add_four(*all); });
    nopal::for_index(0, 10, [&](int) { **all += 1; });
    plain.join();
    forks.join();
    runs.join();
    later.get();
    ASSERT_EQ(all->take(), round == 0 ? 28 : 27);
  }
}

TEST(reducer_of_threads, of_computations_that_share_it) {
  static sum shared;
  std::thread other{[&] { nopal::for_index(0, 1000, [&](int) { *shared += 1; }, 10); }};
  nopal::task_group group;
  for (int i = 0; i < 50; ++i)
    group.add([&] { nopal::for_index(0, 20, [&](int) { *shared += 1; }, 1); });
  nopal::for_index(0, 1000, [&](int) { *shared += 1; }, 10);
  group.wait();
  other.join();
  EXPECT_EQ(shared.value(), 3000);
}

TEST(reducer_of_fibers, that_was_made_within_run_is_complete_at_each_wait) {
  const auto left = std::make_unique<std::optional<sum>>();
  nopal::run([&] {
    sum& all = left->emplace();
    nopal::fiber_group group;
    for (int i = 0; i < 10; ++i)
      group.spawn([&] { add_four(all); });
    group.join();
    EXPECT_EQ(all.value(), 40);
    nopal::task one{[&] { add_four(all); }};
    one.get();
    EXPECT_EQ(all.value(), 44);
    nopal::run([&] { nopal::spawn([&] { add_four(all); }); });
    EXPECT_EQ(all.value(), 48);
    nopal::engine ends{[&] { add_four(all); }};
    EXPECT_EQ(std::move(ends).run(1000).index(), 0u);
    EXPECT_EQ(all.value(), 52);
    nopal::spawn([&] { add_four(all); });
  });
  EXPECT_EQ((*left)->value(), 56);
}

TEST(reducer_of_fibers, that_was_made_before_has_the_callers_order) {
  text all;
  *all += '<';
  nopal::run([&] {
    nopal::spawn([&] {
      nopal::run([&] {
        nopal::spawn([&] { *all += 'b'; });
        *all += 'a';
      });
      *all += 'c';
    });
    *all += '(';
  });
  *all += '>';
  EXPECT_EQ(all.value(), "<(abc>");
}

TEST(reducer_of_children, is_complete_behind_each_construct) {
  sum all;
  long expected = 0;
  const auto adds = [&](long number) {
    expected += number;
    EXPECT_EQ(all.value(), expected);
  };
  nopal::affine([&] { add_four(all); });
  adds(4);
  nopal::arena{2}.run([&] { add_four(all); });
  adds(4);
  nopal::blocking([&] { add_four(all); });
  adds(4);
  nopal::shielded([&] { add_four(all); });
  adds(4);
  nopal::run([&] { nopal::blocking([&] { add_four(all); }); });
  adds(4);
  nopal::for_worklist({6}, [&](int n, auto& more) {
    *all += 1;
    if (n > 0) {
      more.add(n - 1);
      more.add(n - 1);
    }
  });
  adds(127);
  int items = 0;
  nopal::pipeline(
      4, [&]() -> std::optional<int> { return items < 50 ? std::optional{items++} : std::nullopt; },
      nopal::parallel_stage([&](int i) {
        *all += 1;
        return i;
      }),
      nopal::ordered_stage([&](int) { *all += 1; }));
  adds(100);
  {
    nopal::cancel_scope s;
    s.fork([&] { add_four(all); });
    s.join();
  }
  adds(4);
  nopal::either([&]() -> std::optional<int> { return add_four(all), std::nullopt; },
                [&]() -> std::optional<int> { return add_four(all), std::nullopt; });
  adds(8);
}

TEST(reducer, may_be_gone_before_what_adds_to_it_has_ended) {
  std::promise<void> has_added;
  std::promise<void> is_gone;
  std::thread late{};
  {
    text all;
    late = std::thread{[&all, &has_added, &is_gone] {
      *all += std::string(100, 'x');
      has_added.set_value();
      is_gone.get_future().wait();
      text own;
      *own += 'y'; // perhaps in the same place
      EXPECT_EQ(own.value(), "y");
    }};
    has_added.get_future().wait();
  }
  text next;
  *next += 'z';
  is_gone.set_value();
  late.join();
  EXPECT_EQ(next.value(), "z");
}

using reducer_death = death;
constexpr const char* sentence = "the value of a nopal::reducer was asked for while";

TEST_F(reducer_death, where_a_thread_that_has_added_goes_on) {
  EXPECT_DEATH(
      {
        sum all;
        std::promise<void> has_added;
        std::promise<void> never;
        std::thread{[&] {
          add_four(all);
          has_added.set_value();
          never.get_future().wait();
        }}.detach();
        has_added.get_future().wait();
        all.value();
      },
      sentence);
}

TEST_F(reducer_death, where_a_task_that_has_added_goes_on) {
  EXPECT_DEATH(
      {
        sum all;
        nopal::channel<int> told{1};
        nopal::channel<int> never;
        auto goes_on = nopal::submit([&] {
          *all += 1;
          told.send(1);
          never.recv();
        });
        told.recv();
        static_cast<void>(all.take());
      },
      sentence);
}

TEST_F(reducer_death, within_the_run_whose_fibers_add_to_one_from_outside) {
  EXPECT_DEATH(
      {
        sum all;
        nopal::run([&] {
          nopal::fiber_group group;
          group.spawn([&] { *all += 1; });
          group.join();
          all.value();
        });
      },
      sentence);
}

TEST_F(reducer_death, where_the_maker_has_added_and_another_strand_asks) {
  EXPECT_DEATH(
      {
        sum all;
        *all += 1;
        nopal::submit([&] { all.value(); }).get();
      },
      sentence);
}

} // namespace
} // namespace nopal_test
