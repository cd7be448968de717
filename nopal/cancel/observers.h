// SPDX-License-Identifier: MIT
// Stop tokens that observe nodes: their callbacks run when a node is cancelled (nopal/cancel.h).
#pragma once

#include "nopal/config.h"
#include "nopal/join/cancelable.h"

#include <stop_token>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::cancel {

// A stop is requested of the source when one of the nodes is cancelled.
class observer {
public:
  explicit observer(std::vector<const join::cancelable*> of);
  ~observer();
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;

  std::stop_token token() const noexcept { return source_.get_token(); }

private:
  bool cancelled() const noexcept;

  const std::vector<const join::cancelable*> of_;
  std::stop_source source_;
  observer* next_;
  observer** before_;

  friend void tell_observers();
};

// After a node was marked. Runs the callbacks of tokens.
void tell_observers();

} // namespace nopal::inline NOPAL_ABI::cancel
NOPAL_HIDDEN_END
