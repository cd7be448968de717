// SPDX-License-Identifier: MIT
// A part in the middle of a piece is taken out by splitting the piece.
#include "nopal/mapped/piece_map.h"

namespace nopal::mapped {

piece* piece_map::cut_out(std::uintptr_t at, std::uintptr_t end) noexcept {
  piece* out = nullptr;
  const base::locked guard{lock_};
  const auto split = [](piece* whole, std::uintptr_t place) {
    piece* const rest = spares.take();
    *rest = {whole->next, place, whole->end, whole->image + (place - whole->at)};
    whole->end = place;
    whole->next = rest;
  };
  for (piece** link = &first_; *link != nullptr;) {
    piece* const found = *link;
    if (found->end <= at || found->at >= end) {
      link = &found->next;
      continue;
    }
    if (found->at < at) {
      split(found, at);
      link = &found->next;
      continue;
    }
    if (found->end > end)
      split(found, end);
    *link = found->next;
    found->next = out;
    out = found;
  }
  return out;
}

} // namespace nopal::mapped
