// SPDX-License-Identifier: MIT
// A std::stop_callback lies in the frame of a strand, and a cousin that cancelled the scope looked
// for it in its own frames: the program died. The callbacks of one token refer to each other, too.
// So it was where a task_group lay in a frame, or what was submitted referred to one.
#include "nopal/blocking.h"
#include "nopal/cancel.h"
#include "nopal/cancelable.h"
#include "nopal/fiber.h"
#include "nopal/fork.h"
#include "nopal/runtime.h"
#include "nopal/semaphore.h"
#include "nopal/submit.h"
#include "nopal/task_group.h"
#include "tests/api/support.h"

#include <gtest/gtest.h>

#include <aio.h>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <fcntl.h>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <unistd.h>

namespace nopal_test {
namespace {

constexpr int rounds = 30, children = 8;

// Frames of cousins begin at other addresses, or at the same.
template <class Body> [[gnu::noinline]] void below(int bytes, Body body) {
  auto* const room = static_cast<volatile char*>(__builtin_alloca(static_cast<std::size_t>(bytes)));
  room[0] = 0;
  body();
}

// Where strands say that they have callbacks, and that these were called.
struct meeting {
  nopal::semaphore here{0};
  std::atomic<int> ready{0}, told{0};

  void wait_for(int number) {
    while (number-- > 0)
      here.acquire();
  }
};

// The strand has a callback, and waits until that was called.
[[gnu::noinline]] void wait_with_callback(const std::stop_token& token, meeting& all) {
  nopal::semaphore called{0};
  int mine = 0;
  const std::stop_callback tells{token, [&called, &mine] {
                                   mine = 1;
                                   called.release();
                                 }};
  ++all.ready;
  all.here.release();
  nopal::shielded([&called] { called.acquire(); });
  all.told += mine;
}

// A scope of a strand, which a sibling of that cancels from above.
bool of_a_scope_that_a_sibling_cancels() {
  meeting all;
  for (int round = 0; round < rounds; ++round) {
    nopal::cancel_scope outer;
    outer.fork([&] {
      below(3000, [&] {
        nopal::cancel_scope inner;
        const std::stop_token token = inner.token();
        const std::stop_callback between{token, [] {}};
        inner.fork([&, token] { wait_with_callback(token, all); });
        wait_with_callback(token, all);
        static_cast<void>(inner.try_join());
      });
    });
    outer.fork([&] {
      all.wait_for(2);
      outer.cancel();
    });
    static_cast<void>(outer.try_join());
  }
  return all.told == 2 * rounds;
}

// Children copy the token of the scope.
bool of_one_token_in_many_strands() {
  meeting all;
  for (int round = 0; round < rounds; ++round) {
    nopal::cancel_scope s;
    const std::stop_token token = s.token();
    for (int i = 0; i < children; ++i)
      s.fork([&, token, i] { below(i % 3 * 5000 + 16, [&] { wait_with_callback(token, all); }); });
    all.wait_for(children);
    s.cancel();
    static_cast<void>(s.try_join());
  }
  return all.told == children * rounds;
}

// Those that begin too late call their callbacks themselves, or are not begun.
bool of_a_scope_with_a_deadline() {
  for (int round = 0; round < rounds; ++round) {
    meeting all;
    nopal::cancel_scope s{std::chrono::milliseconds{2}};
    const std::stop_token token = s.token();
    for (int i = 0; i < children; ++i)
      s.fork([&, token] { wait_with_callback(token, all); });
    static_cast<void>(s.try_join());
    if (all.told != all.ready)
      return false;
  }
  return true;
}

bool of_a_wait_of_the_library() {
  for (int round = 0; round < rounds; ++round) {
    std::mutex lock;
    std::condition_variable_any never;
    nopal::semaphore ready{0};
    nopal::cancel_scope s;
    const std::stop_token token = s.token();
    s.fork([&, token] {
      std::unique_lock guard{lock};
      ready.release();
      nopal::blocking([&] { never.wait(guard, token, [] { return false; }); });
    });
    ready.acquire();
    {
      const std::lock_guard guard{lock};
    }
    s.cancel();
    static_cast<void>(s.try_join());
  }
  return true;
}

bool of_a_cancelable_and_its_fibers() {
  meeting all;
  for (int round = 0; round < rounds; ++round) {
    nopal::cancelable node;
    const std::stop_token token = node.token();
    nopal::run([&] {
      for (int i = 0; i < children; ++i)
        nopal::spawn(node, [&, token] { wait_with_callback(token, all); });
      all.wait_for(children);
      node.cancel();
    });
  }
  return all.told == children * rounds;
}

// The program's own source, which a thread that runs no strands asks to stop.
bool of_a_source_of_the_program() {
  meeting all;
  for (int round = 0; round < rounds; ++round) {
    std::stop_source source;
    nopal::cancel_scope s{source.get_token()};
    for (int i = 0; i < children; ++i)
      s.fork([&] { wait_with_callback(source.get_token(), all); });
    std::thread{[&] {
      all.wait_for(children);
      source.request_stop();
    }}.join();
    static_cast<void>(s.try_join());
    static_cast<void>(s.token());
  }
  return all.told == children * rounds;
}

// A callback cancels another scope, and one destroys itself.
bool that_do_more() {
  meeting all;
  for (int round = 0; round < rounds; ++round) {
    nopal::cancel_scope first, second;
    first.fork([&, token = first.token()] { wait_with_callback(token, all); });
    second.fork([&, token = second.token()] { wait_with_callback(token, all); });
    std::optional<std::stop_callback<std::function<void()>>> itself;
    const std::stop_callback cancels{first.token(), [&] { second.cancel(); }};
    itself.emplace(first.token(), [&] {
      ++all.told;
      itself.reset();
    });
    all.wait_for(2);
    first.cancel();
    static_cast<void>(second.try_join());
    static_cast<void>(first.try_join());
  }
  return all.told == 3 * rounds;
}

bool submit_work() {
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> sum{0};
    nopal::scope s;
    for (int i = 0; i < children; ++i)
      s.fork([&sum, i] {
        below(i % 3 * 5000 + 16, [&sum, i] {
          int own = 0;
          nopal::task_group tasks;
          const nopal::task_node first = tasks.add_node([&own, i] { own += i; });
          tasks.add_after({first}, [&own, i] { own += i; });
          tasks.wait();
          nopal::submit([&own, i] { own += i; }).get();
          sum += own;
        });
      });
    s.join();
    if (sum != 3 * children * (children - 1) / 2)
      return false;
  }
  return true;
}

// Threads of the C library serve requests of all, which lie in frames, and wake who waits there.
bool read_files_beside() {
  std::atomic<int> right{0};
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  for (int round = 0; round < rounds; ++round) {
    nopal::scope s;
    for (int i = 0; i < children; ++i)
      s.fork([&right, file, i] {
        below(i % 3 * 5000 + 16, [&right, file] {
          char text[4] = {};
          aiocb wanted{};
          wanted.aio_fildes = file;
          wanted.aio_buf = text;
          wanted.aio_nbytes = sizeof text;
          const aiocb* const all[] = {&wanted};
          if (aio_read(&wanted) != 0)
            return;
          while (aio_error(&wanted) == EINPROGRESS)
            aio_suspend(all, 1, nullptr);
          right += aio_return(&wanted) == sizeof text && text[1] == 'E' ? 1 : 0;
        });
      });
    s.join();
  }
  close(file);
  return right == rounds * children;
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

TEST(mapped_cousins, call_callbacks_of_a_scope_that_a_sibling_cancels) {
  everywhere(of_a_scope_that_a_sibling_cancels);
}
TEST(mapped_cousins, call_callbacks_of_one_token_in_many_strands) {
  everywhere(of_one_token_in_many_strands);
}
TEST(mapped_cousins, call_callbacks_of_a_scope_with_a_deadline) {
  everywhere(of_a_scope_with_a_deadline);
}
TEST(mapped_cousins, call_callbacks_of_a_wait_of_the_library) {
  everywhere(of_a_wait_of_the_library);
}
TEST(mapped_cousins, call_callbacks_of_a_cancelable_and_its_fibers) {
  everywhere(of_a_cancelable_and_its_fibers);
}
TEST(mapped_cousins, call_callbacks_of_a_source_of_the_program) {
  everywhere(of_a_source_of_the_program);
}
TEST(mapped_cousins, call_callbacks_that_do_more) { everywhere(that_do_more); }
TEST(mapped_cousins, read_files_beside) { everywhere(read_files_beside); }
TEST(mapped_cousins, submit_work) { everywhere(submit_work); }

} // namespace
} // namespace nopal_test
