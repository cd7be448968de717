// SPDX-License-Identifier: MIT
// Strands that wait for descriptors. Each program that is linked with this has another number of
// workers.
#include "nopal/cancel.h"
#include "nopal/cancelable.h"
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/io.h"
#include "nopal/preemption.h"
#include "tests/api/support.h"
#include "tests/io/descriptors.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace nopal_test {
namespace {

TEST(io, a_reader_waits_for_what_is_written) {
  for (int round = 0; round < repetitions(500, 50); ++round)
    nopal::run([] {
      pair ends = connected();
      std::string read;
      nopal::run([&] {
        nopal::spawn([&] { read = read_exactly(ends.left, 5); });
        nopal::spawn([&] { io::write_all(ends.right, "hello"); });
      });
      EXPECT_EQ(read, "hello");
    });
}

TEST(io, many_connections_are_served_at_a_time) {
  constexpr int kConnections = 100;
  constexpr int kRequests = 20;
  std::atomic<int> answered{0};
  nopal::run([&] {
    descriptor server = io::listen(io::address::loopback(0));
    for (int i = 0; i < kConnections; ++i) {
      nopal::spawn([&answered, at = io::address::local(server), i] {
        descriptor mine = io::connect(at);
        for (int k = 0; k < kRequests; ++k) {
          const std::string line = std::to_string(i * kRequests + k);
          io::write_all(mine, line);
          answered += read_exactly(mine, line.size()) == line ? 1 : 0;
        }
      });
      nopal::spawn([peer = io::accept(server)]() mutable {
        std::array<char, 100> some{};
        while (const std::size_t got = io::read_some(peer, some))
          io::write_all(peer, {some.data(), got});
      });
    }
  });
  EXPECT_EQ(answered, kConnections * kRequests);
}

TEST(io, what_was_written_before_the_end_is_read) {
  nopal::run([] {
    for (const bool tcp : {false, true}) {
      descriptor server = io::listen(io::address::loopback(0));
      connection ends;
      if (tcp)
        ends = over_tcp(server);
      else if (pair both = connected(); true)
        ends = {std::move(both.left), std::move(both.right)};
      std::string read;
      nopal::run([&] {
        nopal::spawn([&] { read = read_all(ends.server); });
        for (int i = 0; i < 100; ++i)
          io::write_all(ends.client, "some words ");
        ends.client.close();
      });
      EXPECT_EQ(read.size(), 1100u);
    }
  });
}

TEST(io, a_writer_waits_for_a_slow_reader) {
  const std::string much(4 << 20, 'm');
  nopal::run([&] {
    for (const auto make : {connected, a_pipe}) {
      pair ends = make();
      nopal::spawn([&much, to = std::move(ends.left)]() mutable { io::write_all(to, much); });
      EXPECT_EQ(read_all(ends.right), much);
    }
  });
}

TEST(io, a_descriptor_that_blocks_can_be_waited_for) {
  nopal::run([] {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    for (int round = 0; round < repetitions(200, 20); ++round)
      nopal::run([&] {
        nopal::spawn([from = ends[0]] {
          io::wait_readable(from);
          char byte = 0;
          EXPECT_EQ(read(from, &byte, 1), 1);
        });
        io::wait_writable(ends[1]);
        EXPECT_EQ(write(ends[1], "x", 1), 1);
      });
    close(ends[0]);
    close(ends[1]);
  });
}

TEST(io, a_full_pipe_is_waited_for) {
  nopal::run([] {
    pair ends = a_pipe();
    while (write(ends.left.get(), "12345678", 8) > 0) {
    }
    EXPECT_EQ(errno, EAGAIN);
    std::atomic<bool> emptied{false};
    nopal::run([&] {
      nopal::spawn([&] {
        io::wait_writable(ends.left.get());
        EXPECT_TRUE(emptied);
      });
      nopal::yield();
      std::array<char, 1 << 16> some{};
      emptied = true;
      io::read_some(ends.right, some);
    });
  });
}

TEST(io, a_regular_file_is_always_ready) {
  nopal::run([] {
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    io::wait_readable(file);
    descriptor owner{file};
    std::array<char, 4> magic{};
    EXPECT_EQ(io::read_some(owner, magic), 4u);
    EXPECT_EQ(std::string(magic.data() + 1, 3), "ELF");
  });
}

TEST(io, all_that_wait_for_a_descriptor_are_woken) {
  for (int round = 0; round < repetitions(100, 20); ++round)
    nopal::run([] {
      pair ends = connected();
      std::atomic<int> read{0};
      nopal::run([&] {
        for (int i = 0; i < 3; ++i)
          nopal::spawn([&] {
            read_exactly(ends.left, 1);
            ++read;
          });
        for (int i = 0; i < 3; ++i) {
          nopal::yield();
          io::write_all(ends.right, "x");
        }
      });
      EXPECT_EQ(read, 3);
    });
}

TEST(io, who_waits_for_a_descriptor_that_is_closed_is_told) {
  for (int round = 0; round < repetitions(200, 20); ++round)
    nopal::run([] {
      pair ends = connected();
      int error = 0;
      nopal::run([&] {
        nopal::spawn([&] { error = error_of([&] { read_exactly(ends.left, 1); }); });
        nopal::yield();
        ends.left.close();
      });
      EXPECT_EQ(error, EBADF);
    });
}

TEST(io, a_number_is_used_again) {
  nopal::run([] {
    int before = -1;
    int same = 0;
    for (int round = 0; round < repetitions(300, 30); ++round) {
      pair ends = round % 2 == 0 ? connected() : a_pipe();
      same += before == ends.right.get() || before == ends.left.get() ? 1 : 0;
      before = ends.right.get();
      nopal::run([&] {
        nopal::spawn([&] { EXPECT_EQ(read_exactly(ends.right, 2), "hi"); });
        nopal::yield();
        io::write_all(ends.left, "hi");
      });
    }
    EXPECT_GT(same, 0);
  });
}

TEST(io, a_number_that_was_closed_by_the_system_call_is_used_again) {
  nopal::run([] {
    for (int round = 0; round < repetitions(300, 30); ++round) {
      int ends[2];
      ASSERT_EQ(pipe(ends), 0);
      nopal::run([&] {
        nopal::spawn([&] { io::wait_readable(ends[0]); });
        nopal::yield();
        EXPECT_EQ(write(ends[1], "x", 1), 1);
      });
      close(ends[0]);
      close(ends[1]);
    }
  });
}

TEST(io, who_waits_is_cancelled) {
  for (int round = 0; round < repetitions(200, 20); ++round)
    nopal::run([] {
      pair ends = connected();
      nopal::cancelable all;
      std::atomic<int> begun{0};
      std::atomic<int> stopped{0};
      for (int i = 0; i < 3; ++i)
        nopal::spawn(all, [&] {
          ++begun;
          try {
            read_exactly(ends.left, 1);
          } catch (const nopal::cancelled&) {
            ++stopped;
            throw;
          }
        });
      nopal::yield();
      all.cancel();
      EXPECT_EQ(stopped, begun);
      io::write_all(ends.right, "y"); // nobody of those takes it
      EXPECT_EQ(read_exactly(ends.left, 1), "y");
    });
}

TEST(io, a_deadline_ends_a_wait) {
  nopal::run([] {
    pair ends = connected();
    nopal::cancel_scope s{std::chrono::milliseconds(1)};
    bool read = false;
    s.fork([&] {
      read_exactly(ends.left, 1);
      read = true;
    });
    EXPECT_FALSE(s.try_join());
    EXPECT_FALSE(read);
  });
}

TEST(io, a_wait_ends_at_its_time) {
  pair ends = connected();
  const auto soon = [] { return io::clock::now() + std::chrono::milliseconds(2); };
  const auto late = [&] {
    EXPECT_FALSE(io::wait_readable(ends.left.get(), soon()));
    std::array<char, 1> byte{};
    EXPECT_EQ(error_of([&] { io::read_some(ends.left, byte, soon()); }), ETIMEDOUT);
    EXPECT_TRUE(io::wait_writable(ends.left.get(), soon()));
  };
  late(); // on a thread that runs no strands
  nopal::run([&] {
    for (int i = 0; i < 20; ++i)
      nopal::spawn(late);
  });
  nopal::run([&] { // nobody stands in the queue any more
    nopal::spawn([&] { EXPECT_EQ(read_exactly(ends.left, 1), "x"); });
    io::write_all(ends.right, "x");
  });
}

// Whichever comes first: a time that is about now, and what is written then.
TEST(io, a_time_and_an_event_wake_a_strand_once) {
  nopal::run([] {
    pair ends = connected();
    for (int round = 0; round < repetitions(300, 50); ++round)
      nopal::run([&] {
        nopal::spawn([&, round] {
          const auto until = io::clock::now() + std::chrono::microseconds(round % 60);
          std::array<char, 1> byte{};
          if (error_of([&] { io::read_some(ends.left, byte, until); }) == ETIMEDOUT) {
            EXPECT_EQ(read_exactly(ends.left, 1), "x");
          }
        });
        nopal::yield();
        io::write_all(ends.right, "x");
      });
  });
}

TEST(io, data_after_urgent_ones_are_read) {
  for (int round = 0; round < repetitions(50, 10); ++round)
    nopal::run([] {
      descriptor server = io::listen(io::address::loopback(0));
      connection ends = over_tcp(server);
      io::write_all(ends.client, "ab");
      EXPECT_EQ(read_exactly(ends.server, 2), "ab");
      std::string read;
      nopal::run([&] {
        nopal::spawn([&] { read = read_all(ends.server); });
        nopal::yield();
        EXPECT_EQ(send(ends.client.get(), "cdU", 3, MSG_OOB), 3);
        io::write_all(ends.client, "ef");
        shutdown(ends.client.get(), SHUT_WR);
      });
      EXPECT_EQ(read, "cdef");
    });
}

TEST(io, a_thread_that_runs_no_strands_blocks) {
  pair ends = connected();
  std::string read;
  std::thread reader([&] { read = read_exactly(ends.left, 3); });
  io::write_all(ends.right, "abc");
  reader.join();
  EXPECT_EQ(read, "abc");
}

TEST(io, a_strand_waits_with_open_forks) {
  for (int round = 0; round < repetitions(100, 20); ++round) {
    pair ends = connected();
    std::string read;
    int sum = 0;
    nopal::run([&] {
      nopal::spawn([&] { io::write_all(ends.right, "xyz"); });
      nopal::scope s;
      s.fork([&] { read = read_exactly(ends.left, 3); });
      sum += 1;
      s.join();
    });
    EXPECT_EQ(read, "xyz");
    EXPECT_EQ(sum, 1);
  }
}

// Whatever runs, what becomes readable is seen: the timer looks where all threads compute.
TEST(io, who_computes_keeps_nobody_from_what_can_be_read) {
  pair ends = a_pipe();
  gate computes;
  std::atomic<bool> done{false};
  std::thread writer([&] {
    computes.wait();
    EXPECT_EQ(write(ends.left.get(), "x", 1), 1);
  });
  nopal::run([&] {
    nopal::spawn([&] {
      read_exactly(ends.right, 1);
      done = true;
    });
    for (int i = 0; i < 8; ++i)
      nopal::spawn([&] {
        computes.open();
        while (!done)
          nopal::poll();
      });
  });
  writer.join();
}

// Threads that end their work leave the watch to those that wait.
TEST(io, threads_of_the_program_wait_beside_one_another) {
  for (int round = 0; round < repetitions(100, 20); ++round) {
    pair first = a_pipe();
    pair second = a_pipe();
    const auto reads = [](descriptor& from) {
      return std::thread{
          [&from] { nopal::run([&] { nopal::spawn([&] { read_exactly(from, 1); }); }); }};
    };
    std::thread reader = reads(first.right);
    std::thread other_reader = reads(second.right);
    EXPECT_EQ(write(first.left.get(), "x", 1), 1);
    reader.join();
    EXPECT_EQ(write(second.left.get(), "x", 1), 1);
    other_reader.join();
  }
}

} // namespace
} // namespace nopal_test
