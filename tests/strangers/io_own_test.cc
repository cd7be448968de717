// SPDX-License-Identifier: MIT
// A program closes all descriptors that it does not know, as daemons do, and opens files of its
// own: the runtime's epoll and eventfd were among them, and it wrote into the file that got the
// number.
#include "nopal/fiber.h"
#include "nopal/io.h"
#include "nopal/sleep.h"
#include "tests/api/support.h"
#include "tests/io/descriptors.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

const start setup{4};

class io_own_death : public death {};

bool works() {
  pair ends = a_pipe();
  bool read = false;
  nopal::run([&] {
    nopal::spawn([&] { read = read_exactly(ends.right, 1) == "x"; });
    nopal::sleep_for(std::chrono::milliseconds(1)); // other threads watch
    io::write_all(ends.left, "x");
  });
  return read;
}

// Takes all the numbers that the runtime may have had.
template <class Open> std::vector<int> open_many(Open open) {
  std::vector<int> all;
  do
    all.push_back(open());
  while (all.back() < 80);
  return all;
}

void expect(bool fact, const char* what) {
  if (fact)
    return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::_Exit(1);
}
void close_all() { expect(close_range(3, ~0U, 0) == 0, "close_range"); }

TEST_F(io_own_death, files_that_get_the_numbers_stay_as_they_are) {
  const auto body = [] {
    expect(works(), "io works");
    close_all();
    const std::vector<int> files = open_many([] {
      const int file = memfd_create("file", 0);
      return write(file, "data", 4) == 4 ? file : -1;
    });
    expect(works(), "io works after that");
    expect(works(), "io works again");
    for (const int file : files)
      expect(lseek(file, 0, SEEK_END) == 4, "a file of the program was written to");
    std::_Exit(0);
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "");
}

TEST_F(io_own_death, eventfds_and_epolls_that_get_the_numbers_stay_as_they_are) {
  const auto body = [] {
    expect(works(), "io works");
    close_all();
    const int counted = eventfd(5, EFD_NONBLOCK);
    const std::vector<int> epolls = open_many([] { return epoll_create1(0); });
    for (const int epoll : epolls) {
      epoll_event event{EPOLLIN | EPOLLET, {.u64 = 7}};
      expect(epoll_ctl(epoll, EPOLL_CTL_ADD, counted, &event) == 0, "epoll_ctl");
    }
    expect(works() && works(), "io works after that");
    for (const int epoll : epolls) { // the one event is there, and no other
      epoll_event found[2]{};
      expect(epoll_wait(epoll, found, 2, 0) == 1 && found[0].data.u64 == 7, "an event was taken");
    }
    std::uint64_t count = 0;
    expect(read(counted, &count, sizeof count) == sizeof count && count == 5, "it was counted");
    std::_Exit(0);
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "");
}

// What the program keeps is watched as before.
TEST_F(io_own_death, who_waits_for_a_descriptor_that_stays_is_woken) {
  const auto body = [] {
    int ends[2];
    expect(pipe(ends) == 0 && dup2(ends[0], 90) == 90 && dup2(ends[1], 91) == 91, "a pipe");
    descriptor from{90};
    nopal::run([&] {
      nopal::spawn([&] { expect(read_exactly(from, 1) == "x", "it is read"); });
      wait_for_one_that_waits();
      expect(close_range(3, 89, 0) == 0, "close_range");
      nopal::sleep_for(std::chrono::milliseconds(1));
      expect(write(91, "x", 1) == 1, "write");
    });
    std::_Exit(0);
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "");
}

TEST_F(io_own_death, a_thread_that_waits_is_told_that_its_descriptor_was_closed) {
  const auto body = [] {
    pair ends = a_pipe();
    int error = 0;
    gate begun;
    std::thread reader{[&] {
      begun.open();
      error = error_of([&] { read_exactly(ends.right, 1); });
    }};
    begun.wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(1)); // it waits
    close_all();
    ends.right.close();
    reader.join();
    expect(error == EBADF, "EBADF");
    std::_Exit(0);
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "");
}

// As it makes them when a strand first waits, and a daemon has closed 0 to open it anew.
TEST_F(io_own_death, the_runtime_takes_no_standard_number) {
  const auto body = [] {
    pair ends = a_pipe();
    close(0);
    nopal::run([&] {
      nopal::spawn([&] { read_exactly(ends.right, 1); });
      wait_for_one_that_waits();
      expect(open("/dev/null", O_RDONLY) == 0, "0 is free");
      io::write_all(ends.left, "x");
    });
    std::_Exit(0);
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace nopal_test
