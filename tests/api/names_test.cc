// SPDX-License-Identifier: MIT
// Programs that write `using namespace nopal` still call the functions of POSIX whose names Nopal
// has too: send, recv, select, poll; and those that Nopal's types leave alone: signal, bind.
#include "nopal/cancelable.h"
#include "nopal/channel.h"
#include "nopal/either.h"
#include "nopal/find.h"
#include "nopal/mutex.h"
#include "nopal/policies.h"
#include "nopal/preemption.h"
#include "nopal/runtime.h"
#include "nopal/vprocs.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>

#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

namespace names_test {
namespace {

using namespace nopal; // what this test is about

TEST(names, signal_is_that_of_the_standard) {
  EXPECT_NE(signal(SIGUSR1, SIG_IGN), SIG_ERR);
  EXPECT_EQ(signal(SIGUSR1, SIG_DFL), SIG_IGN);
}

TEST(names, sockets_are_sent_to_and_received_from) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  EXPECT_EQ(send(ends[0], "a", 1, 0), 1);
  char received = 0;
  EXPECT_EQ(recv(ends[1], &received, 1, 0), 1);
  EXPECT_EQ(received, 'a');
  EXPECT_EQ(bind(-1, nullptr, 0), -1);
  close(ends[0]);
  close(ends[1]);
}

TEST(names, select_and_poll_wait_for_files) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  ASSERT_EQ(write(ends[1], "a", 1), 1);
  fd_set readable;
  FD_ZERO(&readable);
  FD_SET(ends[0], &readable);
  timeval none{};
  EXPECT_EQ(select(ends[0] + 1, &readable, nullptr, nullptr, &none), 1);
  pollfd reading{ends[0], POLLIN, 0};
  EXPECT_EQ(poll(&reading, 1, 0), 1);
  poll(); // Nopal's
  close(ends[0]);
  close(ends[1]);
}

TEST(names, channels_are_sent_to_and_received_from) {
  channel<int> numbers;
  int received = 0;
  run([&] {
    spawn([&] { numbers.send(1); });
    select(recv(numbers, [&](int number) { received = number; }));
  });
  EXPECT_EQ(received, 1);
}

} // namespace
} // namespace names_test
