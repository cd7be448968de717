// SPDX-License-Identifier: MIT
// Threads that the program has not asked for: how they begin, and get their turns.
#pragma once

#include "nopal/base/die.h"
#include "nopal/base/thread.h"
#include "nopal/config.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// A thread that calls a function. It takes no signals, which are for the program's own threads.
class own_thread {
public:
  own_thread() = default;
  template <class F> explicit own_thread(F f) : calls_{new std::function<void()>(std::move(f))} {
    const auto body = [](void* function) -> void* {
      (*static_cast<const std::function<void()>*>(function))();
      return nullptr;
    };
    if (const int error = base::start_thread(thread_, body, calls_.get(), room); error)
      base::die("cannot start a thread for several processes with %s",
                base::thread_refused{error, room}.text);
  }

  bool joinable() const noexcept { return calls_ != nullptr; }
  void join() {
    pthread_join(thread_, nullptr);
    calls_.reset();
  }

private:
  static constexpr std::size_t room = std::size_t{8} << 20; // MPI and UCX run there

  std::unique_ptr<std::function<void()>> calls_; // null: there is no thread
  pthread_t thread_{};
};

// A thread that asks the scheduler for short turns gets them sooner when it wakes up, also from a
// thread that computes. A kernel before Linux 6.12 knows nothing of that, and nothing changes.
inline void ask_for_short_turns() noexcept {
  struct { // sched_attr of the kernel, whose header the C library's does not go with
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;
  } wanted{};
  wanted.size = sizeof wanted;
  wanted.policy = SCHED_OTHER;
  wanted.runtime = 100'000; // nanoseconds, the least that is accepted
  syscall(SYS_sched_setattr, 0, &wanted, 0);
}

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
