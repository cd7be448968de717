// SPDX-License-Identifier: MIT
// A child of fork() that closes its copy of a descriptor, or ends: it took the descriptor out of
// the epoll that it shared with its parent, whose strand was never woken again.
#include "nopal/fiber.h"
#include "nopal/io.h"
#include "tests/api/support.h"
#include "tests/io/descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace nopal_test {
namespace {

const start setup{4};

// The status of a child that does this.
template <class Body> int status_of_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

descriptor listening; // static: exit() closes it

// The server answers before the child and after it.
template <class Body> void serve_around(Body body) {
  listening = io::listen(io::address::loopback(0));
  const io::address at = io::address::local(listening);
  std::thread server{[] {
    nopal::run([] {
      for (int i = 0; i < 2; ++i) {
        descriptor peer = io::accept(listening);
        io::write_all(peer, read_exactly(peer, 1));
      }
    });
  }};
  const auto ask = [&] {
    descriptor mine = io::connect(at);
    io::write_all(mine, "x");
    EXPECT_EQ(read_exactly(mine, 1), "x");
  };
  ask();
  wait_for_one_that_waits();
  EXPECT_EQ(status_of_child(body), 0);
  ask();
  server.join();
}

TEST(io_child, that_closes_its_copy) {
  serve_around([] {
    listening.close();
    _exit(0);
  });
}
TEST(io_child, that_moves_and_destroys_its_copy) {
  serve_around([] {
    {
      const descriptor mine = std::move(listening);
    }
    _exit(0);
  });
}
TEST(io_child, that_closes_the_number) {
  serve_around([] { _exit(close(listening.get())); });
}
TEST(io_child, that_executes_a_program) {
  serve_around([] { execl("/bin/true", "true", nullptr); });
}
TEST(io_child, that_gives_its_copy_up) {
  serve_around([] { _exit(close(listening.release())); });
}

// Although the parent's strand is amid a call on it.
TEST(io_child, closes_what_it_closes) {
  serve_around([] {
    const int number = listening.get();
    listening.close();
    _exit(fcntl(number, F_GETFD) < 0 ? 0 : 1);
  });
}

bool has_epolls() {
  bool found = false;
  DIR* const all = opendir("/proc/self/fd");
  while (const dirent* each = readdir(all)) {
    std::array<char, 64> what{};
    const ssize_t size = readlinkat(dirfd(all), each->d_name, what.data(), what.size() - 1);
    found = found || (size > 0 && std::string{what.data()} == "anon_inode:[eventpoll]");
  }
  closedir(all);
  return found;
}

TEST(io_child, has_no_epoll_of_its_parent) {
  serve_around([] { _exit(has_epolls() ? 1 : 0); });
}

// On a thread that runs no strands; with an epoll of its own.
TEST(io_child, waits_and_closes_without_its_parents_epoll) {
  pair ends = connected();
  serve_around([&] {
    const auto soon = io::clock::now() + std::chrono::milliseconds(1);
    std::array<char, 1> byte{};
    if (error_of([&] { io::read_some(ends.left, byte, soon); }) != ETIMEDOUT)
      _exit(2);
    io::write_all(ends.right, "x");
    _exit(read_exactly(ends.left, 1) == "x" ? 0 : 3);
  });
}

// Where threads run strands in the child, too.
TEST(io_child, has_strands_that_wait_for_what_it_inherited_and_for_its_own) {
  pair inherited = connected();
  serve_around([&] {
    pair own = connected();
    for (pair* each : {&inherited, &own})
      nopal::run([&] {
        nopal::spawn([&] { io::write_all(each->left, read_exactly(each->left, 1)); });
        io::write_all(each->right, "x");
        if (read_exactly(each->right, 1) != "x")
          _exit(2);
      });
    _exit(0);
  });
}

// A child of a child, from within a strand.
TEST(io_child, of_a_child_of_a_strand) {
  nopal::run([] {
    serve_around([] {
      const int status = status_of_child([] {
        listening.close();
        _exit(0);
      });
      _exit(status == 0 && listening.get() >= 0 ? 0 : 1);
    });
  });
}

} // namespace
} // namespace nopal_test
