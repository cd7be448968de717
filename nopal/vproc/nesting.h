// SPDX-License-Identifier: MIT
//
// Which scope a strand runs in, for strategies that ask for a frame's ancestors; nothing otherwise.
//
// A worker's `innermost` is the scope whose child it runs, or whose main path it has stolen,
// whichever is nearest. A scope's parent is the innermost one when it forks first.
#pragma once

#include "nopal/vproc/worker.h"

namespace nopal::vproc {

#if NOPAL_TRACK_ANCESTORS
// Lives in a thunk while its child runs.
class nesting {
public:
  [[gnu::always_inline]] nesting(worker* self, join::scope_frame* scope) noexcept
      : before_{self->innermost} {
    if (before_ == scope) // its main path was stolen: the scope knows its parent
      return;
    scope->above.parent = before_;
    scope->above.depth = before_ == nullptr ? 0 : before_->above.depth + 1;
    if (is_worker(self))
      self->innermost = scope;
  }
  [[gnu::always_inline]] ~nesting() {
    worker* const self = arch::current(); // perhaps another than the child began with
    if (is_worker(self))
      self->innermost = before_;
  }
  nesting(const nesting&) = delete;
  nesting& operator=(const nesting&) = delete;

private:
  join::scope_frame* before_;
};
#else
class nesting {
public:
  [[gnu::always_inline]] nesting(worker*, join::scope_frame*) noexcept {}
};
#endif

} // namespace nopal::vproc
