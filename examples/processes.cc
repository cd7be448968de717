// SPDX-License-Identifier: MIT
// processes N: counts the ways to place N queens on a board of N by N so that none attacks another,
// on several processes: `NOPAL_PROCESSES=4 processes 12`, or `mpirun -n 4 processes 12` where it is
// linked with an MPI.
//
// A task has copies of all that it needs, and these hold no pointers. So another process can copy
// the frames of its caller to the same address and go on there.
#include "shared/command_line.h"

#include <nopal/process.h>

#include <array>

namespace {

namespace process = nopal::process;

// The queens of rows 0 to row - 1, by their columns.
struct board {
  std::array<signed char, 16> columns;
  int n;
  int row;

  bool is_free(int column) const {
    for (int i = 0; i < row; ++i) {
      const int aside = columns[static_cast<std::size_t>(i)] - column;
      if (aside == 0 || aside == row - i || aside == i - row)
        return false;
    }
    return true;
  }
  board with_queen(int column) const {
    board more = *this;
    more.columns[static_cast<std::size_t>(row)] = static_cast<signed char>(column);
    ++more.row;
    return more;
  }
};

// How many boards there are whose next queen is in [first, last).
long count(board queens, int first, int last) {
  if (queens.row == queens.n)
    return 1;
  if (last - first == 1)
    return queens.is_free(first) ? count(queens.with_queen(first), 0, queens.n) : 0;
  const int middle = (first + last) / 2;
  process::task<long> left = process::spawn(count, queens, first, middle);
  const long right = count(queens, middle, last);
  return process::join(left) + right;
}

} // namespace

int main(int argc, char** argv) {
  command_line line{"Counts the solutions of the problem of the N queens, on several processes."};
  int n = 0;
  line.number("N", n, 1, 16, "rows and columns");
  return line.run(argc, argv, [&] {
    process::session session{argc, argv}; // every process comes here, and gets the result
    const long found = session.run(count, board{{}, n, 0}, 0, n);
    if (session.rank() == 0)
      std::printf("%d queens: %ld boards\n", n, found);
  });
}
