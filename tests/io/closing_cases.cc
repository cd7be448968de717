// SPDX-License-Identifier: MIT
// Descriptors that are closed, moved, given up or taken over while others use them. Each program
// that is linked with this has another number of workers.
#include "nopal/cancel.h"
#include "nopal/cancelable.h"
#include "nopal/fiber.h"
#include "nopal/io.h"
#include "tests/api/support.h"
#include "tests/io/descriptors.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace nopal_test {
namespace {

using call = std::function<void(descriptor&)>;

void read_one(descriptor& from) { read_exactly(from, 1); }

// Calls that wait, each with what it waits for.
struct waiting_call {
  std::function<std::array<descriptor, 2>()> make; // the first is waited for
  call waits;
};
std::array<descriptor, 2> two(pair ends) { return {std::move(ends.left), std::move(ends.right)}; }
const waiting_call all_calls[] = {
    {[] { return two(connected()); }, read_one},
    {[] { return two(connected()); },
     [](auto& to) { io::write_all(to, std::string(4 << 20, 'm')); }},
    {[] { return std::array{io::listen(io::address::loopback(0)), descriptor{}}; },
     [](auto& from) { io::accept(from); }},
    {[] { return two(connected()); },
     [](auto& from) {
       for (;;)
         if (const int fd = from.get(); fd >= 0)
           io::wait_readable(fd);
         else
           io::read_some(from, {}); // EBADF
     }},
};

// The error of this call, on a strand or on a thread that runs none, while something is done.
int error_while(bool on_thread, const waiting_call& each, descriptor& used, const call& meanwhile) {
  int error = -1;
  gate begun;
  const auto waits = [&] {
    begun.open();
    error = error_of([&] { each.waits(used); });
  };
  if (on_thread) {
    std::thread waiter{waits};
    begun.wait();
    meanwhile(used);
    waiter.join();
  } else {
    nopal::run([&] {
      nopal::spawn(waits);
      nopal::yield();
      meanwhile(used);
    });
  }
  return error;
}

TEST(io_closing, ends_each_call_that_waits_on_strands_and_threads) {
  for (const bool on_thread : {false, true})
    for (const waiting_call& each : all_calls)
      for (int round = 0; round < repetitions(30, 5); ++round) {
        auto [used, other] = each.make();
        const auto close = [](descriptor& open) { open.close(); };
        EXPECT_EQ(error_while(on_thread, each, used, close), EBADF) << on_thread << round;
      }
}

TEST(io_closing, who_gives_a_descriptor_up_keeps_it_open) {
  for (const bool on_thread : {false, true})
    for (int round = 0; round < repetitions(30, 5); ++round) {
      auto [used, other] = all_calls[0].make();
      int number = -1;
      const auto release = [&](descriptor& open) { number = open.release(); };
      EXPECT_EQ(error_while(on_thread, all_calls[0], used, release), EBADF);
      io::write_all(other, "x");
      descriptor again{number};
      read_one(again);
    }
}

// What is done to the object is not done to the call that is amid.
TEST(io_closing, the_object_may_be_moved_and_destroyed_while_it_is_used) {
  for (const bool on_thread : {false, true})
    for (const bool destroyed : {false, true})
      for (int round = 0; round < repetitions(30, 5); ++round) {
        pair ends = connected();
        std::optional<descriptor> object{std::move(ends.left)};
        std::string read;
        int error = 0;
        bool taken = false; // the first byte was
        const auto reads = [&, use = std::ref(*object)] {
          error = error_of([&] { read = read_exactly(use, 1); });
        };
        const auto changes = [&] {
          std::optional<descriptor> moved;
          if (destroyed)
            object->close();
          else
            moved = std::move(*object);
          const auto writes = [&] { return error_of([&] { io::write_all(ends.right, "x"); }); };
          int seen = writes();
          taken = seen == 0;
          while (destroyed && seen == 0) { // a read(2) or poll(2) amid holds the file meanwhile
            std::this_thread::yield();
            seen = writes();
          }
          EXPECT_EQ(seen, destroyed ? EPIPE : 0);
        };
        gate may_wait;
        std::thread reader;
        if (on_thread) {
          reader = std::thread{[&] {
            may_wait.open();
            reads();
          }};
          may_wait.wait();
          changes();
          reader.join();
        } else {
          nopal::run([&] {
            nopal::spawn(reads);
            nopal::yield();
            changes();
          });
        }
        EXPECT_TRUE(error == EBADF || (taken && read == "x")) << error << read;
      }
}

TEST(io_closing, a_number_that_is_taken_over_twice_belongs_to_the_last) {
  nopal::run([] {
    pair ends = connected();
    descriptor last;
    int error = 0;
    nopal::run([&] {
      nopal::spawn([&] { error = error_of([&] { read_one(ends.left); }); });
      nopal::yield();
      last = descriptor{ends.left.get()};
    });
    EXPECT_EQ(error, EBADF);
    ends.left.close(); // of nothing
    nopal::run([&] {
      nopal::spawn([&] { read_one(last); });
      io::write_all(ends.right, "x");
    });
  });
}

// close(2) behind the object's back, and another file gets the number.
TEST(io_closing, who_owned_a_number_before_does_nothing_to_who_owns_it_now) {
  nopal::run([] {
    pair old = connected();
    const int number = old.left.get();
    std::array<int, 2> fresh{};
    close(number);
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fresh.data()), 0);
    ASSERT_EQ(fresh[0], number);
    descriptor left{fresh[0]};
    descriptor right{fresh[1]};
    EXPECT_EQ(error_of([&] { io::write_all(old.left, "old"); }), EBADF);
    old.left.close();
    io::write_all(left, "new");
    EXPECT_EQ(read_exactly(right, 3), "new");
  });
}

TEST(io_closing, one_of_two_numbers_of_a_file_leaves_the_other) {
  nopal::run([] {
    for (int round = 0; round < repetitions(50, 10); ++round) {
      pair ends = connected();
      descriptor second{dup(ends.left.get())};
      int error = 0;
      nopal::run([&] {
        nopal::spawn([&] { error = error_of([&] { read_one(ends.left); }); });
        nopal::spawn([&] { read_one(second); });
        nopal::yield();
        ends.left.close();
        io::write_all(ends.right, "xx"); // the first may have been faster
      });
      EXPECT_TRUE(error == EBADF || error == 0);
      pair next = connected(); // gets the number that was closed
      io::write_all(ends.right, "y");
      EXPECT_FALSE(io::wait_readable(next.left.get(), io::clock::now()));
    }
  });
}

TEST(io_closing, many_may_close_it_and_one_does) {
  for (int round = 0; round < repetitions(200, 20); ++round)
    nopal::run([] {
      pair ends = connected();
      const int number = ends.left.get();
      nopal::run([&] {
        for (int i = 0; i < 4; ++i)
          nopal::spawn([&] { ends.left.close(); });
      });
      const int next = dup(number + 1 == ends.right.get() ? ends.right.get() : 0);
      ends.left.close();
      EXPECT_GE(fcntl(next, F_GETFD), 0);
      close(next);
    });
}

TEST(io_closing, a_time_that_has_passed_ends_what_would_wait_and_nothing_else) {
  const auto past_by = [](io::clock::time_point before) {
    pair ends = connected();
    std::array<char, 8> some{};
    EXPECT_EQ(error_of([&] { io::read_some(ends.left, some, before); }), ETIMEDOUT);
    io::write_all(ends.right, "abc", before);
    EXPECT_EQ(io::read_some(ends.left, some, before), 3u);
    EXPECT_TRUE(io::wait_writable(ends.left.get(), before));
    EXPECT_FALSE(io::wait_readable(ends.left.get(), before));
    descriptor server = io::listen(io::address::loopback(0));
    EXPECT_EQ(error_of([&] { io::accept(server, before); }), ETIMEDOUT);
  };
  for (const auto before :
       {io::clock::now() - std::chrono::hours(1), io::clock::time_point::min()}) {
    past_by(before);
    nopal::run([&] { past_by(before); });
  }
}

TEST(io_closing, a_strand_that_was_cancelled_before_leaves_no_trace) {
  nopal::run([] {
    pair ends = connected();
    nopal::cancelable all;
    for (int i = 0; i < 8; ++i)
      nopal::spawn(all, [&] { read_one(ends.left); });
    all.cancel();
    const int number = ends.left.get();
    ends.left.close();
    EXPECT_LT(fcntl(number, F_GETFD), 0); // nobody uses it any more
  });
}

TEST(io_closing, signals_end_no_wait_of_a_thread) {
  struct sigaction action{}, before{};
  action.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  pair ends = connected();
  std::atomic<bool> done{false};
  std::thread reader{[&] {
    read_one(ends.left);
    done = true;
  }};
  for (int i = 0; i < 50; ++i) {
    pthread_kill(reader.native_handle(), SIGUSR1);
    std::this_thread::yield();
  }
  EXPECT_FALSE(done);
  io::write_all(ends.right, "x");
  reader.join();
  sigaction(SIGUSR1, &before, nullptr);
}

} // namespace
} // namespace nopal_test
