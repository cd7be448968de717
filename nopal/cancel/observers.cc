// SPDX-License-Identifier: MIT
// How an observer begins. The linker takes this file from the library where a program asks a scope
// or a cancelable for its token: callbacks of tokens lie in frames, and refer to each other.
#include "nopal/cancel/observers.h"

#include "nopal/sched/ancestry.h"
#include "nopal/stack/plain.h"

#include <utility>

namespace nopal::inline NOPAL_ABI::cancel {

observer::observer(join::ancestor* innermost, std::vector<const join::cancelable*> nodes)
    : join::descendant{kind::observer},
      teller{[](const teller* asked) noexcept { static_cast<const observer*>(asked)->tell(); }},
      nodes_{std::move(nodes)} {
  stack::need_plain_stacks();
  place(innermost);
  // After it was placed: a canceller marks its node before it looks below, so the mark is seen here
  // or the observer there. Nobody has the token yet, so no callback runs.
  tell();
}

void observer::tell() const noexcept {
  if (const std::shared_ptr<stop_request> kept = due())
    kept->make();
}

void observer::settle() const noexcept {
  if (!concerns_it())
    return;
  request_->make();
  request_->wait();
}

std::vector<const join::cancelable*> enclosing_nodes() {
  return sched::nodes_above(sched::this_strand());
}

} // namespace nopal::inline NOPAL_ABI::cancel
