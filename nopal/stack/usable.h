// SPDX-License-Identifier: MIT
// Which stacks of a range have memory. A stack has its number before the kernel has given it
// memory, and who looks at all stacks (sched/park.cc) must not read one that has none yet.
//
// Orders:
//   U  set: store release, by who has made the stack. Partner: the acquire of `has`. Who uses the
//      stack after that, and then passes a full fence, is seen by who passes one before `has`.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/growing.h"
#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::stack {

class usable_stacks {
public:
  // False: the addresses are refused.
  bool open(std::size_t stacks) noexcept { return flags_.open(stacks); }
  // Before `set`. False: there is no memory for the table.
  bool reach(std::uint32_t number) noexcept { return flags_.reach(number + 1); }
  void set(std::uint32_t number) noexcept { flag(number).store(1, base::release); } // U
  bool has(std::uint32_t number) const noexcept {
    return flags_.holds(number + 1) && flag(number).load(base::acquire) != 0; // U
  }

private:
  base::atomic<unsigned char>& flag(std::uint32_t number) const noexcept {
    return static_cast<base::atomic<unsigned char>*>(flags_.start())[number];
  }

  base::growing flags_;
};

} // namespace nopal::stack
NOPAL_HIDDEN_END
