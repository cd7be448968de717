// SPDX-License-Identifier: MIT
// A plan by which blocks change places in the memory where they lie, in parallel.
//
// Memory consists of slots of a block each. A slot may take the block of another slot, which may
// take that of a third one, and so on: a chain, or a cycle. One strand decides what each takes, and
// writes all moves down, chain by chain, so that a block is read before another one replaces it.
// The moves are cut into segments of equal length, which run at the same time. A move reads from
// memory aside what an earlier segment might have replaced: the block behind a cut, and that which
// closes a cycle. It is saved there before all moves.
//
// Invariant: a slot takes at most one block, and at most one slot takes a block.
#pragma once

#include "nopal/algorithms/memory.h"
#include "nopal/config.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::algorithms {

class block_moves {
public:
  using number = std::uint32_t; // of a slot or a saved block: enough for 8 TB in blocks of 2 KB
  static constexpr number none = ~number{0};
  static constexpr std::size_t segment = 256;

  // `more` blocks are saved besides those that the plan saves.
  block_moves(std::size_t slots, std::size_t more)
      : slots_(slots), source_(slots), saved_(most_saved(slots, more)), moves_(slots) {
    std::fill_n(source_.get(), slots, none);
  }

  // A cut saves one block, and a cycle over cuts a second one.
  static std::size_t most_saved(std::size_t slots, std::size_t more) {
    return 2 * (slots / segment) + more;
  }

  // `slot` takes the block in `from`.
  void take(std::size_t slot, std::size_t from) { source_.get()[slot] = number_of(from); }
  // The block in the slot is to be saved. Returns its number among those.
  number save(std::size_t slot) {
    saved_.get()[saves_] = number_of(slot);
    return number_of(saves_++);
  }

  // is_taken(slot): whether a slot takes its block.
  template <class IsTaken> void plan(const IsTaken& is_taken) {
    for (std::size_t slot = 0; slot < slots_; ++slot)
      if (source_.get()[slot] != none && !is_taken(slot))
        follow(slot);
    for (std::size_t slot = 0; slot < slots_; ++slot) // cycles are left
      if (source_.get()[slot] != none)
        follow(slot);
  }

  std::size_t saves() const noexcept { return saves_; }
  std::size_t segments() const noexcept { return (count_ + segment - 1) / segment; }

  // All blocks are saved before a segment runs. Both functions copy blocks of Length elements.
  template <std::size_t Length, class T>
  void run_save(std::size_t i, const T* data, T* saved) const {
    std::copy_n(data + saved_.get()[i] * Length, Length, saved + i * Length);
  }
  template <std::size_t Length, class T>
  void run_segment(std::size_t i, T* data, const T* saved) const {
    T kept[Length];
    const move* const first = moves_.get() + i * segment;
    const move* const last = first + std::min(segment, count_ - i * segment);
    for (const move* each = first; each != last; ++each) {
      T* const to = data + each->to * Length;
      if (each->begins_cycle)
        std::copy_n(to, Length, kept);
      const T* const from = each->kind == from_slot    ? data + each->from * Length
                            : each->kind == from_saved ? saved + each->from * Length
                                                       : kept;
      std::copy_n(from, Length, to);
    }
  }

private:
  enum source_kind : std::uint8_t { from_slot, from_saved, from_kept };
  struct move {
    number to;
    number from;
    source_kind kind;
    bool begins_cycle; // which ends in the same segment: its last move takes what was kept here
  };

  static number number_of(std::size_t i) noexcept { return static_cast<number>(i); }

  // Writes down the moves from this slot on.
  void follow(std::size_t start) {
    const std::size_t first = count_;
    for (std::size_t to = start; to != none;) {
      const std::size_t from = std::exchange(source_.get()[to], none);
      if (from == to)
        return;
      move& last = moves_.get()[count_++];
      last = {number_of(to), number_of(from), from_slot, false};
      const bool goes_on = source_.get()[from] != none;
      const bool one_segment = first / segment == (count_ - 1) / segment;
      if (from == start && one_segment) {
        moves_.get()[first].begins_cycle = true;
        last.kind = from_kept;
      } else if (from == start || (goes_on && count_ % segment == 0)) {
        last.kind = from_saved;
        last.from = save(from);
      }
      to = goes_on ? from : none;
    }
  }

  const std::size_t slots_;
  memory<number> source_; // of each slot whose move is not written down yet
  memory<number> saved_;
  memory<move> moves_;
  std::size_t saves_ = 0;
  std::size_t count_ = 0;
};

} // namespace nopal::inline NOPAL_ABI::algorithms
NOPAL_HIDDEN_END
