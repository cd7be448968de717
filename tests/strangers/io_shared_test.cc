// SPDX-License-Identifier: MIT
// O_NONBLOCK belongs to the open file, which a terminal's programs and the standard descriptors
// share: a descriptor that set it lost half a megabyte of printf, and left the shell without a
// terminal that waits.
#include "nopal/blocking.h"
#include "nopal/fiber.h"
#include "nopal/io.h"
#include "tests/api/support.h"
#include "tests/io/descriptors.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

namespace nopal_test {
namespace {

const start setup{4};

bool blocks(int fd) { return (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0; }

// The emulator's end, and the program's, without echo.
struct terminal {
  terminal() {
    EXPECT_EQ(openpty(&emulator, &program, nullptr, nullptr, nullptr), 0);
    termios how{};
    tcgetattr(program, &how);
    cfmakeraw(&how);
    tcsetattr(program, TCSANOW, &how);
  }
  ~terminal() {
    close(emulator);
    close(program);
  }
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;

  int emulator = -1;
  int program = -1;
};
struct files {
  int ends[2];
};
files pipe_ends() {
  files made{};
  EXPECT_EQ(pipe(made.ends), 0);
  return made;
}
files socket_ends() {
  files made{};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, made.ends), 0);
  return made;
}

TEST(io_shared, a_terminal_stays_as_it_is_and_all_that_is_printed_arrives) {
  terminal both;
  constexpr int kLines = 20'000;
  std::string arrived;
  std::thread emulator{[&] {
    EXPECT_EQ(write(both.emulator, "go\n", 3), 3);
    std::array<char, 512> some{};
    while (arrived.size() < std::size_t{kLines} * 12)
      if (const ssize_t got = read(both.emulator, some.data(), some.size()); got > 0)
        arrived.append(some.data(), static_cast<std::size_t>(got));
  }};
  descriptor in{dup(both.program)};
  std::string read;
  nopal::run([&] { read = read_exactly(in, 3); });
  std::FILE* const out = fdopen(dup(both.program), "w");
  for (int i = 0; i < kLines; ++i)
    ASSERT_GE(std::fprintf(out, "line %06d\n", i), 0);
  EXPECT_EQ(std::fclose(out), 0);
  emulator.join();
  EXPECT_EQ(read, "go\n");
  EXPECT_EQ(arrived.size(), std::size_t{kLines} * 12);
  EXPECT_TRUE(blocks(both.program));
}

TEST(io_shared, what_was_taken_over_from_a_standard_descriptor_stays_as_it_is) {
  const files ends = pipe_ends();
  const int before = dup(0);
  dup2(ends.ends[0], 0);
  {
    descriptor in{dup(0)};
    EXPECT_TRUE(blocks(0));
    nopal::run([&] {
      nopal::spawn([&] { EXPECT_EQ(read_exactly(in, 5), "hello"); });
      nopal::yield();
      EXPECT_EQ(write(ends.ends[1], "hello", 5), 5);
    });
  }
  EXPECT_TRUE(blocks(0));
  dup2(before, 0);
  for (const int fd : {before, ends.ends[0], ends.ends[1]})
    close(fd);
}

TEST(io_shared, what_is_nobody_elses_does_not_block) {
  for (const files& ends : {pipe_ends(), socket_ends()}) {
    descriptor left{ends.ends[0]};
    descriptor right{ends.ends[1]};
    EXPECT_FALSE(blocks(left.get()));
  }
  terminal both;
  descriptor emulator{dup(both.emulator)}; // this end is the emulator's alone
  EXPECT_FALSE(blocks(both.emulator));
}

// Every kind of call on every kind of file, on strands and on threads.
TEST(io_shared, strands_wait_for_files_that_block) {
  const std::string much(1 << 18, 'm');
  const auto pass = [&](int from, int to, bool on_thread) {
    descriptor reads{dup(from), io::keep_blocking};
    descriptor writes{dup(to), io::keep_blocking};
    std::array<char, 1> byte{};
    const auto soon = [] { return io::clock::now() + std::chrono::milliseconds(1); };
    EXPECT_EQ(error_of([&] { io::read_some(reads, byte, soon()); }), ETIMEDOUT);
    if (on_thread) {
      std::thread writer{[&] { io::write_all(writes, much); }};
      EXPECT_EQ(read_exactly(reads, much.size()), much);
      writer.join();
    } else {
      nopal::run([&] {
        nopal::spawn([&] { io::write_all(writes, much); });
        EXPECT_EQ(read_exactly(reads, much.size()), much);
      });
    }
    EXPECT_TRUE(blocks(from) && blocks(to));
  };
  for (const bool on_thread : {false, true}) {
    const terminal both;
    const files piped = pipe_ends();
    const files socket = socket_ends();
    pass(piped.ends[0], piped.ends[1], on_thread);
    pass(socket.ends[0], socket.ends[1], on_thread);
    pass(both.emulator, both.program, on_thread);
    pass(both.program, both.emulator, on_thread);
    for (const int fd : {piped.ends[0], piped.ends[1], socket.ends[0], socket.ends[1]})
      close(fd);
  }
}

TEST(io_shared, a_time_ends_a_write_to_a_file_that_blocks_and_is_full) {
  for (const files& ends : {pipe_ends(), socket_ends()}) {
    descriptor from{ends.ends[0], io::keep_blocking};
    descriptor to{ends.ends[1], io::keep_blocking};
    nopal::run([&] {
      std::size_t sent = 0;
      EXPECT_EQ(error_of([&] {
                  io::write_all(to, std::string(1 << 22, 'm'),
                                io::clock::now() + std::chrono::milliseconds(2), &sent);
                }),
                ETIMEDOUT);
      to.close();
      EXPECT_EQ(read_all(from).size(), sent);
    });
  }
}

// Where others read the same terminal one of them gets each byte, and the others may block amid
// their calls: these have threads of their own, and strands go on.
TEST(io_shared, several_that_read_one_terminal_stop_no_worker) {
  terminal both;
  std::atomic<int> got{0};
  constexpr int kReaders = 8; // more than there are workers
  nopal::run([&] {
    descriptor emulator{dup(both.emulator)};
    for (int i = 0; i < kReaders; ++i)
      nopal::spawn([&, own = descriptor{dup(both.program)}]() mutable {
        read_exactly(own, 1);
        ++got;
      });
    for (int i = 0; i < kReaders; ++i) {
      io::write_all(emulator, "x");
      nopal::yield();
    }
  });
  EXPECT_EQ(got, kReaders);
}

TEST(io_shared, a_socket_that_blocks_accepts) {
  const int fd = io::listen(io::address::loopback(0)).release();
  fcntl(fd, F_SETFL, 0);
  descriptor server{fd, io::keep_blocking};
  for (int round = 0; round < 20; ++round)
    nopal::run([&] {
      nopal::spawn([&] { io::accept(server); });
      io::connect(io::address::local(server));
    });
  EXPECT_TRUE(blocks(fd));
}

TEST(io_shared, a_regular_file_that_keeps_blocking_is_read_on_a_thread_of_its_own) {
  nopal::run([] {
    descriptor file{open("/proc/self/exe", O_RDONLY | O_CLOEXEC), io::keep_blocking};
    EXPECT_EQ(read_exactly(file, 4).substr(1), "ELF");
  });
}

} // namespace
} // namespace nopal_test
