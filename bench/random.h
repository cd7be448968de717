// SPDX-License-Identifier: MIT
// Random numbers that are the same on every machine (splitmix64: Steele, Lea, Flood 2014).
#pragma once

#include <cstdint>
#include <vector>

namespace bench {

constexpr std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The same for every order of the same values.
inline std::uint64_t sum_of_hashes(const std::vector<std::int32_t>& values) {
  std::uint64_t sum = 0;
  for (const std::int32_t v : values)
    sum += mixed(static_cast<std::uint32_t>(v));
  return sum;
}

class random_numbers {
public:
  explicit constexpr random_numbers(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() {
    const std::uint64_t value = mixed(state_);
    state_ += 0x9e3779b97f4a7c15;
    return value;
  }

private:
  std::uint64_t state_;
};

} // namespace bench
