// SPDX-License-Identifier: MIT
// Each misuse of a scope ends in the sentence that names it.
#include "nopal/base/die.h"
#include "tests/api/support.h"

#include <coroutine>
#include <memory>

namespace nopal_test {
namespace {

const start this_program{4};
const auto died = testing::ExitedWithCode(nopal::base::exit_status_died);

class misuse_death : public death {};

long endless(int n) {
  nopal::scope s;
  long below;
  s.fork(below, endless, n + 1);
  s.join();
  return below + n;
}

TEST_F(misuse_death, recursion_by_forks_beyond_the_stack) {
  EXPECT_EXIT(endless(0), died,
              "^nopal: stack overflow: .* needs more than the 1024 KiB of one stack; raise "
              "NOPAL_STACK_SIZE \\(now 1024K\\)\n$");
}

volatile long deepest = -1; // so that the compiler cannot know that there is no end

[[gnu::noinline]] long endless_calls(long n) {
  if (n == deepest)
    return n;
  volatile char frame[512];
  frame[0] = static_cast<char>(n);
  return endless_calls(n + 1) + frame[0];
}

TEST_F(misuse_death, recursion_by_calls_beyond_the_stack) {
  EXPECT_EXIT(
      {
        long result;
        nopal::scope s;
        s.fork(result, endless_calls, 0L);
        s.join();
      },
      died, "^nopal: stack overflow: .* raise NOPAL_STACK_SIZE \\(now 1024K\\)\n$");
}

// Where the continuation was stolen, the overflow happens on a pool thread.
TEST_F(misuse_death, recursion_by_calls_beyond_a_thiefs_stack) {
  EXPECT_EXIT(
      {
        gate stolen;
        nopal::scope s;
        s.fork([&stolen] { stolen.wait(); });
        nopal::scope inner;
        inner.fork([] {
          be_stolen();
          endless_calls(0);
        });
        stolen.open();
        inner.join();
        s.join();
      },
      died, "^nopal: stack overflow: .* raise NOPAL_STACK_SIZE \\(now 1024K\\)\n$");
}

[[gnu::noinline]] void fork_elsewhere(nopal::scope& s) {
  s.fork([] {});
}

[[gnu::noinline]] void join_elsewhere(nopal::scope& s) { s.join(); }

const char* const other_function =
    "^nopal: a scope was forked or joined by another function than the one that declares it "
    "\\(a lambda or a member function is a function of its own, unless the compiler makes it one "
    "with its caller, as at -O2\\); declare a scope in the function that forks, and join it "
    "there\n$";

struct object {
  nopal::scope& s;
  [[gnu::noinline]] void fork_there() {
    s.fork([] {});
  }
  [[gnu::always_inline]] void fork_here(long& result) {
    s.fork(result, [] { return 42L; });
  }
};

TEST_F(misuse_death, forked_by_a_member_function_or_a_lambda) {
  EXPECT_EXIT(
      {
        nopal::scope s;
        object{s}.fork_there();
      },
      died, other_function);
  EXPECT_EXIT(
      {
        nopal::scope s;
        const auto fork = [&s]() __attribute__((noinline)) { s.fork([] {}); };
        fork();
      },
      died, other_function);
}

// A member function that the compiler inlines is a part of the function that declares the scope.
TEST_F(misuse_death, forked_by_a_member_function_that_is_inlined_is_right) {
  EXPECT_EQ(apart([] {
              long result = 0;
              nopal::scope s;
              object{s}.fork_here(result);
              s.join();
              return result;
            }),
            42u);
}

TEST_F(misuse_death, forked_by_another_function) {
  EXPECT_EXIT(
      {
        nopal::scope s;
        fork_elsewhere(s);
      },
      died, other_function);
}

TEST_F(misuse_death, joined_by_another_function) {
  EXPECT_EXIT(
      {
        gate stolen;
        nopal::scope s;
        s.fork([&stolen] { stolen.wait(); });
        stolen.open();
        join_elsewhere(s);
      },
      died, other_function);
}

const char* const out_of_order = "^nopal: scopes of one function were joined out of order.*\n$";

// Scope `a` takes main's stack pointer, or that of a worker's stack; scope `b` takes the thief's.
[[gnu::noinline]] void join_out_of_order() {
  gate first_stolen;
  gate second_stolen;
  nopal::scope a;
  a.fork([&first_stolen] { first_stolen.wait(); });
  first_stolen.open();
  nopal::scope b;
  b.fork([&second_stolen] { second_stolen.wait(); });
  second_stolen.open();
  a.join();
  b.join();
}

TEST_F(misuse_death, joined_out_of_order) { EXPECT_EXIT(join_out_of_order(), died, out_of_order); }

TEST_F(misuse_death, joined_out_of_order_by_a_worker) {
  EXPECT_EXIT(
      {
        nopal::scope s;
        s.fork(join_out_of_order);
        s.join();
      },
      died, out_of_order);
}

[[gnu::noinline]] void make_room_before_the_join(std::size_t bytes) {
  gate stolen;
  nopal::scope s;
  s.fork([&stolen] { stolen.wait(); });
  stolen.open();
  void* room = __builtin_alloca(bytes);
  asm volatile("" : "+r"(room) : : "memory");
  s.join();
}

TEST_F(misuse_death, alloca_between_fork_and_join) {
  EXPECT_EXIT(make_room_before_the_join(100), died, out_of_order);
}

TEST_F(misuse_death, alloca_between_fork_and_join_by_a_worker) {
  EXPECT_EXIT(
      {
        nopal::scope s;
        s.fork(make_room_before_the_join, std::size_t{100});
        s.join();
      },
      died, out_of_order);
}

// The thief that took the continuation of b's fork runs a's second fork, on its own stack.
[[gnu::noinline]] void fork_an_earlier_scope(bool forked_before) {
  gate stolen[3];
  nopal::scope a;
  if (forked_before) {
    a.fork([&stolen] { stolen[0].wait(); });
    stolen[0].open();
  }
  nopal::scope b;
  b.fork([&stolen] { stolen[1].wait(); });
  stolen[1].open();
  a.fork([&stolen] { stolen[2].wait(); });
  stolen[2].open();
  b.join();
  a.join();
}

const char* const later_has_children =
    "^nopal: a scope was forked while one declared after it had children.*\n$";

TEST_F(misuse_death, forked_while_a_later_scope_has_children) {
  EXPECT_EXIT(fork_an_earlier_scope(true), died, later_has_children);
}

TEST_F(misuse_death, forked_while_a_later_scope_has_children_by_a_worker) {
  EXPECT_EXIT(
      {
        nopal::scope s;
        s.fork(fork_an_earlier_scope, true);
        s.join();
      },
      died, later_has_children);
}

// A scope takes the stack pointer of its first fork. So this one belongs within b, and the mistake
// is that it is joined after b.
TEST_F(misuse_death, first_forked_while_a_later_scope_has_children) {
  EXPECT_EXIT(fork_an_earlier_scope(false), died, out_of_order);
}

[[gnu::noinline]] int fork_after_the_outer_join() {
  gate first_stolen;
  gate second_stolen;
  int children = 0;
  nopal::scope a;
  a.fork([&] {
    first_stolen.wait();
    ++children;
  });
  first_stolen.open();
  nopal::scope b;
  a.join();
  b.fork([&] {
    second_stolen.wait();
    ++children;
  });
  second_stolen.open();
  b.join();
  return children;
}

// Nothing of b lies on the stack that a's join has left.
TEST(misuse, a_scope_declared_before_the_join_of_another_may_fork_after_it) {
  int children = 0;
  nopal::scope s;
  s.fork(children, fork_after_the_outer_join);
  s.join();
  EXPECT_EQ(children, 2);
}

const char* const no_local =
    "^nopal: a scope is not a local variable of the function that uses it.*\n$";

[[gnu::noinline]] void fork_on_the_heap() {
  gate stolen;
  auto* s = new nopal::scope;
  s->fork([&stolen] { stolen.wait(); });
  stolen.open();
  s->join();
  delete s;
}

TEST_F(misuse_death, scope_on_the_heap) { EXPECT_EXIT(fork_on_the_heap(), died, no_local); }

TEST_F(misuse_death, scope_on_the_heap_of_a_worker) {
  EXPECT_EXIT(
      {
        nopal::scope s;
        s.fork(fork_on_the_heap);
        s.join();
      },
      died, no_local);
}

[[gnu::noinline]] void fork_on_the_heap_after_a_steal() {
  gate first_stolen;
  nopal::scope a;
  a.fork([&first_stolen] { first_stolen.wait(); });
  first_stolen.open();
  fork_on_the_heap();
  a.join();
}

TEST_F(misuse_death, scope_on_the_heap_after_a_steal) {
  EXPECT_EXIT(fork_on_the_heap_after_a_steal(), died, no_local);
}

struct task {
  struct promise_type {
    task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

task fork_in_a_coroutine() {
  gate stolen;
  nopal::scope s;
  s.fork([&stolen] { stolen.wait(); });
  stolen.open();
  co_await std::suspend_always{};
  s.join();
}

TEST_F(misuse_death, scope_in_a_coroutine) {
  EXPECT_EXIT(fork_in_a_coroutine().handle.resume(), died, no_local);
}

} // namespace
} // namespace nopal_test
