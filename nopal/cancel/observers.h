// SPDX-License-Identifier: MIT
// Stop tokens that observe regions and other nodes: their callbacks run when one of these is
// cancelled (nopal/cancel.h). An observer is placed below the innermost of them (join/descent.h).
#pragma once

#include "nopal/config.h"
#include "nopal/fibers/waits.h"
#include "nopal/join/cancelable.h"
#include "nopal/vproc/cancel_node.h"

#include <algorithm>
#include <memory>
#include <stop_token>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::cancel {

// The stop that an observer is to request. Cancellers share it, and may keep it longer than the
// observer lives.
class stop_request {
public:
  std::stop_token token() const noexcept { return source_.get_token(); }
  bool begun() const noexcept { return source_.stop_requested(); }
  // A stop was requested when this returns; to the first caller after the callbacks were called.
  void make() noexcept {
    if (source_.request_stop())
      called_.happen();
  }
  // Returns when the callbacks were called. Precondition: somebody has called `make`.
  void wait() noexcept { called_.wait_on(); }

private:
  std::stop_source source_;
  fibers::event called_;
};

// A stop is requested of its token when one of its nodes is cancelled: by the canceller, after it
// has told the strands, or by a strand that relies on it and was faster.
class observer : public join::descendant, public vproc::cancel_node::teller {
public:
  // `innermost` is placed.
  observer(join::ancestor* innermost, std::vector<const join::cancelable*> nodes);
  ~observer() { remove(); }

  std::stop_token token() const noexcept { return request_->token(); }
  // Null: none of its nodes is cancelled, or somebody requests the stop already.
  std::shared_ptr<stop_request> due() const {
    return !request_->begun() && concerns_it() ? request_ : nullptr;
  }
  // If one of its nodes is cancelled, a stop was requested when this returns. `settle` returns when
  // the callbacks were called, too; no callback may call it.
  void tell() const noexcept;
  void settle() const noexcept;

private:
  bool concerns_it() const noexcept {
    return std::ranges::any_of(nodes_, [](const auto* node) { return node->cancelled(); });
  }

  const std::vector<const join::cancelable*> nodes_;
  const std::shared_ptr<stop_request> request_ = std::make_shared<stop_request>();
};

// The regions and other nodes that would stop the calling strand if they were cancelled, the
// innermost first.
std::vector<const join::cancelable*> enclosing_nodes();

} // namespace nopal::inline NOPAL_ABI::cancel
NOPAL_HIDDEN_END
