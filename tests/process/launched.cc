// SPDX-License-Identifier: MIT
// What launched_test.py begins by launchers: prints the number of processes and fib(N), for each of
// so many runs.
//
// usage: launched N RUNS [FOLDER]   with a folder, each process says there what it has to say, in a
//                                   file that its number at the system names, and makes another
//                                   one, connected.NUMBER, when the session has begun
#include "nopal/process.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>

namespace {

namespace process = nopal::process;

long fib(int n) {
  if (n < 2)
    return n;
  process::task<long> x = process::spawn(fib, n - 1);
  const long y = fib(n - 2);
  return process::join(x) + y;
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 3)
    return 2;
  const int n = std::atoi(argv[1]);
  const int runs = std::atoi(argv[2]);
  if (argc > 3 && std::freopen((std::string(argv[3]) + "/" + std::to_string(getpid())).c_str(), "a",
                               stderr) == nullptr)
    return 2;
  process::session here{argc, argv};
  if (argc > 3)
    std::ofstream{std::string(argv[3]) + "/connected." + std::to_string(getpid())};
  for (int i = 0; i < runs; ++i) {
    const long got = here.run(fib, n);
    if (here.rank() == 0)
      std::printf("%u processes: fib(%d) = %ld\n", here.size(), n, got);
  }
  std::fflush(stdout);
}
