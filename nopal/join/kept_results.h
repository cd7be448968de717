// SPDX-License-Identifier: MIT
// Check builds hide each child's result until the join. A program that reads a result earlier would
// be right as long as no thief comes. So from the child's end to the join AddressSanitizer reports
// each read of the variable (use-after-poison). Without AddressSanitizer, or if other variables
// share its eight bytes, the variable holds other bytes meanwhile.
//
// Ownership: children that end, at the same time, push nodes to `first_`; after the join the main
//            path takes them all. A node belongs to the child that made it, then to the main path.
// Order: K  keep: CAS release; give_out: exchange acquire. The join orders all of them, too.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/check.h"
#include "nopal/base/sanitizer.h"
#include "nopal/config.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::join {

class kept_results {
public:
  // The child's last step. Nobody may read these bytes before the join.
  void keep(void* at, std::size_t bytes) noexcept {
    const bool hidden = base::hide_object(at, bytes);
    auto* const made = static_cast<node*>(std::malloc(sizeof(node) + (hidden ? 0 : bytes)));
    NOPAL_ASSERT(made != nullptr, "out of memory while keeping a child's result for its join");
    *made = {first_.load(base::relaxed), at, bytes, hidden};
    if (!hidden) {
      std::memcpy(made + 1, at, bytes);
      std::memset(at, unread, bytes);
    }
    while (!first_.compare_exchange_weak(made->next, made, base::release, base::relaxed)) // K
      ;
  }

  // The main path, after its join.
  void give_out() noexcept {
    node* next = nullptr;
    for (node* each = first_.exchange(nullptr, base::acquire); each != nullptr; each = next) { // K
      next = each->next;
      if (each->hidden)
        base::reveal_object(each->at, each->bytes);
      else
        std::memcpy(each->at, each + 1, each->bytes);
      std::free(each);
    }
  }

private:
  static constexpr int unread = 0xdb;

  struct node { // behind it lies the result, unless it is hidden
    node* next;
    void* at;
    std::size_t bytes;
    bool hidden;
  };
  base::atomic<node*> first_{nullptr};
};

} // namespace nopal::inline NOPAL_ABI::join
NOPAL_HIDDEN_END
