// SPDX-License-Identifier: MIT
// The hand-over between a process and its twin.
#include "nopal/mapped/twin.h"

#include "nopal/arch/mapped.h"
#include "nopal/mapped/own.h"
#include "nopal/mapped/sharing.h"

#include <linux/futex.h>
#include <sys/syscall.h>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {

void twin::change_to(std::uint32_t state) noexcept {
  state_.store(state, base::release);
  raw(SYS_futex, &state_, FUTEX_WAKE, 1);
}

void twin::wait_for(std::uint32_t state) noexcept {
  for (std::uint32_t now; (now = state_.load(base::acquire)) != state;)
    raw(SYS_futex, &state_, FUTEX_WAIT, now, nullptr);
}

void twin::serve() noexcept {
  raw(SYS_set_tid_address, &thread_id_);
  raw(SYS_set_robust_list, nullptr, 24);
  for (;;) {
    wait_for(asked);
    result_ = function_(data_);
    change_to(answered);
  }
}

long twin::ask(long (*function)(void*), void* data, std::size_t size) noexcept {
  for (unsigned tries = 1; busy_.exchange(1, base::acquire) != 0; ++tries)
    base::wait_briefly(tries);
  function_ = function;
  std::memcpy(data_, data, size);
  change_to(asked);
  wait_for(answered);
  std::memcpy(data, data_, size);
  const long result = result_;
  state_.store(idle, base::relaxed);
  busy_.store(0, base::release);
  return result;
}

void twin::dismiss() noexcept {
  function_ = [](void*) { return raw(SYS_exit, 0); };
  change_to(asked);
}

long in_first_process(long (*function)(void*), void* data, std::size_t size) noexcept {
  if (own().is_first)
    return function(data);
  return own().partner->ask(function, data, size);
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
