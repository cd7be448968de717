// SPDX-License-Identifier: MIT
// A text that counts how often it is copied and moved, and how many there are; what is added to it.
#pragma once

#include <atomic>
#include <string>
#include <utility>

namespace nopal_test {

struct counted_value {
  counted_value() noexcept { ++alive; }
  explicit counted_value(std::string begin) : text(std::move(begin)) { ++alive; }
  counted_value(const counted_value& other) : text(other.text) {
    ++alive;
    ++copies;
  }
  counted_value(counted_value&& other) noexcept : text(std::move(other.text)) {
    ++alive;
    ++moves;
  }
  counted_value& operator=(const counted_value& other) {
    text = other.text;
    ++copies;
    return *this;
  }
  counted_value& operator=(counted_value&& other) noexcept {
    text = std::move(other.text);
    ++moves;
    return *this;
  }
  ~counted_value() { --alive; }

  static void reset() noexcept { copies = moves = 0; }

  std::string text;
  static inline std::atomic<int> copies{0};
  static inline std::atomic<int> moves{0};
  static inline std::atomic<int> alive{0};
};

inline char letter(int i) { return static_cast<char>('a' + i % 26); }
inline std::string letters(int from, int to) {
  std::string all;
  for (int i = from; i < to; ++i)
    all += letter(i);
  return all;
}

} // namespace nopal_test
