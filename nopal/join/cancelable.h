// SPDX-License-Identifier: MIT
// What can be cancelled: a node of the cancellation tree (nopal/cancel.h).
//
// Contract:  a node is cancelled, for ever, as soon as it or a node above it is marked. A thread
//            that finds a node marked (`cancelled` returns true, or `mark` false) sees what the
//            canceller did before it marked that node. The nodes above must live as long.
// Ownership: any thread marks and asks.
// Orders:    those of base/flag.h. The order S of signal_word.h tells the strands in time.
// Paper: manticore-icfp08, section 6.1.
#pragma once

#include "nopal/base/flag.h"
#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::join {

class cancelable {
public:
  explicit cancelable(const cancelable* above = nullptr) noexcept : above_{above} {}
  cancelable(const cancelable&) = delete;
  cancelable& operator=(const cancelable&) = delete;

  // True: this call is the first.
  bool mark() noexcept { return marked_.take(); }
  bool marked() const noexcept { return marked_.taken(); }
  bool cancelled() const noexcept {
    const cancelable* node = this;
    while (node != nullptr && !node->marked())
      node = node->above_;
    return node != nullptr;
  }

private:
  const cancelable* const above_;
  base::flag marked_;
};

} // namespace nopal::inline NOPAL_ABI::join
NOPAL_HIDDEN_END
