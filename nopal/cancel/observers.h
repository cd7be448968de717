// SPDX-License-Identifier: MIT
// Stop tokens that observe nodes: their callbacks run when one of the nodes is cancelled
// (nopal/cancel.h).
#pragma once

#include "nopal/config.h"
#include "nopal/join/cancelable.h"

#include <stop_token>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::cancel {

// Requests a stop of its source when one of its nodes is cancelled.
class observer {
public:
  explicit observer(std::vector<const join::cancelable*> nodes);
  ~observer();
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;

  std::stop_token token() const noexcept { return source_.get_token(); }

private:
  bool cancelled() const noexcept;

  const std::vector<const join::cancelable*> nodes_;
  std::stop_source source_;
  observer* next_;
  observer** before_;

  friend void tell_observers();
};

// Called after a node was marked. Runs the callbacks of tokens.
void tell_observers();

} // namespace nopal::inline NOPAL_ABI::cancel
NOPAL_HIDDEN_END
