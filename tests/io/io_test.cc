// SPDX-License-Identifier: MIT
// The cases of io_cases.cc and closing_cases.cc with four workers, with forks that need the thread
// that watches, and errors.
#include "nopal/fiber.h"
#include "nopal/io.h"
#include "tests/api/support.h"
#include "tests/io/descriptors.h"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <thread>

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

// In a process of its own, whose limit is lowered until no number is free.
TEST(io, where_no_descriptor_is_left_a_connection_waits_for_the_next_accept) {
  const auto body = [] {
    int errors = 0;
    bool read = false;
    nopal::run([&] {
      descriptor server = io::listen(io::address::loopback(0));
      descriptor client = io::connect(io::address::local(server));
      rlimit before{}, none{};
      getrlimit(RLIMIT_NOFILE, &before);
      none = before;
      none.rlim_cur = 3;
      setrlimit(RLIMIT_NOFILE, &none);
      for (int i = 0; i < 3; ++i)
        errors += error_of([&] { io::accept(server); }) == EMFILE ? 1 : 0;
      errors += error_of([&] { io::connect(io::address::local(server)); }) == EMFILE ? 1 : 0;
      setrlimit(RLIMIT_NOFILE, &before);
      io::write_all(client, "x");
      descriptor peer = io::accept(server);
      read = read_exactly(peer, 1) == "x";
    });
    std::_Exit(errors == 4 && read ? 0 : 1);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "");
}

// A thread that runs no strands waits without the descriptors that it would take for this.
TEST(io, where_no_descriptor_is_left_threads_and_strands_wait_all_the_same) {
  const auto body = [] {
    pair first = connected();
    pair second = connected();
    const rlimit none{3, 3}; // all that are left are taken
    setrlimit(RLIMIT_NOFILE, &none);
    std::atomic<int> error{-1};
    std::thread waits{[&] { error = error_of([&] { read_exactly(first.left, 1); }); }};
    std::this_thread::yield();
    first.left.close();
    waits.join();
    const int strands = error_of([&] {
      nopal::run([&] { read_exactly(second.left, 1); }); // the first, which needs an epoll
    });
    std::_Exit(error == EBADF && strands == EMFILE ? 0 : 1);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "");
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
