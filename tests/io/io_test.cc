// SPDX-License-Identifier: MIT
// The cases of io_cases.cc and closing_cases.cc with four workers, with forks that need the thread
// that watches, and errors.
#include "nopal/fiber.h"
#include "nopal/io.h"
#include "tests/api/support.h"
#include "tests/io/descriptors.h"

#include <cerrno>

#include <unistd.h>

namespace nopal_test {
namespace {

const start setup{4};

TEST(io, a_write_to_a_closed_end_fails_without_a_signal) {
  nopal::run([] {
    pair ends = connected();
    ends.right.close();
    EXPECT_EQ(error_of([&] { io::write_all(ends.left, "lost"); }), EPIPE);
  });
}

TEST(io, what_is_no_descriptor_is_refused) {
  nopal::run([] {
    EXPECT_EQ(error_of([] { io::wait_readable(-1); }), EBADF);
    EXPECT_EQ(error_of([] { io::wait_writable(1 << 20); }), EBADF);
    EXPECT_EQ(error_of([] { descriptor never{-1}; }), EBADF);
    descriptor none;
    EXPECT_FALSE(none);
    EXPECT_EQ(error_of([&] { io::write_all(none, "lost"); }), EBADF);
    const int closed = dup(0);
    close(closed);
    EXPECT_EQ(error_of([closed] { io::wait_readable(closed); }), EBADF);
  });
}

TEST(io, a_refused_connection_is_an_error) {
  nopal::run([] {
    descriptor server = io::listen(io::address::loopback(0));
    const io::address at = io::address::local(server);
    server.close();
    EXPECT_EQ(error_of([&] { io::connect(at); }), ECONNREFUSED);
  });
}

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
