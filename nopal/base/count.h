// SPDX-License-Identifier: MIT
// The present number of things of a kind, changed and read by any thread: guards against
// preemption, blocked threads, cancelled nodes.
//
// Orders:
//   B  add: fetch_add seq_cst; number: load seq_cst. The count of what is cancelled (sched/stop.h)
//      needs this: a canceller calls `add` and then loads the number of vprocs (vproc/table.cc); a
//      thread that makes a vproc stores that number and then calls `number`. So one of the two sees
//      the other. Other counts need no order, and pay nothing for it: on x86-64 each fetch_add is a
//      full fence, and a seq_cst load is a plain one.
//   subtract: relaxed. A count that is read too high costs a look in vain.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

class count {
public:
  void add(std::uint32_t times = 1) noexcept { number_.fetch_add(times, base::seq_cst); } // B
  void subtract(std::uint32_t times = 1) noexcept { number_.fetch_sub(times, base::relaxed); }
  std::uint32_t number() const noexcept { return number_.load(base::seq_cst); } // B
  bool any() const noexcept { return number() != 0; }

private:
  atomic<std::uint32_t> number_{0};
};

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
NOPAL_HIDDEN_END
