// SPDX-License-Identifier: MIT
// Parts of the address space with what is known of them, in shared memory. The lists are short.
#pragma once

#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/mapped/ranges.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::mapped {

class piece_map {
public:
  // Precondition: no piece overlaps it.
  void add(std::uintptr_t at, std::size_t bytes, std::uintptr_t image) noexcept {
    piece* const made = spares.take();
    const base::locked guard{lock_};
    *made = {first_, at, at + bytes, image};
    first_ = made;
  }

  // The place in the image of the piece that holds this address; 0: there is none.
  std::uintptr_t image_of(std::uintptr_t at) noexcept {
    const base::locked guard{lock_};
    for (const piece* each = first_; each != nullptr; each = each->next)
      if (at >= each->at && at < each->end)
        return each->image + (at - each->at);
    return 0;
  }

  template <class Question> bool any(Question question) noexcept {
    const base::locked guard{lock_};
    for (const piece* each = first_; each != nullptr; each = each->next)
      if (question(*each))
        return true;
    return false;
  }

  // Takes [at, at + bytes) out, and calls visit(piece) for each part of a piece that lay there.
  template <class Visit> void cut(std::uintptr_t at, std::size_t bytes, Visit visit) noexcept {
    for (piece* out = cut_out(at, at + bytes); out != nullptr;) {
      piece* const next = out->next;
      visit(*out);
      spares.give(out);
      out = next;
    }
  }

  base::spin_lock& lock() noexcept { return lock_; }

private:
  piece* cut_out(std::uintptr_t at, std::uintptr_t end) noexcept;

  base::spin_lock lock_;
  piece* first_ = nullptr;
};

// Parts of the arena that are mapped again elsewhere: the image is the part's address.
inline constinit piece_map images;
// Parts of shared memory that the program may not read or not write now.
inline constinit piece_map forbidden;

} // namespace nopal::mapped
NOPAL_HIDDEN_END
