// SPDX-License-Identifier: MIT
// A process's twin: a thread of the first process that makes system calls in that one's name. Some
// belong to a process: whose children are waited for, whose timers run, who exits.
//
//   asker   writes function_ and data_, stores asked, sleeps until answered, reads data_
//   twin    sleeps until asked, calls function_(data_), stores answered
//
// A twin runs on a stack of its own, and touches no thread-local variable: it has the control block
// of its process's thread.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstddef>
#include <cstring>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {

class twin {
public:
  static constexpr std::size_t bytes = std::size_t{64} << 10; // with its stack
  static constexpr std::size_t most_data = 1024;

  void* stack_top() noexcept { return reinterpret_cast<std::byte*>(this) + bytes; }
  // In the thread that is the twin.
  [[noreturn]] void serve() noexcept;
  // The thread has ended.
  bool is_gone() const noexcept { return thread_id_.load(base::acquire) == 0; }
  // Before a thread begins to serve.
  void set_expected() noexcept {
    state_.store(idle, base::relaxed);
    dependents.store(0, base::relaxed);
    thread_id_.store(1, base::release);
  }

  // For one thread of the process at a time. The data are copied, as the twin does not see the
  // caller's stack.
  long ask(long (*function)(void*), void* data, std::size_t size) noexcept;
  // The last request: the twin ends.
  void dismiss() noexcept;
  // Processes that this one has made are children of its twin, and die with it.
  base::atomic<unsigned> dependents{0};

private:
  static constexpr std::uint32_t idle = 0, asked = 1, answered = 2;
  void change_to(std::uint32_t state) noexcept;
  void wait_for(std::uint32_t state) noexcept;

  base::atomic<std::uint32_t> state_{idle};
  base::atomic<std::uint32_t> busy_{0}; // another thread of the process asks
  base::atomic<int> thread_id_{0};      // the kernel stores 0
  long (*function_)(void*) = nullptr;
  long result_ = 0;
  alignas(16) std::byte data_[most_data]{};
};

// Calls function(data) in the first process.
long in_first_process(long (*function)(void*), void* data, std::size_t size) noexcept;
template <class Data> long in_first_process(long (*function)(Data&), Data& data) noexcept {
  static_assert(sizeof(Data) + sizeof function <= twin::most_data);
  struct both {
    long (*function)(Data&);
    Data data;
  } sent{function, data};
  const long result = in_first_process(
      [](void* at) {
        both& received = *static_cast<both*>(at);
        return received.function(received.data);
      },
      &sent, sizeof sent);
  data = sent.data;
  return result;
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
NOPAL_HIDDEN_END
