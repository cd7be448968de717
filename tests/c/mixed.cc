// SPDX-License-Identifier: MIT
// C++ that forks C that forks C++, and exceptions that pass frames in C.
#include "tests/c/mixed.h"

#include "tests/c/check.h"

#include <nopal/fork.h>

#include <atomic>
#include <stdexcept>

int sum_in_cpp(int depth) {
  if (depth == 0)
    return 1;
  nopal::scope s;
  int x;
  s.fork(x, sum_in_c, depth - 1);
  const int y = sum_in_c(depth - 1);
  s.join();
  return x + y;
}

// Late, so that children after it are running, and are stopped.
void throw_it() {
  sum_in_c(4);
  throw std::runtime_error{"thrown"};
}

long add_or_throw(int a, int b, int c, int d, int e, int f, int g, int h) {
  if (h < 0)
    throw_it();
  return a + b + c + d + e + f + g + h + sum_in_c(5) - 32;
}

int same(const int* number) { return *number; }

void finish(int* finished) { std::atomic_ref{*finished}.fetch_add(sum_in_c(5) / 32); }

namespace {

bool throws_from_child(void (*forks)(int*)) {
  int finished = 0;
  try {
    forks(&finished);
  } catch (const std::runtime_error& caught) {
    return caught.what() == std::string_view{"thrown"} && finished >= 1;
  }
  return false;
}

bool throws_at_a_join() {
  try {
    throw_at_a_join();
  } catch (const std::runtime_error& caught) {
    return caught.what() == std::string_view{"thrown"};
  }
  return false;
}

// From a child in C++, through a frame in C, to a scope of C++.
bool throws_through_c() {
  nopal::scope s;
  s.fork([] { pass([](void*) { throw std::runtime_error{"passed"}; }, nullptr); });
  try {
    s.join();
  } catch (const std::runtime_error& caught) {
    return caught.what() == std::string_view{"passed"};
  }
  return false;
}

// A fork in C while an exception is handled: the child sees it, too.
bool forks_in_handler() {
  try {
    throw_it();
  } catch (const std::runtime_error&) {
    int same = 0;
    pass(
        [](void* given) {
          try {
            throw;
          } catch (const std::runtime_error& caught) {
            *static_cast<int*>(given) = caught.what() == std::string_view{"thrown"};
          }
        },
        &same);
    return same == 1 && sum_in_c(6) == 64;
  }
  return false;
}

} // namespace

int main(int argc, char** argv) {
  force_steals_if(argc, argv);
  for (int round = 0; round < 20; ++round) {
    CHECK(sum_in_c(8) == 256);
    CHECK(sum_in_cpp(8) == 256);
    CHECK(throws_from_child(fork_and_throw));
    CHECK(throws_from_child(fork_many_and_throw));
    CHECK(throws_through_c());
    CHECK(throws_at_a_join());
    CHECK(forks_in_handler());
  }
  return 0;
}
