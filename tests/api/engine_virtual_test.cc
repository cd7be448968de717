// SPDX-License-Identifier: MIT
// Fuel under virtual workers: whatever order the seed decides, as much runs as there is fuel for.
#include "nopal/engine.h"
#include "nopal/preemption.h"
#include "tests/api/support.h"

namespace nopal_test {
namespace {

// Forks that have passed, counted behind each.
long counted_fib(int n, long& passed) {
  if (n < 2)
    return n;
  long x = 0;
  nopal::scope s;
  s.fork(x, [&passed](int m) { return counted_fib(m, passed); }, n - 1);
  const long y = counted_fib(n - 2, passed);
  s.join();
  ++passed;
  return x + y;
}

// An engine of forks within one that also polls. Returns the first number of units after which
// something else had run than there was fuel for, or 0.
std::uint64_t first_difference() {
  std::uint64_t wrong = 0;
  nopal::run([&wrong] {
    long polled = 0;
    long inner_runs = 0;
    nopal::engine around{[&] {
      long forked = 0;
      long sum = 0;
      nopal::engine within{[&] { return counted_fib(12, forked); }};
      for (;;) {
        auto ran = std::move(within).run(7);
        ++inner_runs;
        if (long* const all = std::get_if<long>(&ran)) {
          sum += *all;
          break;
        }
        within = std::get<nopal::engine<long>>(std::move(ran));
        nopal::poll();
        ++polled;
      }
      return sum == 144 && forked == 232;
    }};
    constexpr std::uint64_t spent = 232 + 33;
    std::uint64_t given = 0;
    for (std::uint64_t fuel = 1;; fuel = fuel % 11 + 1) {
      auto ran = std::move(around).run(fuel);
      given += fuel;
      const bool* const right = std::get_if<bool>(&ran);
      // 232 forks, by sevens: 33 turns end early, and each is followed by a poll. With no more fuel
      // the outer one does not go on after the inner one.
      if (right != nullptr ? !*right || inner_runs != 34 || polled != 33 || given <= spent
                           : given > spent)
        wrong = given;
      if (right != nullptr || wrong != 0)
        return;
      around = std::get<nopal::engine<bool>>(std::move(ran));
    }
  });
  return wrong;
}

std::optional<std::uint64_t> difference_with(unsigned workers, std::uint64_t seed) {
  return apart([=] {
    nopal::configure({.virtual_workers = workers, .seed = seed});
    return first_difference();
  });
}

TEST(engine_virtual, fuel_is_exact) {
  for (const unsigned workers : {1u, 2u, 3u, 8u})
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
      EXPECT_EQ(difference_with(workers, seed), 0u) << workers << " workers, seed " << seed;
}

} // namespace
} // namespace nopal_test
