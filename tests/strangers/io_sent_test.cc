// SPDX-License-Identifier: MIT
// A write that ends amid its bytes, because of a time, a cancel or the other end: the program could
// not tell how much was sent.
#include "nopal/cancel.h"
#include "nopal/cancelable.h"
#include "nopal/fiber.h"
#include "nopal/io.h"
#include "tests/api/support.h"
#include "tests/io/descriptors.h"

#include <signal.h>
#include <sys/socket.h>

#include <chrono>
#include <string>
#include <thread>

namespace nopal_test {
namespace {

const start setup{4};

std::string numbered(std::size_t size) {
  std::string all(size, '\0');
  for (std::size_t i = 0; i < size; ++i)
    all[i] = static_cast<char>(i * 7 + (i >> 9));
  return all;
}
const std::string much = numbered(4 << 20);

// What was sent is what the other end finds.
void compare(pair& ends, std::size_t sent) {
  ends.left.close();
  EXPECT_LT(sent, much.size());
  EXPECT_EQ(read_all(ends.right), much.substr(0, sent));
}

TEST(io_sent, a_write_whose_time_has_come_says_how_much) {
  const auto late = [](pair ends) {
    std::size_t sent = 1;
    const auto until = io::clock::now() + std::chrono::milliseconds(5);
    EXPECT_EQ(error_of([&] { io::write_all(ends.left, much, until, &sent); }), ETIMEDOUT);
    EXPECT_GT(sent, 0u);
    compare(ends, sent);
  };
  for (const auto make : {connected, a_pipe}) {
    late(make()); // on a thread that runs no strands
    nopal::run([&] { late(make()); });
  }
}

TEST(io_sent, a_write_that_is_cancelled_says_how_much) {
  nopal::run([] {
    pair ends = connected();
    std::size_t sent = 0; // also if it is cancelled before it begins
    nopal::cancel_scope s{std::chrono::milliseconds(5)};
    s.fork([&] { io::write_all(ends.left, much, io::never, &sent); });
    EXPECT_FALSE(s.try_join());
    compare(ends, sent);
  });
}

TEST(io_sent, a_write_whose_other_end_leaves_says_how_much) {
  nopal::run([] {
    pair ends = connected();
    std::size_t sent = 1;
    std::string read;
    int error = 0;
    nopal::run([&] {
      nopal::spawn([&] {
        read = read_exactly(ends.right, 1000);
        ends.right.close();
      });
      error = error_of([&] { io::write_all(ends.left, much, io::never, &sent); });
    });
    EXPECT_TRUE(error == EPIPE || error == ECONNRESET) << error;
    EXPECT_GE(sent, 1000u);
    EXPECT_LT(sent, much.size());
  });
}

TEST(io_sent, a_write_that_ends_well_has_sent_all_and_one_that_cannot_begin_nothing) {
  nopal::run([] {
    pair ends = connected();
    std::size_t sent = 1;
    io::write_all(ends.left, "hello", io::never, &sent);
    EXPECT_EQ(sent, 5u);
    io::write_all(ends.left, "", io::never, &sent);
    EXPECT_EQ(sent, 0u);
    sent = 1;
    ends.left.close();
    EXPECT_EQ(error_of([&] { io::write_all(ends.left, "hello", io::never, &sent); }), EBADF);
    EXPECT_EQ(sent, 0u);
  });
}

} // namespace
} // namespace nopal_test
