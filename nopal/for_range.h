// SPDX-License-Identifier: MIT
// Loops whose body is given many iterations at a time, blocks of two dimensions, or every n-th
// index.
//
//     nopal::for_range(0, n, [&](int first, int last) {             // pieces of [0, n)
//       std::vector<double> scratch(width);                         // once for each piece
//       for (int i = first; i < last; ++i) ...
//     });
//     nopal::for_block(0, rows, 0, columns, [&](int top, int bottom, int left, int right) {
//       for (int i = top; i < bottom; ++i)                          // blocks of a table
//         for (int k = left; k < right; ++k) ...
//     });
//     nopal::for_step(0, n, 4, [&](int i) { ... });                 // 0, 4, 8, ...
//
// Indices, grain, exceptions and thread rules: as in loop.h. Without a grain pieces grow from one
// index, and a block is a five hundred and twelfth of the table. State of a worker that outlives a
// piece: per_worker.h.
#pragma once

#include "nopal/config.h"
#include "nopal/loop.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <variant>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

namespace detail {

// Calls piece(from, to) for pieces of the range. Grain 0: it is split where a thread has nothing to
// do.
template <class I, class Piece>
void by_pieces(I first, std::size_t count, std::size_t grain, const Piece& piece) {
  if (grain == 0)
    return algorithms::for_pieces(count, [first, &piece](std::size_t from, std::size_t length) {
      static_cast<void>(call(piece, advance(first, from), advance(first, from + length)));
    });
  const auto leaf = [&piece](I from, std::size_t length) {
    static_cast<void>(call(piece, advance(from, 0), advance(from, length)));
    return std::monostate{};
  };
  over_pieces(first, count, grain, leaf, [](std::monostate, std::monostate) {});
}

// One dimension of a table, cut into parts of this length.
template <class I> struct cut_range {
  I first;
  std::size_t count;
  std::size_t length;

  std::size_t parts() const noexcept { return parts_of(count, length); }
  I begin_of(std::size_t part) const noexcept { return advance(first, part * length); }
  I end_of(std::size_t part) const noexcept {
    return part + 1 < parts() ? begin_of(part + 1) : advance(first, count);
  }
};
template <class I> cut_range(I, std::size_t, std::size_t) -> cut_range<I>; // Clang 14 makes none

// The length of one side of a block of so many indices, where the table has so many along this side
// and across: that of a square, or more where the table is narrower.
inline std::size_t side_of(std::size_t along, std::size_t across, double area) noexcept {
  const double square = std::max(1.0, std::floor(std::sqrt(area)));
  const double side = static_cast<double>(across) < square
                          ? std::floor(area / static_cast<double>(across))
                          : square;
  return side >= static_cast<double>(along) ? along : static_cast<std::size_t>(side);
}

[[noreturn, gnu::cold, gnu::noinline]] inline void step_is_not_positive(long long step) {
  std::fprintf(stderr,
               "nopal: a loop has the step %lld, but it counts upwards; give it 1 or more\n", step);
  std::_Exit(70); // as base::die does, which the serial elision does without
}

} // namespace detail

/// f(from, to) for pieces [from, to) of [first, last), which are all of it and have at most `grain`
/// indices each, if that is given.
/// @throws what the piece with the smallest indices throws that throws; cancelled.
/// @par Threads
/// Any thread, any strand.
template <class First, class Last, class F>
  requires index_range<First, Last> &&
           std::invocable<const F&, detail::index_of<First, Last>, detail::index_of<First, Last>>
void for_range(First first, Last last, const F& f, std::size_t grain = 0) {
  const detail::indices all{first, last};
  if (all.count != 0)
    detail::by_pieces(all.first, all.count, grain, f);
}

/// f(top, bottom, left, right) for blocks [top, bottom) x [left, right) of a table, which are all
/// of it and have at most `grain` indices each. They are squares, but at the table's edges, and
/// where it is narrower than that.
/// @throws what the first block throws that throws, row by row; cancelled.
/// @par Threads
/// Any thread, any strand.
template <class Top, class Bottom, class Left, class Right, class F>
  requires index_range<Top, Bottom> && index_range<Left, Right> &&
           std::invocable<const F&, detail::index_of<Top, Bottom>, detail::index_of<Top, Bottom>,
                          detail::index_of<Left, Right>, detail::index_of<Left, Right>>
void for_block(Top top, Bottom bottom, Left left, Right right, const F& f, std::size_t grain = 0) {
  const detail::indices rows{top, bottom};
  const detail::indices columns{left, right};
  if (rows.count == 0 || columns.count == 0)
    return;
  const double all = static_cast<double>(rows.count) * static_cast<double>(columns.count);
  const double area = grain != 0 ? static_cast<double>(grain) : std::max(1.0, all / 512);
  const detail::cut_range down{rows.first, rows.count,
                               detail::side_of(rows.count, columns.count, area)};
  const detail::cut_range across{columns.first, columns.count,
                                 detail::side_of(columns.count, rows.count, area)};
  const auto block = [&](std::size_t number) {
    const std::size_t row = number / across.parts();
    const std::size_t column = number % across.parts();
    static_cast<void>(detail::call(f, down.begin_of(row), down.end_of(row), across.begin_of(column),
                                   across.end_of(column)));
  };
  for_index(std::size_t{0}, down.parts() * across.parts(), block, grain == 0 ? 0 : 1);
}

/// f(first), f(first + step), ... up to the last below `last`.
/// @pre step > 0. Checked.
/// @throws as for_index.
/// @par Threads
/// Any thread, any strand.
template <class First, class Last, detail::counts Step, class F>
  requires index_range<First, Last> && std::invocable<const F&, detail::index_of<First, Last>>
void for_step(First first, Last last, Step step, const F& f, std::size_t grain = 0) {
  if (step == 0 || detail::is_negative(step))
    detail::step_is_not_positive(static_cast<long long>(step));
  const detail::indices all{first, last};
  if (all.count == 0)
    return;
  const auto call_at = [&](std::size_t number) {
    static_cast<void>(
        detail::call(f, detail::advance(all.first, number * static_cast<std::size_t>(step))));
  };
  for_index(std::size_t{0}, detail::parts_of(all.count, static_cast<std::size_t>(step)), call_at,
            grain);
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
