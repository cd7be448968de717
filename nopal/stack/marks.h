// SPDX-License-Identifier: MIT
// Marks: how the open forks of a stack are found in the stack itself.
//
// The record of an open fork begins with its mark: a word that holds its own address, less 32 MiB,
// plus 3. A thief claims the fork by subtracting 1; the owner closes it by a shift to the right,
// after which the word is no mark, wherever it is copied. So the last bits of the word say it all:
//     open 011    claimed 010    closed 001 or 101
// A search walks down the stack from the oldest frames and compares each word with its own address.
// It ends at the first open fork, which is the oldest; a deep stack need not make it long.
//
// No other word of a stack is a mark:
// - A pointer with this value would point into the guard below the stack, where nothing lies. (With
//   slots smaller than 64 MiB, stack.h, small.h, it could point into another stack, 32 MiB below
//   the mark; with small stacks of the default sizes, into another's guard.) A word's own address
//   would not do: dead words of frames and references to empty objects often hold that.
// - A copy of a mark at another place is no mark. But functions push any register to align the
//   stack, which may put a copy back at the place of the closed fork. So no register keeps a mark:
//   opening forgets the value, closing has none, and marks.cc, which computes marks, forgets them.
//
// A search only compares the words of running frames. It uses the record that begins with a mark.
//
// A thief may claim an open fork, so that its owner cannot close it unnoticed. Claiming is a
// compare-and-swap, so a word that has become something else is left alone. Closing is one
// instruction that reads and writes the word, but not atomically: it can overwrite a claim that is
// made at the same time. The heavy barrier ends this, since it finds the instruction done or not
// begun: if a claim still stands after the barrier, the owner will see it.
//
// Orders: M  open (release) pairs with the search (acquire): the record that begins with the mark
// is
//            complete. A thief searches before it claims, and again before it uses what it claimed.
#pragma once

#include "nopal/arch/arch.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack {

struct marks {
  // Owner. `at` is the record's first word.
  [[gnu::always_inline]] static void open(void* at) noexcept {
    arch::store_own_address<distance>(*static_cast<std::uintptr_t*>(at)); // M
  }

  // Owner. Closes the fork. False: a thief had claimed it.
  [[gnu::always_inline]] static bool close(void* at) noexcept {
    return arch::halve_at_once(*static_cast<std::uintptr_t*>(at));
  }

  // Any thread may call all that follows, for a stack whose memory stays. Addresses are those of
  // the stack's strands; all processes see what lies at one of them `offset` further (view.h).
  // True: the fork is open, and is claimed now.
  static bool claim(std::uintptr_t at, std::uintptr_t offset = 0) noexcept;
  // The fork is open and claimed.
  static bool claimed(std::uintptr_t at, std::uintptr_t offset = 0) noexcept;
  // The fork is open, claimed or not.
  static bool is_open(std::uintptr_t at, std::uintptr_t offset = 0) noexcept;

  // The highest address in [from, to) of an open fork's record, or 0. The range is empty, or lies
  // in one stack; its ends are 8-aligned.
  static std::uintptr_t highest(std::uintptr_t from, std::uintptr_t to,
                                std::uintptr_t offset = 0) noexcept;

  // The lowest such address. Each page of the range has frames.
  static std::uintptr_t lowest(std::uintptr_t from, std::uintptr_t to,
                               std::uintptr_t offset = 0) noexcept;

  static constexpr std::ptrdiff_t distance = 3 - (std::ptrdiff_t{32} << 20);

private:
  static std::uintptr_t open_mark(std::uintptr_t at) noexcept {
    return at + static_cast<std::uintptr_t>(distance);
  }
  static std::uintptr_t claimed_mark(std::uintptr_t at) noexcept { return open_mark(at) - 1; }
  static bool is_mark(std::uintptr_t at, std::uintptr_t word) noexcept {
    return (word | 1) == open_mark(at);
  }
  static std::uintptr_t highest_in(std::uintptr_t from, std::uintptr_t to,
                                   std::uintptr_t offset) noexcept;
};

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack
NOPAL_HIDDEN_END
