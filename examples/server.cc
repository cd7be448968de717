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

// Listens on a free port of this machine, and prints its number. Returns the socket.
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

// The next client's connection, which skips clients that have left. Negative: errno has the error.
int next_connection(int socket_) {
  int connection = -1;
  do
    connection = nopal::blocking([&] { return accept(socket_, nullptr, nullptr); });
  while (connection < 0 && (errno == EINTR || errno == ECONNABORTED));
  return connection;
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"Answers each line that holds a number with that Fibonacci number."};
  int connections = 1;
  app.add_option("--connections", connections, "ends after so many")->check(CLI::Range(1, 1 << 20));
  return run_program(app, argc, argv, [&] {
    std::signal(SIGPIPE, SIG_IGN); // if a client has left, only its answer is lost
    nopal::channel<long> served;
    nopal::run([&] {
      const int socket_ = listen_here();
      nopal::spawn([&, left = connections] {
        long total = 0;
        for (int i = 0; i < left; ++i)
          total += served.recv();
        std::printf("%ld requests\n", total);
      });
      for (int i = 0; i < connections; ++i) {
        const int connection = next_connection(socket_);
        if (connection < 0) { // the connections that were accepted are served all the same
          const int error = errno;
          for (; i < connections; ++i)
            served.send(0);
          errno = error;
          throw_errno("accept");
        }
        nopal::spawn([&served, connection] { served.send(serve(connection)); });
      }
      close(socket_);
    });
  });
}
