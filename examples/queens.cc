// SPDX-License-Identifier: MIT
// queens N: places N queens on a board of N by N so that none attacks another, and prints the first
// board that is found. Every choice is an `either`: its alternatives are tried in parallel, and as
// soon as one has an answer the others are cancelled. A cancel_scope ends the search in time.
#include "shared/command_line.h"

#include <nopal/cancel.h>
#include <nopal/either.h>

#include <chrono>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

namespace {

using board = std::vector<int>; // the column of the queen in each row

bool is_free(const board& queens, int column) {
  const int row = static_cast<int>(queens.size());
  for (int i = 0; i < row; ++i)
    if (const int other = queens[static_cast<std::size_t>(i)];
        other == column || std::abs(other - column) == row - i)
      return false;
  return true;
}

// A board of n rows that begins with these queens and has the next one in [first, last).
std::optional<board> solve(const board& queens, int n, int first, int last) {
  if (last - first > 1) {
    const int middle = std::midpoint(first, last);
    return nopal::either([&] { return solve(queens, n, first, middle); },
                         [&] { return solve(queens, n, middle, last); });
  }
  if (!is_free(queens, first))
    return std::nullopt;
  board more = queens;
  more.push_back(first);
  return static_cast<int>(more.size()) == n ? std::optional{more} : solve(more, n, 0, n);
}

} // namespace

int main(int argc, char** argv) {
  command_line line{"Prints a solution of the problem of the N queens."};
  int n = 0;
  int within = 10000;
  line.number("N", n, 1, 64, "rows and columns");
  line.number("--within", within, 0, 1000000000, "milliseconds that the search may take");
  return line.run(argc, argv, [&] {
    std::optional<board> found;
    nopal::cancel_scope search{std::chrono::milliseconds(within)};
    search.fork(found, solve, board{}, n, 0, n);
    if (!search.try_join()) // every strand of the search has stopped
      throw std::runtime_error("no board was found in " + std::to_string(within) + " ms");
    if (!found)
      std::puts("there is none");
    for (const int column : found.value_or(board{})) {
      std::string row(static_cast<std::size_t>(n), '.');
      row[static_cast<std::size_t>(column)] = 'Q';
      std::puts(row.c_str());
    }
  });
}
