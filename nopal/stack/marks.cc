// SPDX-License-Identifier: MIT
//
// The walk over a stack's words.
#include "nopal/stack/marks.h"

#include "nopal/base/os.h"
#include "nopal/base/sanitizer.h"

#include <algorithm>

namespace nopal::stack {

namespace {

using word = std::uintptr_t;

// Below so much of a stack, pages are asked for before they are read: deeper frames have long
// returned or were never there, and reading would give every page of the stack a mapping.
constexpr word kAlwaysThere = word{16} << 10;
constexpr word kPagesAtOnce = word{64} << 10;

bool any_memory(word from, word to) noexcept {
  const word page = base::page_size();
  const word low = from & ~(page - 1);
  const word high = (to + page - 1) & ~(page - 1);
  return base::resident_pages(reinterpret_cast<void*>(low), high - low) != 0;
}

} // namespace

NOPAL_READS_FRAMES word marks::highest_in(word from, word to) noexcept {
  while (to > from) {
    to -= sizeof(word);
    if (is_mark(to, base::load_relaxed_word(to))) [[unlikely]] {
      base::acquire_what_was_read(); // M
      return to;
    }
  }
  return 0;
}

NOPAL_READS_FRAMES bool marks::claim(word at) noexcept {
  const base::reading_frames reading;
  const word claimed = open_mark(at) & ~kClaim;
  word found = open_mark(at);
  return base::replace_word(at, found, claimed) || found == claimed;
}

NOPAL_READS_FRAMES bool marks::claimed(word at) noexcept {
  const base::reading_frames reading;
  return base::load_relaxed_word(at) == (open_mark(at) & ~kClaim);
}

word marks::highest(word from, word to) noexcept {
  const base::reading_frames reading;
  // Whole pages, or the one that was just read would count as memory of the part below.
  const word page = base::page_size();
  word low = std::max(from, (to - std::min(to - from, kAlwaysThere)) & ~(page - 1));
  word found = highest_in(low, to);
  while (found == 0 && low > from) {
    to = low;
    low = to - std::min(to - from, kPagesAtOnce);
    if (any_memory(low, to))
      found = highest_in(low, to);
    else if (!any_memory(from, to))
      break; // nothing was ever so deep; else it is the untouched middle of a large frame
  }
  return found;
}

} // namespace nopal::stack
