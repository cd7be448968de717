// SPDX-License-Identifier: MIT
// Descriptors for tests, and what they do with them.
#pragma once

#include "nopal/io.h"
#include "nopal/runtime.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace nopal_test {

namespace io = nopal::io;
using io::descriptor;

struct pair {
  descriptor left, right;
};
inline pair connected() {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  return {descriptor{ends[0]}, descriptor{ends[1]}};
}
// The right end reads what is written to the left one.
inline pair a_pipe() {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  return {descriptor{ends[1]}, descriptor{ends[0]}};
}
struct connection {
  descriptor client, server;
};
inline connection over_tcp(descriptor& listening) {
  descriptor client = io::connect(io::address::local(listening));
  return {std::move(client), io::accept(listening)};
}

inline std::string read_all(descriptor& from) {
  std::string all;
  std::array<char, 1000> some{};
  while (const std::size_t got = io::read_some(from, some))
    all.append(some.data(), got);
  return all;
}
inline std::string read_exactly(descriptor& from, std::size_t count) {
  std::string all(count, '\0');
  for (std::size_t got = 0; got < count;) {
    const std::size_t more = io::read_some(from, {all.data() + got, count - got});
    if (more == 0)
      throw std::system_error(EPIPE, std::generic_category());
    got += more;
  }
  return all;
}

// Until a strand waits for a descriptor.
inline void wait_for_one_that_waits() {
  std::string report;
  while (report.find("waits for a descriptor") == std::string::npos) {
    testing::internal::CaptureStderr();
    nopal::report_waiting();
    report = testing::internal::GetCapturedStderr();
    std::this_thread::yield();
  }
}

// The error that a call throws; 0: none.
template <class Call> int error_of(Call call) {
  try {
    call();
  } catch (const std::system_error& caught) {
    return caught.code().value();
  }
  return 0;
}

} // namespace nopal_test
