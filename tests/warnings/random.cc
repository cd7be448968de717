// SPDX-License-Identifier: MIT
// Streams of random numbers.
#include "nopal/random.h"

#include <random>

bool random_is_right() {
  static_assert(nopal::random_stream{1}.at(2) == nopal::random_stream{1}.at(2));
  nopal::random_stream all{1};
  nopal::random_stream own = all.split();
  const int number = std::uniform_int_distribution<>{1, 6}(own);
  return number >= 1 && number <= 6 && own() != all() && all.split() != all.at(0);
}
