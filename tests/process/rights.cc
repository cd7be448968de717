// SPDX-License-Identifier: MIT
// What rights_test.py runs with other rights than its user's: says whose these are, and what it has
// taken from the environment. `rights session`: also how many processes its session has.
#include "nopal/fork.h"
#include "nopal/process.h"
#include "nopal/runtime.h"

#include <cstdio>
#include <unistd.h>

namespace {

int return_one() { return 1; }

} // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    nopal::process::session session{argc, argv};
    if (session.run(return_one) == 1)
      std::printf("%u processes\n", session.size());
  }
  nopal::scope s;
  int one = 0;
  s.fork(one, return_one);
  s.join();
  std::printf("user %u with the rights of %u, group %u with those of %u, %s workers\n", getuid(),
              geteuid(), getgid(), getegid(), nopal::num_workers() == 3 ? "3" : "other");
}
