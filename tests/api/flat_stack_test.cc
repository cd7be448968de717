// SPDX-License-Identifier: MIT
// A join never runs foreign work on top of the frame that waits. The tests rewrite the programs of
// the reports rayon #592 and #1174 and Halide #9377: a scheduler that runs foreign work there
// deadlocks or overflows a stack. Here they end, and no stack is deeper than its own strand needs.
#include "nopal/affine.h"
#include "nopal/loop.h"
#include "nopal/stack/stack.h"
#include "tests/api/checking_mutex.h"
#include "tests/api/support.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

const start this_program{4};

// Notes how far below its stack's top a thread is, if the stack is one of Nopal's.
class depth_meter {
public:
  void note() noexcept {
    char local;
    const auto at = reinterpret_cast<std::uintptr_t>(&local);
    if (!nopal::stack::is_ours(at))
      return;
    const std::size_t depth = nopal::stack::top(nopal::stack::stack_of(at)) - at;
    std::size_t most = most_.load();
    while (depth > most && !most_.compare_exchange_weak(most, depth)) {
    }
  }
  std::size_t most() const noexcept { return most_; }

private:
  std::atomic<std::size_t> most_{0};
};

// Room for the frames of one strand: some levels of the loop's tree, a body and its calls. The
// bodies of many iterations on top of each other would take far more.
constexpr std::size_t kFlat = std::size_t{48} << 10;

// Yields until the count is `least`, or 200 times: that only makes the order likely that is wanted.
void wait_a_while(const std::atomic<int>& count, int least) {
  for (int i = 0; i < 200 && count < least; ++i)
    std::this_thread::yield();
}

// Halide #9377: each iteration of a parallel loop runs a parallel loop of two iterations. While one
// of the two runs on another thread, the thread of the other starts a further outer iteration.
TEST(flat_stack, nested_loops) {
  for (const int count : {100, 20000}) {
    depth_meter depth;
    std::atomic<int> begun{0};
    std::atomic<int> ended{0};
    nopal::for_index(
        0, count,
        [&](int) {
          char frame[1024]; // what an outer iteration needs
          std::fill(std::begin(frame), std::end(frame), 'x');
          const int mine = ++begun;
          nopal::for_index(
              0, 2,
              [&](int inner) {
                depth.note();
                if (inner == 1)
                  wait_a_while(begun, std::min(mine + 1, count));
              },
              1);
          ended += frame[1023] == 'x' ? 1 : 0;
        },
        1);
    EXPECT_EQ(ended, count);
    EXPECT_LT(depth.most(), kFlat);
  }
}

// rayon #592: a thread holds a mutex while a parallel loop runs. While it waits for that loop, it
// starts another iteration of the outer loop, which locks the same mutex.
TEST(flat_stack, a_mutex_held_across_a_parallel_loop) {
  std::mutex mutex;
  depth_meter depth;
  long total = 0;
  nopal::for_index(
      0, 1000,
      [&](int) {
        const std::lock_guard guard{mutex};
        total += nopal::affine([&depth] {
          return nopal::reduce(
              0, 16, 0L, std::plus<>{},
              [&depth](int i) {
                depth.note();
                return static_cast<long>(i);
              },
              1);
        });
      },
      1);
  EXPECT_EQ(total, 1000L * 120);
  EXPECT_LT(depth.most(), kFlat);
}

// rayon #1174: the jobs of a library call another library, which locks its device and then works in
// parallel, in as many pieces as there are workers.
class device {
public:
  // Returns 0, or the mutex's error.
  int call(std::vector<long>& registers) {
    if (const int error = mutex_.lock())
      return error;
    nopal::affine([&registers] { nopal::for_each(registers, [](long& each) { ++each; }, 1); });
    return mutex_.unlock();
  }

private:
  checking_mutex mutex_;
};

TEST(flat_stack, jobs_that_call_a_locked_device) {
  device driver;
  std::vector<long> registers(nopal::num_workers());
  std::atomic<int> errors{0};
  depth_meter depth;
  nopal::for_index(
      0, 500,
      [&](int) {
        nopal::for_index(0, 8, [&](int) { depth.note(); }, 1);
        errors += driver.call(registers) == 0 ? 0 : 1;
        nopal::for_index(0, 8, [&](int) { depth.note(); }, 1);
      },
      1);
  EXPECT_EQ(errors, 0);
  for (const long each : registers)
    EXPECT_EQ(each, 500);
  EXPECT_LT(depth.most(), kFlat);
}

[[gnu::noinline]] std::uintptr_t callers_stack_pointer() {
  asm volatile(""); // for compilers the call has the same result each time
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) + 2 * sizeof(void*);
}

// Of outgoing arguments, that is; where the compiler places other locals, they take no room there.
TEST(flat_stack, a_thief_leaves_the_area_below_the_scope_free_and_little_more) {
  gate stolen;
  nopal::scope s;
  const std::uintptr_t before = callers_stack_pointer();
  s.fork([&stolen] { stolen.wait(); });
  const std::uintptr_t after = callers_stack_pointer();
  const std::uintptr_t top = nopal::stack::frames_top(nopal::stack::stack_of(after));
  stolen.open();
  s.join();
  const std::uintptr_t area = reinterpret_cast<std::uintptr_t>(&s) - before;
  EXPECT_GE(top - after, area);
  EXPECT_LT(top - after, area + nopal::arch::alignment);
}

} // namespace
} // namespace nopal_test
