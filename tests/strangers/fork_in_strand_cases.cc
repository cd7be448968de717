// SPDX-License-Identifier: MIT
// A strand calls fork(), and its child process comes back to what began before: the continuation of
// its parent, a join, the end of a fiber. Where these are on the thread alone that forked, the
// child goes on; else it ends with a sentence. It hung, or ran what its parent runs too.
#include "nopal/affine.h"
#include "nopal/blocking.h"
#include "nopal/cancel.h"
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/fiber_group.h"
#include "nopal/fork.h"
#include "nopal/invoke.h"
#include "nopal/loop.h"
#include "nopal/runtime.h"
#include "nopal/scheduler.h"
#include "nopal/sleep.h"
#include "nopal/submit.h"
#include "nopal/task_group.h"
#include "nopal/vproc/wake.h"
#include "tests/strangers/children.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <optional>
#include <stop_token>
#include <thread>

// ThreadSanitizer would end each child of a program that has other threads.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

namespace {

using namespace std::chrono_literals;
using nopal_test::ended;

// In the parent it waits for the child; in the child it returns. The child ends in _exit(0) if it
// comes back to `comes_back`.
class forking {
public:
  void operator()() {
    EXPECT_EQ(pipe(ends_), 0);
    std::fflush(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      alarm(static_cast<unsigned>(nopal_test::patience.count()));
      dup2(ends_[1], STDERR_FILENO);
      in_child_ = true;
      return;
    }
    close(ends_[1]);
    char text[512];
    for (ssize_t got; (got = read(ends_[0], text, sizeof text)) > 0;)
      how_.said.append(text, static_cast<std::size_t>(got));
    close(ends_[0]);
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    how_.status = WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  // Called where the program goes on behind what has forked.
  ended comes_back() const {
    if (in_child_)
      _exit(0);
    return how_;
  }
  bool in_child() const { return in_child_; }

private:
  int ends_[2] = {-1, -1};
  pid_t pid_ = 0;
  bool in_child_ = false;
  ended how_;
};

bool is_told(const ended& how) {
  return how.status == 70 && how.said.find("child of fork()") != std::string::npos;
}
// Where it depends on thieves whether the child can go on.
bool is_right_or_told(const ended& how) { return how.status == 0 || is_told(how); }

long fib(int n) {
  if (n < 2)
    return n;
  nopal::scope s;
  long x;
  s.fork(x, fib, n - 1);
  const long y = fib(n - 2);
  s.join();
  return x + y;
}

// The outermost child: its parent's continuation is public at once.
TEST(fork_in_strand, that_is_the_outermost_child) {
  forking forks;
  nopal::scope s;
  s.fork([&] { forks(); });
  s.join();
  EXPECT_TRUE(is_told(forks.comes_back())) << forks.comes_back();
}
TEST(fork_in_strand, with_parents) {
  for (int i = 0; i < 10; ++i) {
    forking forks;
    std::atomic<bool> back{false};
    nopal::invoke(
        [&] {
          nopal::invoke([&] { fib(10); }, [&] { forks(); });
          back = true;
        },
        [] { fib(10); });
    EXPECT_TRUE(back);
    EXPECT_TRUE(is_right_or_told(forks.comes_back())) << forks.comes_back();
  }
}
// The continuation of a sibling runs here while the sibling, which waits for this, is elsewhere.
TEST(fork_in_strand, whose_sibling_is_on_another_thread) {
  if (nopal::num_workers() == 1)
    GTEST_SKIP() << "there is no other thread";
  forking forks;
  std::atomic<bool> stolen{false};
  std::atomic<bool> forked{false};
  nopal::affine([&] {
    nopal::scope s;
    s.fork([&] {
      while (!stolen && !forks.in_child())
        nopal::poll();
      while (!forked)
        usleep(100);
    });
    stolen = true;
    forks();
    forked = true;
    s.join();
  });
  EXPECT_TRUE(is_told(forks.comes_back())) << forks.comes_back();
}
// What the child forks in the same scope does not make it forget the sibling.
TEST(fork_in_strand, that_forks_again_in_the_scope) {
  if (nopal::num_workers() == 1)
    GTEST_SKIP() << "there is no other thread";
  forking forks;
  std::atomic<bool> stolen{false};
  std::atomic<bool> forked{false};
  nopal::affine([&] {
    nopal::scope s;
    s.fork([&] {
      while (!stolen && !forks.in_child())
        nopal::poll();
      while (!forked)
        usleep(100);
    });
    stolen = true;
    forks();
    forked = true;
    s.fork([] { fib(5); });
    s.join();
  });
  EXPECT_TRUE(is_told(forks.comes_back())) << forks.comes_back();
}
TEST(fork_in_strand, of_a_loop) {
  forking forks;
  nopal::for_index(
      0, 100,
      [&](int i) {
        if (i == 50)
          forks();
      },
      1);
  EXPECT_TRUE(is_told(forks.comes_back())) << forks.comes_back();
}
TEST(fork_in_strand, that_throws_then) {
  forking forks;
  try {
    nopal::scope s;
    s.fork([] { fib(8); });
    s.fork([&] {
      forks();
      throw 7;
    });
    s.join();
  } catch (int) {
  }
  EXPECT_TRUE(is_told(forks.comes_back())) << forks.comes_back();
}
TEST(fork_in_strand, that_is_a_fiber) {
  forking forks;
  nopal::run([&] { nopal::spawn([&] { forks(); }); });
  EXPECT_TRUE(is_told(forks.comes_back())) << forks.comes_back();
}
TEST(fork_in_strand, that_is_the_body_of_run) {
  forking forks;
  nopal::run([&] { forks(); });
  EXPECT_TRUE(is_told(forks.comes_back())) << forks.comes_back();
}
TEST(fork_in_strand, that_wakes_a_fiber_of_the_parent) {
  forking forks;
  nopal::channel<int> values;
  nopal::run([&] {
    nopal::spawn([&] {
      for (const int each : values)
        static_cast<void>(each);
    });
    nopal::yield();
    forks();
    values.send(1);
    values.close();
  });
  EXPECT_TRUE(is_told(forks.comes_back())) << forks.comes_back();
}
TEST(fork_in_strand, of_a_task) {
  forking forks;
  nopal::submit([&] { forks(); }).get();
  EXPECT_TRUE(is_told(forks.comes_back())) << forks.comes_back();
}
TEST(fork_in_strand, of_a_group_of_tasks) {
  forking forks;
  nopal::task_group all;
  all.add([&] { forks(); });
  all.wait();
  EXPECT_TRUE(is_told(forks.comes_back())) << forks.comes_back();
}
TEST(fork_in_strand, in_an_affine_call) {
  forking forks;
  nopal::run([&] { nopal::affine([&] { forks(); }); });
  EXPECT_TRUE(is_told(forks.comes_back())) << forks.comes_back();
}
TEST(fork_in_strand, that_blocks) {
  forking forks;
  nopal::run([&] { nopal::blocking([&] { forks(); }); });
  EXPECT_TRUE(is_told(forks.comes_back())) << forks.comes_back();
}
TEST(fork_in_strand, that_is_cancelled) {
  forking forks;
  {
    nopal::cancel_scope s{1h};
    s.fork([&] { forks(); });
    static_cast<void>(s.try_join());
  }
  EXPECT_TRUE(is_told(forks.comes_back())) << forks.comes_back();
}

// What is no strand, but the program's code on a thread of Nopal's.
class asks_when_it_forks : public nopal::scheduler {
public:
  explicit asks_when_it_forks(forking& forks) : forks_{forks} {}

private:
  void put(nopal::fiber ready) override { kept_.push_back(std::move(ready)); }
  nopal::fiber take() override {
    if (kept_.empty())
      return {};
    nopal::fiber first = std::move(kept_.front());
    kept_.pop_front();
    if (!forked_) {
      forked_ = true;
      forks_();
    }
    return first;
  }

  forking& forks_;
  bool forked_ = false;
  std::deque<nopal::fiber> kept_;
};
TEST(fork_in_a_callback, of_a_scheduler) {
  forking forks;
  asks_when_it_forks order{forks};
  nopal::run(order, [] { nopal::spawn([] {}); });
  EXPECT_TRUE(is_told(forks.comes_back())) << forks.comes_back();
}
TEST(fork_in_a_callback, of_a_token_at_a_deadline) {
  forking forks;
  std::atomic<bool> called{false};
  nopal::cancel_scope s{1ms};
  const std::stop_callback note{s.token(), [&] {
                                  forks();
                                  called = true;
                                }};
  s.fork([] {
    for (;;)
      nopal::poll();
  });
  static_cast<void>(s.try_join());
  while (!called)
    std::this_thread::yield();
  // The strand that joins may have called it, when all else had ended: then the child goes on.
  EXPECT_TRUE(is_right_or_told(forks.comes_back())) << forks.comes_back();
}

// A thread of the parent waits: the child has only the frame in which it waited.
TEST(fork_beside_a_wait, wakes_no_thread_of_the_parent) {
  nopal::stop_workers(); // which wait, too
  const auto waiting = [] { return nopal::vproc::idle.waiting.look().number(); };
  const std::uint32_t before = waiting();
  nopal::channel<int> values;
  std::thread other{[&] {
    for (const int each : values)
      static_cast<void>(each);
  }};
  while (waiting() == before)
    std::this_thread::yield();
  const ended how = nopal_test::in_child([&] {
    values.send(1);
    return 0;
  });
  EXPECT_TRUE(is_told(how)) << how;
  values.send(1);
  values.close();
  other.join();
}

} // namespace
