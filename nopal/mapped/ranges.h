// SPDX-License-Identifier: MIT
// Lists of addresses, in shared memory; they grow as they must. A map has parts of the address
// space with what is known of them, and is short. A range knows which of its addresses are free.
#pragma once

#include "nopal/base/spin_lock.h"
#include "nopal/config.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {

inline constexpr std::size_t page = 4096;
constexpr std::size_t up(std::size_t bytes) noexcept { return (bytes + page - 1) & -page; }

// A piece [at, end) of a list; `image` is its owner's, and counts on with the addresses.
struct piece {
  piece* next;
  std::uintptr_t at, end, image;
};

// Pieces that are in no list.
class spare_pieces {
public:
  piece* take() noexcept;
  void give(piece* unused) noexcept;
  constexpr base::spin_lock& lock() noexcept { return lock_; }

private:
  base::spin_lock lock_;
  piece* first_ = nullptr;
};
inline constinit spare_pieces spares;

class piece_map {
public:
  // Precondition: no piece overlaps it.
  void add(std::uintptr_t at, std::size_t bytes, std::uintptr_t image) noexcept {
    piece* const made = spares.take();
    const base::locked guard{lock_};
    *made = {first_, at, at + bytes, image};
    first_ = made;
  }

  template <class Question> bool any(Question question) noexcept {
    const base::locked guard{lock_};
    for (const piece* each = first_; each != nullptr; each = each->next)
      if (question(*each))
        return true;
    return false;
  }

  // Calls visit(piece) for each part of a piece in [at, at + bytes), and leaves them there.
  template <class Visit> void each(std::uintptr_t at, std::size_t bytes, Visit visit) noexcept {
    const std::uintptr_t end = at + bytes;
    any([&](const piece& whole) {
      if (whole.at < end && at < whole.end) {
        const std::uintptr_t low = std::max(at, whole.at);
        visit(piece{nullptr, low, std::min(end, whole.end), whole.image + (low - whole.at)});
      }
      return false;
    });
  }
  bool touch(std::uintptr_t at, std::size_t bytes) noexcept {
    return any([=](const piece& whole) { return whole.at < at + bytes && at < whole.end; });
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

  constexpr base::spin_lock& lock() noexcept { return lock_; }

private:
  piece* cut_out(std::uintptr_t at, std::uintptr_t end) noexcept;

  base::spin_lock lock_;
  piece* first_ = nullptr;
};

// Invariant: a piece of the free list ends before the next one begins, and the last before next_;
// what lies in [begin, end) of the range, and not in these nor behind next_, is in use.
class ranges {
public:
  void open(std::uintptr_t from, std::size_t bytes) noexcept;
  bool hold(std::uintptr_t at) const noexcept { return at - from_ < bytes_; }
  // 0: there are no addresses left.
  std::uintptr_t take(std::size_t bytes) noexcept;
  // A part that is free already stays so.
  void give(std::uintptr_t at, std::size_t bytes) noexcept;
  // Takes these addresses; a part that is in use already stays so.
  void claim(std::uintptr_t at, std::size_t bytes) noexcept;
  bool has_free(std::uintptr_t at, std::size_t bytes) noexcept;
  // Calls visit(at, bytes) for each part of the free list; it may claim it.
  template <class Visit> void each_free(Visit visit) noexcept {
    for (std::uintptr_t at = 0, end = 0; find_free(at, end); at = end)
      visit(at, end - at);
  }
  bool touches_free(std::uintptr_t at, std::size_t bytes) noexcept {
    const std::uintptr_t behind = at + bytes;
    std::uintptr_t end = 0;
    return find_free(at, end) && at < behind;
  }
  constexpr base::spin_lock& lock() noexcept { return lock_; }

private:
  // The first part of the free list that ends behind `at`, from there on.
  bool find_free(std::uintptr_t& at, std::uintptr_t& end) noexcept;

  base::spin_lock lock_;
  std::uintptr_t from_ = 0, bytes_ = 0, next_ = 0;
  piece* free_ = nullptr; // by address
};

// Parts of the arena that are mapped again elsewhere: the image is the part's address.
inline constinit piece_map images;
// Added to the image: it is a copy of a file.
inline constexpr std::uintptr_t is_copy = 1;
// Parts of the arena's own memory that do not have the rights to be read and written: the image is
// what rights they have.
inline constinit piece_map forbidden;
// Addresses of the arena without memory of their own: something else is mapped there.
inline constinit piece_map covered;
inline constinit ranges arena, private_files, shared_files; // layout.h
inline constinit ranges holes; // of the arena: nothing is there, and these are free addresses, too

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
NOPAL_HIDDEN_END
