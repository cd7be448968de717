// SPDX-License-Identifier: MIT
// A user's program on several processes, built with the installed library.
#include <nopal/process.h>

#include <cstdio>

namespace {

long fib(int n) {
  if (n < 2)
    return n;
  nopal::process::task<long> x = nopal::process::spawn(fib, n - 1);
  const long y = fib(n - 2);
  return nopal::process::join(x) + y;
}

} // namespace

int main(int argc, char** argv) {
  nopal::process::session session{argc, argv};
  const long got = session.run(fib, 20);
  if (session.rank() == 0)
    std::printf("fib(20) = %ld with %u processes\n", got, session.size());
}
