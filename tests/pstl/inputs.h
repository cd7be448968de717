// SPDX-License-Identifier: MIT
// Inputs of all sizes for the standard's parallel algorithms, with each execution policy. Each
// result is compared with that of the serial algorithm.
#pragma once

#include "nopal/vproc/settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <execution>
#include <random>
#include <string>
#include <vector>

namespace nopal_test {

inline std::vector<std::size_t> sizes() {
  const bool forced = nopal::vproc::steals_forced(); // then each fork waits for a thief
  std::vector<std::size_t> all;
  for (std::size_t n = 0; n < (forced ? 8 : 20); ++n)
    all.push_back(n);
  std::mt19937 random{20};
  for (int i = 0; i < (forced ? 2 : 12); ++i)
    all.push_back(random() % 1001);
  all.push_back(forced ? 3000 : 30000);
  return all;
}

// A string that is too long to lie in its object, with the number's order.
inline std::string text_of(int number) {
  std::string digits = std::to_string(number);
  return "a number of seven digits: " + std::string(7 - digits.size(), '0') + digits;
}

template <class T> T made_of(int number) {
  if constexpr (std::is_same_v<T, std::string>)
    return text_of(number);
  else
    return static_cast<T>(number);
}

// check(policy, values) with each policy and values of each size, many of them equal.
template <class T, class Check> void for_inputs(const Check& check) {
  std::mt19937 random{21};
  for (const std::size_t n : sizes()) {
    SCOPED_TRACE(n);
    std::vector<T> values(n);
    std::uniform_int_distribution<int> number(0, static_cast<int>(n / 2) + 1);
    for (T& value : values)
      value = made_of<T>(number(random));
    const std::vector<T> given = values;
    check(std::execution::seq, given);
    check(std::execution::unseq, given);
    check(std::execution::par, given);
    check(std::execution::par_unseq, given);
    if (testing::Test::HasFailure())
      return;
  }
}

template <class T> std::vector<T> sorted(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values;
}

} // namespace nopal_test
