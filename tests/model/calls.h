// SPDX-License-Identifier: MIT
// Fork-join programs that the models of views play, and how their frames look.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nopal::model {

inline constexpr int none = -1;
inline constexpr std::size_t most_functions = 8;

// A call of a function. Its steps: f1 forks the call 1, c2 calls the call 2, j joins, w waits; then
// it returns.
struct call {
  int caller;
  std::uintptr_t units; // of its frame
  const char* steps;
};
constexpr bool calls(char step) noexcept { return step == 'f' || step == 'c'; }
// What lies in a frame, from its lowest unit upwards, each beside 0.
inline constexpr std::uintptr_t name_at = 0;
inline constexpr std::uintptr_t step_at = 1;
inline constexpr std::uintptr_t results_at = 2; // of all that it calls or forks
inline constexpr int nothing = 0;
inline constexpr int no_result = -1;
inline constexpr int linkage = -2; // of a stolen frame, at the top of its thief's stack

// How a call calls another, and where it gets the result.
struct callee {
  char how;
  std::uintptr_t result_at;
};
constexpr callee find(int wanted, const call& by) noexcept {
  std::uintptr_t result_at = results_at;
  for (const char* step = by.steps;; ++step)
    if (calls(step[0]) && step[1] - '0' == wanted)
      return {step[0], result_at};
    else if (calls(step[0]))
      ++result_at;
}

// Each of three strands may join.
struct stolen_twice {
  static constexpr call calls[] = {{none, 5, "f1f2j"}, {0, 4, ""}, {0, 7, ""}};
};
// The main path of 0, 2 and 4 may each have another thief.
struct thieves_of_thieves {
  static constexpr call calls[] = {{none, 6, "f1c2j"}, {0, 3, ""},    {0, 5, "f3c4j"},
                                   {2, 2, ""},         {2, 5, "f5j"}, {4, 3, ""}};
};
// Thieves begin below 0, then below 3, which reaches a page further down, then below 0 again.
struct lower_and_higher {
  static constexpr call calls[] = {{none, 8, "f1c2jc3f6c7j"},
                                   {0, 3, ""},
                                   {0, 6, ""},
                                   {0, 7, "f4c5j"},
                                   {3, 3, ""},
                                   {3, 5, ""},
                                   {0, 5, ""},
                                   {0, 5, ""}};
};
// Main paths and children wait once the fork above them is taken.
struct waits {
  static constexpr call calls[] = {{none, 5, "f1wc2wj"}, {0, 3, "w"}, {0, 6, "f3wj"}, {2, 4, "w"}};
};
// Both children of 0 fork.
struct tree {
  static constexpr call calls[] = {{none, 5, "f1f4j"}, {0, 6, "f2c3j"}, {1, 3, ""},
                                   {1, 2, ""},         {0, 3, "f5j"},   {4, 2, ""}};
};

} // namespace nopal::model
