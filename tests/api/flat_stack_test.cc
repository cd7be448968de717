// SPDX-License-Identifier: MIT
// A join never runs foreign work on top of the frame that waits. Programs with which schedulers
// that do so deadlock or overflow their stacks, rewritten from the reports of rayon #592 and #1174
// and Halide #9377: they end, and no stack is deeper than its own strand needs.
#include "nopal/affine.h"
#include "nopal/loop.h"
#include "nopal/stack/stack.h"
#include "tests/api/support.h"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace nopal_test {
namespace {

const start with{4};

// How far below its stack's top this thread is, if the stack is one of ours.
class depth_meter {
public:
  void note() noexcept {
    char here;
    const auto at = reinterpret_cast<std::uintptr_t>(&here);
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

// Half of the loop's tree, a body and what that calls: far less than a body's frame for each of
// many iterations.
constexpr std::size_t kFlat = std::size_t{48} << 10;

// Gives another thread the time to come to this, but does not insist.
void wait_a_while(const std::atomic<int>& count, int least) {
  for (int i = 0; i < 200 && count < least; ++i)
    std::this_thread::yield();
}

// Halide #9377: a parallel loop in each iteration of a parallel loop. While one inner iteration of
// the pair runs elsewhere, the thread of the other starts another outer iteration.
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

// rayon #592: a mutex is held while a parallel loop runs; who waits for that loop starts another
// iteration of the outer one, which wants the mutex.
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

// rayon #1174: jobs of one library call another one, which locks its device and then works in
// parallel, with as many pieces as there are workers.
class device {
public:
  device() noexcept {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
  ~device() { pthread_mutex_destroy(&mutex_); }
  device(const device&) = delete;
  device& operator=(const device&) = delete;

  // 0, or what the mutex says.
  int call(std::vector<long>& registers) {
    if (const int error = pthread_mutex_lock(&mutex_))
      return error;
    nopal::affine([&registers] { nopal::for_each(registers, [](long& each) { ++each; }, 1); });
    return pthread_mutex_unlock(&mutex_);
  }

private:
  pthread_mutex_t mutex_;
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

} // namespace
} // namespace nopal_test
