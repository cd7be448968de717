// SPDX-License-Identifier: MIT
// A wait that may end because its strand is cancelled, or at a given time.
#pragma once

#include "nopal/config.h"
#include "nopal/join/failure.h"
#include "nopal/sched/park.h"
#include "nopal/stack/stack.h"
#include "nopal/sync/choice.h"
#include "nopal/vproc/action.h"
#include "nopal/vproc/alarms.h"

#include <cstdint>
#include <optional>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::fibers {

using time_point = vproc::alarm::clock::time_point;
inline constexpr time_point never = time_point::max();
inline constexpr time_point at_once = time_point::min(); // does not wait

inline bool has_passed(time_point until) noexcept {
  return until == at_once || (until != never && until <= vproc::alarm::clock::now());
}

// Lies in the frame that calls sched::park_or_stop. That frame stays until the call returns, also
// if the strand is woken before `begin` is: the strand's wait word is held (sync/README.md).
class timed {
public:
  timed(time_point until, sync::wanted kind, const void* at) noexcept
      : until_{until}, decided_{kind, at} {}

  // Called by `enqueue` when others can find the strand; not if it need not wait.
  vproc::signal begin(vproc::fiber* strand) {
    if (until_ != never)
      alarm_.emplace(decided_, sync::choice::timed_out).begin(strand, until_);
    return vproc::signal::stop();
  }
  sync::choice& decided() noexcept { return decided_; }
  // Called after park_or_stop. True: the strand was woken, or need not wait. False: the time came.
  // Throws `cancelled` if the strand is to stop.
  bool end() {
    if (alarm_)
      alarm_->end();
    if (decided_.taken() == sync::choice::cancelled)
      join::throw_cancelled();
    return decided_.taken() != sync::choice::timed_out;
  }

private:
  const time_point until_;
  sync::choice decided_;
  std::optional<vproc::timed_wait> alarm_;
};

// Waits where `add` puts the strand, unless it returns false. Returns and throws what timed::end
// does; but here nothing is left to destroy then, so that unwinding need not stop in this frame.
template <class Add, class Remove>
bool wait_until(time_point until, sync::wanted kind, const void* at, Add add, Remove remove) {
  std::uint32_t taken = 0;
  {
    timed own{until, kind, at};
    timed& waits = stack::seen(own);
    const auto enqueue = [&](vproc::fiber* strand) {
      return add(strand) ? waits.begin(strand) : vproc::signal::enter(strand);
    };
    sched::park_or_stop(waits.decided(), enqueue, remove);
    taken = waits.decided().taken();
  }
  if (taken == sync::choice::cancelled)
    join::throw_cancelled();
  return taken != sync::choice::timed_out;
}

} // namespace nopal::inline NOPAL_ABI::fibers
NOPAL_HIDDEN_END
