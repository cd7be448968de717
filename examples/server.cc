// SPDX-License-Identifier: MIT
// server --connections N: a fiber for each connection, which reads a number a line and answers with
// that Fibonacci number. Many connections wait at a time, and their computations fork, in one pool.
#include "command_line.h"

#include <nopal/blocking.h>
#include <nopal/channel.h>
#include <nopal/fiber.h>
#include <nopal/invoke.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>

namespace {

long fib(int n) {
  if (n < 2)
    return n;
  const auto [x, y] = nopal::invoke([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return x + y;
}

int checked(int result, const char* what) { return result < 0 ? throw_errno(what), 0 : result; }

// On a free port of this machine, whose number is printed.
int listen_here() {
  sockaddr_in address{AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {}};
  socklen_t size = sizeof address;
  auto* const at = reinterpret_cast<sockaddr*>(&address);
  const int socket_ = checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
  checked(bind(socket_, at, size), "bind");
  checked(listen(socket_, SOMAXCONN), "listen");
  checked(getsockname(socket_, at, &size), "getsockname");
  std::printf("port %d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  return socket_;
}

// Returns the number of requests. While it waits for one, another thread takes this one's place.
long serve(int connection) {
  const std::unique_ptr<FILE, int (*)(FILE*)> from{fdopen(connection, "r"), fclose};
  char line[32];
  long requests = 0;
  for (; nopal::blocking([&] { return std::fgets(line, sizeof line, from.get()); }); ++requests)
    dprintf(connection, "%ld\n", fib(std::clamp(std::atoi(line), 0, 45)));
  return requests;
}

// The next client's connection; one that has left before is passed over. Negative: see errno.
int accept_one(int from) {
  int one = -1;
  do
    one = nopal::blocking([&] { return accept(from, nullptr, nullptr); });
  while (one < 0 && (errno == EINTR || errno == ECONNABORTED));
  return one;
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"Answers each line that holds a number with that Fibonacci number."};
  int connections = 1;
  app.add_option("--connections", connections, "ends after so many")->check(CLI::Range(1, 1 << 20));
  return run_program(app, argc, argv, [&] {
    std::signal(SIGPIPE, SIG_IGN); // where a client has left, its answer is lost, and no more
    nopal::channel<long> served;
    nopal::run([&] {
      const int from = listen_here();
      nopal::spawn([&, left = connections] {
        long total = 0;
        for (int i = 0; i < left; ++i)
          total += served.recv();
        std::printf("%ld requests\n", total);
      });
      for (int i = 0; i < connections; ++i) {
        const int one = accept_one(from);
        if (one < 0) { // those that were accepted are served
          const int error = errno;
          for (; i < connections; ++i)
            served.send(0);
          errno = error;
          throw_errno("accept");
        }
        nopal::spawn([&served, one] { served.send(serve(one)); });
      }
      close(from);
    });
  });
}
