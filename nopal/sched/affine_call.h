// SPDX-License-Identifier: MIT
// Affine calls that begin no region (groups.h) unless their strand leaves its thread.
//
// A region costs as much as a steal, and most calls are not stolen from. So the call is noted on
// its vproc (vproc/affine_note.h). Before a strand leaves the thread, the innermost call that is
// noted there binds the vproc to a group of its own, in which nothing else runs: the thread waits,
// and lends its place if it sleeps (spares.h). The call's strand keeps its group, and goes on on
// any vproc. Where it ends on another one, it is enqueued on the vproc that waits.
#pragma once

#include "nopal/config.h"
#include "nopal/vproc/affine_note.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

class affine_call {
public:
  // Whether the calling strand may begin one: its vproc is not within an arena or below an action.
  // None may in check builds, whose checks know the frames of a thread by their strand.
  static bool possible() noexcept;

  affine_call() noexcept
      : note_{vproc::current()->host->affine, vproc::current()->host, vproc::current()->group} {
    note_.home->affine = &note_;
  }
  affine_call(const affine_call&) = delete;
  affine_call& operator=(const affine_call&) = delete;

  // Called once, where the call's function has returned or thrown. Returns on the thread that has
  // begun the call.
  void end() noexcept {
    if (note_.own != nullptr || vproc::current()->host != note_.home) [[unlikely]]
      come_back();
    note_.home->affine = note_.outer;
  }

private:
  void come_back() noexcept;

  vproc::affine_note note_;
};

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
