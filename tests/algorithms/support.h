// SPDX-License-Identifier: MIT
// What the tests of the algorithms share: random input of many sizes, and elements that count
// themselves and throw.
#pragma once

#include "nopal/config.h"

#if !defined(NOPAL_SERIAL)
#include "nopal/vproc/settings.h"
#endif

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace nopal_test {

inline bool steals_forced() {
#if defined(NOPAL_SERIAL)
  return false;
#else
  return nopal::vproc::steals_forced();
#endif
}

// All sizes up to 1,000, and some above; fewer where each fork waits for a thief.
inline std::vector<std::size_t> sizes() {
  std::vector<std::size_t> all;
  for (std::size_t size = 0; size <= 1000; size += steals_forced() && size >= 66 ? 311 : 1)
    all.push_back(size);
  for (const std::size_t size : {1023u, 1024u, 1025u, 4096u, 4099u, 33333u})
    all.push_back(size);
  if (!steals_forced())
    all.push_back(200001);
  return all;
}
// A few of these, for what takes long.
inline std::vector<std::size_t> some_sizes() { return {0, 1, 2, 3, 17, 64, 65, 700, 5000, 33333}; }

// Numbers below `below`, the same for each size.
inline std::vector<int> numbers(std::size_t count, int below = 1 << 30) {
  std::mt19937 random{static_cast<unsigned>(count * 2654435761u + 17)};
  std::uniform_int_distribution<int> any{0, below - 1};
  std::vector<int> all(count);
  for (int& each : all)
    each = any(random);
  return all;
}

// The same for all orders of the elements, and seldom for others.
template <class T> std::uint64_t sum_of(const std::vector<T>& all) {
  std::uint64_t sum = 0;
  for (const T each : all)
    sum += std::hash<T>{}(each) * (std::hash<T>{}(each) | 1);
  return sum;
}

// A key, and where it stood.
struct record {
  int key = 0;
  std::size_t place = 0;
  bool operator==(const record&) const = default;
};
inline std::vector<record> records(std::size_t count, int below) {
  const std::vector<int> keys = numbers(count, below);
  std::vector<record> all(count);
  for (std::size_t i = 0; i < count; ++i)
    all[i] = {keys[i], i};
  return all;
}

// Throws when so many calls are left; then never again.
class fuse {
public:
  void light(long calls) noexcept { left_.store(calls, std::memory_order_relaxed); }
  void burn() {
    if (left_.fetch_sub(1, std::memory_order_relaxed) == 0)
      throw blown{};
  }
  struct blown {};

private:
  std::atomic<long> left_{std::numeric_limits<long>::max()};
};
inline fuse moves;

// An element that only moves, counts itself, owns memory, and may throw when it is moved.
class owner {
public:
  explicit owner(int key) : key_(new int(key)) { alive().fetch_add(1); }
  owner(owner&& other) : key_(nullptr) {
    moves.burn();
    key_ = std::exchange(other.key_, nullptr);
    alive().fetch_add(1);
  }
  owner& operator=(owner&& other) {
    moves.burn();
    delete std::exchange(key_, nullptr);
    key_ = std::exchange(other.key_, nullptr);
    return *this;
  }
  ~owner() {
    delete key_;
    alive().fetch_sub(1);
  }
  int key() const { return key_ == nullptr ? -1 : *key_; }

  static std::atomic<long>& alive() {
    static std::atomic<long> count{0};
    return count;
  }

private:
  int* key_;
};
inline std::vector<owner> owners(std::size_t count, int below = 1 << 30) {
  std::vector<owner> all;
  all.reserve(count);
  for (const int key : numbers(count, below))
    all.emplace_back(key);
  return all;
}
inline std::vector<int> keys_of(const std::vector<owner>& all) {
  std::vector<int> keys;
  for (const owner& each : all)
    keys.push_back(each.key());
  return keys;
}

} // namespace nopal_test
