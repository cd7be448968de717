// SPDX-License-Identifier: MIT
// The echo server of the study `io`: prints its port, and runs until it is killed.
#include <nopal/fiber.h>
#include <nopal/io.h>
#include <nopal/runtime.h>

#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace {

void serve(nopal::io::descriptor& connection) try {
  char bytes[512];
  while (const std::size_t got = nopal::io::read_some(connection, bytes))
    nopal::io::write_all(connection, {bytes, got});
} catch (const std::system_error&) { // the other end has left
}

} // namespace

int main(int argc, char** argv) {
  nopal::configure({.num_workers = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 2u});
  nopal::run([] {
    nopal::io::descriptor server = nopal::io::listen(nopal::io::address::loopback(0));
    std::printf("port %d\n", nopal::io::address::local(server).port());
    std::fflush(stdout);
    for (;;)
      nopal::spawn([peer = nopal::io::accept(server)]() mutable { serve(peer); });
  });
}
