// SPDX-License-Identifier: MIT
// A floating-point reduction has the same bits with any number of workers. Nothing here may start a
// pool in the test's own process.
#include "nopal/loop.h"
#include "tests/api/support.h"

#include <bit>
#include <cmath>
#include <functional>

namespace nopal_test {
namespace {

// The terms have very different sizes, so that any other bracketing rounds differently.
double term(int i) { return std::pow(-1.1, i % 300) / i; }

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

std::uint64_t reduce_with(unsigned workers, bool forced) {
  nopal::configure({.num_workers = workers});
  if (forced)
    nopal::vproc::force_steals(workers);
  return bits(nopal::reduce(1, 50001, 0.0, std::plus<>{}, term));
}

TEST(same_bits, for_any_number_of_workers) {
  const std::optional<std::uint64_t> alone = apart([] { return reduce_with(1, false); });
  ASSERT_TRUE(alone.has_value());
  double left_to_right = 0.0;
  for (int i = 1; i < 50001; ++i)
    left_to_right += term(i);
  ASSERT_NE(bits(left_to_right), *alone) << "brackets do not change this sum";
  for (const unsigned workers : {2u, 5u, 16u})
    for (const bool forced : {false, true})
      EXPECT_EQ(apart([=] { return reduce_with(workers, forced); }), alone)
          << workers << " workers, steals " << (forced ? "forced" : "as they come");
}

} // namespace
} // namespace nopal_test
