// SPDX-License-Identifier: MIT
// The next step of a vproc: the types of what a search for work finds (steal.h).
#pragma once

#include "nopal/config.h"
#include "nopal/join/join.h"
#include "nopal/vproc/fiber.h"
#include "nopal/vproc/group.h"
#include "nopal/vproc/worker.h"

#include <variant>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

using join::fork_record;
using join::scope_frame;
using vproc::fiber;
using vproc::group;
using vproc::signal;
using vproc::worker;

struct stolen {
  fork_record::frame_type* continuation;
  vproc::group* group;
};
struct joined { // all strands of a scope have arrived at its join
  scope_frame* main_path;
  vproc::group* group;
};
struct finished_root { // the group that this thread waits for has finished
  scope_frame* scope;
};
struct pool_ended {}; // this pool thread ends
using next_step = std::variant<stolen, joined, finished_root, fiber*, pool_ended>;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
