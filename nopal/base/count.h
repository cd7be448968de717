// SPDX-License-Identifier: MIT
// How many things of a kind there are now, kept by any threads: guards against preemption, threads
// that are blocked, things that are cancelled.
//
// Orders:
//   B  add: fetch_add seq_cst; number: load seq_cst. For the counts of what is cancelled
//      (sched/stop.h): `add`, then a load of how many vprocs there are (vproc/table.cc); a vproc
//      that is made: the store of that, then `number`. All seq_cst: one of the two sees the other.
//      Other counts need no order. They pay nothing for it: on x86-64 each fetch_add is a full
//      fence, and a seq_cst load is a plain one.
//   subtract: relaxed. A count that is read too high costs a look in vain.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::base {

class count {
public:
  void add(std::uint32_t times = 1) noexcept { number_.fetch_add(times, base::seq_cst); } // B
  void subtract(std::uint32_t times = 1) noexcept { number_.fetch_sub(times, base::relaxed); }
  std::uint32_t number() const noexcept { return number_.load(base::seq_cst); } // B
  bool any() const noexcept { return number() != 0; }

private:
  atomic<std::uint32_t> number_{0};
};

} // namespace nopal::base
NOPAL_HIDDEN_END
