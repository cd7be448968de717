// SPDX-License-Identifier: MIT
// The cases of io_cases.h with four workers, and forks that need the thread that watches.
#include "tests/io/io_cases.h"

namespace nopal_test {
namespace {

const start with{4};

TEST(io, who_watches_is_woken_for_forks) {
  pair ends = connected();
  nopal::run([&] {
    for (int round = 0; round < 300; ++round) {
      nopal::run([&] { // the threads without work watch or sleep meanwhile
        nopal::spawn([&] { read_exactly(ends.left, 1); });
        io::write_all(ends.right, "x");
      });
      gate stolen;
      nopal::scope s;
      s.fork([&] { stolen.wait(); });
      stolen.open();
      s.join();
    }
  });
}

} // namespace
} // namespace nopal_test
