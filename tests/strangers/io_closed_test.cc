// SPDX-License-Identifier: MIT
// A descriptor that is closed while others read and write it: its number was used again at once,
// and their bytes came to whoever got it; and a thread that runs no strands was not woken.
#include "nopal/fiber.h"
#include "nopal/io.h"
#include "tests/api/support.h"
#include "tests/io/descriptors.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <string>
#include <sys/syscall.h>
#include <thread>

namespace nopal_test {
namespace {

const start setup{4};

// Whether the thread is in a system call for this descriptor.
bool is_amid_a_call(pid_t thread, long call, int fd) {
  std::ifstream file{"/proc/self/task/" + std::to_string(thread) + "/syscall"};
  long number = -1;
  std::string first;
  file >> number >> first;
  return file && number == call && std::stol(first, nullptr, 16) == fd;
}

TEST(io_closed, a_number_is_not_used_again_while_a_call_is_amid) {
  pair ends = connected();
  const int number = ends.left.get();
  fcntl(number, F_SETFL, 0); // so that the call stays amid
  std::atomic<pid_t> thread{0};
  std::thread reader{[&] {
    thread = thread_id();
    std::array<char, 1> byte{};
    error_of([&] { io::read_some(ends.left, byte); });
  }};
  while (thread == 0 || !is_amid_a_call(thread, SYS_read, number))
    std::this_thread::yield();
  ends.left.close();
  const int next = dup(0);
  EXPECT_NE(next, number);
  close(next);
  ends.right.close(); // the call ends
  reader.join();
  EXPECT_LT(fcntl(number, F_GETFD), 0); // it is free now
}

// Where calls that are amid are forgotten it fails in one of some thousand rounds.
TEST(io_closed, bytes_of_the_old_connection_do_not_come_to_the_next) {
  for (int round = 0; round < 500; ++round) {
    pair old = connected();
    std::array<int, 2> next{-1, -1};
    std::atomic<bool> closed{false};
    std::thread drains{[from = old.right.get(), &closed] {
      std::array<char, 4096> some{};
      while (!closed)
        if (recv(from, some.data(), some.size(), 0) < 0)
          std::this_thread::yield();
    }};
    nopal::run([&] {
      std::atomic<int> writes{0};
      nopal::run([&] {
        for (int i = 0; i < 4; ++i)
          nopal::spawn([&] {
            error_of([&] {
              for (;; ++writes)
                io::write_all(old.left, "old");
            });
          });
        for (int i = 0; i < 2; ++i)
          nopal::spawn([&] { error_of([&] { read_all(old.left); }); });
        while (writes < 20)
          nopal::yield();
        old.left.close();
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, next.data()), 0);
        EXPECT_EQ(write(next[1], "new", 3), 3);
      });
    });
    closed = true;
    drains.join();
    std::array<char, 16> found{};
    EXPECT_LT(recv(next[1], found.data(), found.size(), MSG_DONTWAIT), 0) << found.data();
    EXPECT_EQ(recv(next[0], found.data(), found.size(), MSG_DONTWAIT), 3);
    close(next[0]);
    close(next[1]);
  }
}

TEST(io_closed, a_thread_that_reads_is_told) {
  pair ends = a_pipe();
  std::atomic<pid_t> thread{0};
  int error = 0;
  std::thread reader{[&] {
    thread = thread_id();
    error = error_of([&] { read_exactly(ends.right, 1); });
  }};
  while (thread == 0)
    std::this_thread::yield();
  ends.right.close();
  reader.join();
  EXPECT_EQ(error, EBADF);
}

} // namespace
} // namespace nopal_test
