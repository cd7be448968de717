// SPDX-License-Identifier: MIT
// A program for several processes, to be compiled for processes, for threads and serially.
#pragma once

#include "nopal/process.h"

#include <stdexcept>
#include <string>

namespace nopal_test {
namespace {

namespace process = nopal::process;

// The number of ways to place queens in the rows that are left.
long placed(int size, int row, unsigned columns, unsigned left, unsigned right);

long placed_among(int size, int row, unsigned columns, unsigned left, unsigned right,
                  unsigned among) {
  if ((among & (among - 1)) == 0)
    return among == 0
               ? 0
               : placed(size, row + 1, columns | among, (left | among) << 1, (right | among) >> 1);
  const unsigned column = among & -among;
  process::task<long> first = process::spawn(placed_among, size, row, columns, left, right, column);
  const long others = placed_among(size, row, columns, left, right, among ^ column);
  return process::join(first) + others;
}

long placed(int size, int row, unsigned columns, unsigned left, unsigned right) {
  if (row == size)
    return 1;
  const unsigned free = ((1u << size) - 1) & ~(columns | left | right);
  return placed_among(size, row, columns, left, right, free);
}

int throws(int depth) {
  if (depth == 0)
    throw std::out_of_range("too deep");
  process::task<int> child = process::spawn(throws, depth - 1);
  return process::join(child);
}

void nothing() {}

// "92 std::out_of_range: too deep", whatever it runs on.
std::string computed(process::session& session) {
  std::string said = std::to_string(session.run(placed, 8, 0, 0u, 0u, 0u));
  session.run([] {
    process::task<void> child = process::spawn(nothing);
    process::join(child);
  });
  try {
    session.run(throws, 3);
  } catch (const process::remote_error& error) {
    said += " " + std::string(error.what());
  }
  return said;
}

} // namespace
} // namespace nopal_test
