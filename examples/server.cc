// SPDX-License-Identifier: MIT
// server --connections N: a fiber for each connection, which reads a number a line and answers with
// that Fibonacci number. Many connections wait at a time, and their computations fork, in one pool.
#include "shared/command_line.h"

#include <nopal/fiber.h>
#include <nopal/invoke.h>
#include <nopal/io.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <string>
#include <system_error>

namespace {

long fib(int n) {
  if (n < 2)
    return n;
  const auto [x, y] = nopal::invoke([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return x + y;
}

// Returns the number of requests. While it waits for one, its thread runs others.
long serve(nopal::io::descriptor& connection) {
  long requests = 0;
  std::array<char, 512> some{};
  std::string line;
  while (const std::size_t got = nopal::io::read_some(connection, some))
    for (const char c : std::string_view{some.data(), got}) {
      if (c != '\n') {
        line += c;
        continue;
      }
      const int n = std::clamp(std::atoi(line.c_str()), 0, 45);
      nopal::io::write_all(connection, std::to_string(fib(n)) + "\n");
      line.clear();
      ++requests;
    }
  return requests;
}

// A client that has left loses its answer, and no more.
long serve_one(nopal::io::descriptor& connection) try {
  return serve(connection);
} catch (const std::system_error&) {
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  command_line line{"Answers each line that holds a number with that Fibonacci number."};
  int connections = 1;
  line.number("--connections", connections, 1, 1 << 20, "ends after so many");
  return line.run(argc, argv, [&] {
    std::atomic<long> requests{0};
    nopal::run([&] { // returns when all that were accepted are served
      nopal::io::descriptor from = nopal::io::listen(nopal::io::address::loopback(0));
      std::printf("port %d\n", nopal::io::address::local(from).port());
      std::fflush(stdout);
      for (int i = 0; i < connections; ++i)
        nopal::spawn(
            [&requests, peer = nopal::io::accept(from)]() mutable { requests += serve_one(peer); });
    });
    std::printf("%ld requests\n", requests.load());
  });
}
