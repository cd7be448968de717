// SPDX-License-Identifier: MIT
// A UNIX socket whose queue of connections is full: a connect that may wait was told "try again".
#include "nopal/cancel.h"
#include "nopal/cancelable.h"
#include "nopal/fiber.h"
#include "nopal/io.h"
#include "tests/api/support.h"
#include "tests/io/descriptors.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace nopal_test {
namespace {

const start setup{4};

// Listens, with room for a connection or two.
struct full_server {
  full_server() {
    sockaddr_un at{};
    at.sun_family = AF_UNIX; // in no folder: the name begins with a zero
    std::snprintf(at.sun_path + 1, sizeof at.sun_path - 1, "nopal-full-queue-%d", getpid());
    name.emplace(reinterpret_cast<const sockaddr*>(&at), socklen_t{sizeof at});
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(fd, name->get(), name->size()), 0);
    EXPECT_EQ(listen(fd, 1), 0);
    listening = descriptor{fd};
  }
  // Until there is no room.
  void fill() {
    for (;;) {
      descriptor next;
      if (const int error = error_of([&] { next = io::connect(*name, io::clock::now()); })) {
        EXPECT_EQ(error, ETIMEDOUT);
        return;
      }
      waiting.push_back(std::move(next));
    }
  }

  std::optional<io::address> name;
  descriptor listening;
  std::vector<descriptor> waiting;
};

TEST(io_full_queue, a_connect_waits_until_its_time) {
  full_server server;
  server.fill();
  const auto late = [&] {
    const auto until = io::clock::now() + std::chrono::milliseconds(5);
    EXPECT_EQ(error_of([&] { io::connect(*server.name, until); }), ETIMEDOUT);
    EXPECT_GE(io::clock::now(), until);
  };
  late(); // on a thread that runs no strands
  nopal::run([&] {
    for (int i = 0; i < 8; ++i)
      nopal::spawn(late);
  });
}

TEST(io_full_queue, all_connect_as_the_server_accepts) {
  full_server server;
  server.fill();
  std::atomic<int> connected{0};
  nopal::run([&] {
    for (int i = 0; i < 20; ++i)
      nopal::spawn([&] {
        io::connect(*server.name);
        ++connected;
      });
    for (std::size_t i = 0; i < 20 + server.waiting.size(); ++i)
      io::accept(server.listening);
  });
  EXPECT_EQ(connected, 20);
}

TEST(io_full_queue, who_waits_is_cancelled) {
  full_server server;
  server.fill();
  nopal::run([&] {
    nopal::cancel_scope s{std::chrono::milliseconds(3)};
    s.fork([&] { io::connect(*server.name); });
    EXPECT_FALSE(s.try_join());
  });
}

} // namespace
} // namespace nopal_test
