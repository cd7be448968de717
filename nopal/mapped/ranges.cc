// SPDX-License-Identifier: MIT
// First fit by address, with neighbours joined: programs give back what they took last.
#include "nopal/mapped/ranges.h"

#include <algorithm>
#include <utility>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {

piece* spare_pieces::take() noexcept {
  for (;;) {
    {
      const base::locked guard{lock_};
      if (piece* const taken = first_) {
        first_ = taken->next;
        return taken;
      }
    }
    auto* const fresh = reinterpret_cast<piece*>(arena.take(page));
    for (std::size_t i = 0; i < page / sizeof(piece); ++i)
      give(fresh + i);
  }
}

void spare_pieces::give(piece* unused) noexcept {
  const base::locked guard{lock_};
  unused->next = first_;
  first_ = unused;
}

// A part in the middle of a piece is taken out by splitting the piece.
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

void ranges::open(std::uintptr_t from, std::size_t bytes) noexcept {
  from_ = next_ = from;
  bytes_ = bytes;
}

std::uintptr_t ranges::take(std::size_t bytes) noexcept {
  bytes = up(bytes);
  const base::locked guard{lock_};
  for (piece** link = &free_; *link != nullptr; link = &(*link)->next) {
    piece* const found = *link;
    if (found->end - found->at < bytes)
      continue;
    const std::uintptr_t at = found->at;
    found->at += bytes;
    if (found->at == found->end) {
      *link = found->next;
      spares.give(found);
    }
    return at;
  }
  if (bytes > from_ + bytes_ - next_)
    return 0;
  next_ += bytes;
  return next_ - bytes;
}

void ranges::give(std::uintptr_t at, std::size_t bytes) noexcept {
  piece* const fresh = spares.take();
  const base::locked guard{lock_};
  std::uintptr_t end = std::min(at + up(bytes), next_);
  piece** link = &free_;
  while (piece* const found = *link) {
    if (end < found->at)
      break;
    if (found->end < at) {
      link = &found->next;
      continue;
    }
    at = std::min(at, found->at);
    end = std::max(end, found->end);
    *link = found->next;
    spares.give(found);
  }
  if (at >= end || end == next_) {
    if (at < end)
      next_ = at;
    return spares.give(fresh);
  }
  *fresh = {*link, at, end, 0};
  *link = fresh;
}

void ranges::claim(std::uintptr_t at, std::size_t bytes) noexcept {
  piece* const fresh = spares.take();
  piece* spare = fresh;
  const base::locked guard{lock_};
  const std::uintptr_t end = at + up(bytes);
  for (piece** link = &free_; *link != nullptr;) {
    piece* const found = *link;
    if (found->end <= at || found->at >= end) {
      link = &found->next;
    } else if (found->at < at) { // its end, or its middle, is taken
      if (found->end > end) {
        *fresh = {found->next, end, found->end, 0};
        found->next = std::exchange(spare, nullptr);
      }
      found->end = at;
      link = &found->next;
    } else if (found->end > end) {
      found->at = end;
    } else {
      *link = found->next;
      spares.give(found);
    }
  }
  if (end > next_) {
    if (at > next_) { // what lies between is free
      piece** link = &free_;
      while (*link != nullptr)
        link = &(*link)->next;
      *fresh = {nullptr, next_, at, 0};
      *link = std::exchange(spare, nullptr);
    }
    next_ = end;
  }
  if (spare != nullptr)
    spares.give(spare);
}

bool ranges::find_free(std::uintptr_t& at, std::uintptr_t& end) noexcept {
  const base::locked guard{lock_};
  for (const piece* each = free_; each != nullptr; each = each->next)
    if (each->end > at) {
      at = std::max(at, each->at);
      end = each->end;
      return true;
    }
  return false;
}

bool ranges::has_free(std::uintptr_t at, std::size_t bytes) noexcept {
  const base::locked guard{lock_};
  if (at >= next_)
    return hold(at) && bytes <= from_ + bytes_ - at;
  for (const piece* each = free_; each != nullptr; each = each->next)
    if (each->at <= at && at < each->end)
      return at + bytes <= each->end;
  return false;
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
