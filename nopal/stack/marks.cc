// SPDX-License-Identifier: MIT
//
// Searching the mark map, eight marks at a time where none is set.
#include "nopal/stack/marks.h"

namespace nopal::stack {

std::uintptr_t marks::highest(std::uintptr_t from, std::uintptr_t to) noexcept {
  const std::uintptr_t slot = from & ~(slot_bytes - 1);
  const mark* const map = reinterpret_cast<const mark*>(slot);
  const std::size_t begin = (from - slot) >> mark_shift;
  std::size_t end = ((to - 1 - slot) >> mark_shift) + 1;
  while (end > begin) {
    if (end % 8 == 0 && end - begin >= 8 && base::all_zero_8(map + end - 8)) {
      end -= 8;
      continue;
    }
    const std::uint8_t value = map[--end].load(base::acquire); // M
    const std::uintptr_t at = slot + (end << mark_shift) + (value & 0x38u);
    if (value != 0 && at < to)
      return at;
  }
  return 0;
}

} // namespace nopal::stack
