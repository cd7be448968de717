// SPDX-License-Identifier: MIT
// The trees of UTS, the Unbalanced Tree Search benchmark: how many children a node has follows from
// the SHA-1 digest that is its state.
//
// A node's state is the digest of its parent's state and its own number among the children; the
// root's, that of 16 zero bytes and the seed. The last word of the state, without its sign, is the
// node's random number. Parameters have the letters of the reference's options. The numbers of
// nodes, leaves and levels are those that the reference prints; but all of the smallest tree, and
// the leaves of the uni-address paper's (D=...), were counted here.
//
// Source: Olivier et al., UTS: An Unbalanced Tree Search Benchmark, LCPC 2006.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "bench/process/sha1.h"

namespace bench::uts {

enum class kind { binomial, geometric, hybrid };               // -t 0, 1, 2
enum class shape { linear, exponential, cyclic, fixed_until }; // -a 0, 1, 2, 3

struct tree {
  long number; // that --n chooses it by
  const char* name;
  uts::kind kind;       // -t
  uts::shape shape;     // -a
  int depth;            // -d
  double root_branches; // -b
  int seed;             // -r
  double inner;         // -q: the probability that a node of a binomial tree has children
  int branches;         // -m: how many it has then
  std::uint64_t nodes;
  std::uint64_t leaves;
  std::uint32_t height;
};

inline constexpr tree trees[] = {
    {1, "T1", kind::geometric, shape::fixed_until, 10, 4, 19, 0, 0, 4130071, 3305118, 10},
    {2, "T2", kind::geometric, shape::cyclic, 16, 6, 502, 0, 0, 4117769, 2342762, 81},
    {3, "T3", kind::binomial, shape::linear, 0, 2000, 42, 0.124875, 8, 4112897, 3599034, 1572},
    {4, "T4", kind::hybrid, shape::linear, 16, 6, 1, 0.234375, 4, 4132453, 3108986, 134},
    {5, "T5", kind::geometric, shape::linear, 20, 4, 34, 0, 0, 4147582, 2181318, 20},
    {6, "D=6", kind::geometric, shape::fixed_until, 6, 4, 0, 0, 0, 26417, 21084, 6},
    {8, "D=8", kind::geometric, shape::fixed_until, 8, 4, 0, 0, 0, 420457, 336331, 8},
    {10, "D=10", kind::geometric, shape::fixed_until, 10, 4, 0, 0, 0, 6700654, 5358786, 10},
    {12, "D=12", kind::geometric, shape::fixed_until, 12, 4, 0, 0, 0, 107110452, 85689699, 12},
    {21, "T1L", kind::geometric, shape::fixed_until, 13, 4, 29, 0, 0, 102181082, 81746377, 13},
    {22, "T2L", kind::geometric, shape::cyclic, 23, 7, 220, 0, 0, 96793510, 53791152, 67},
    {23, "T3L", kind::binomial, shape::linear, 0, 2000, 7, 0.200014, 5, 111345631, 89076904, 17844},
};

using state = digest;

inline state root_state(int seed) {
  std::array<std::uint8_t, 20> message{};
  put_big_endian(static_cast<std::uint32_t>(seed), &message[16]);
  return sha1(message);
}
inline state child_state(const state& parent, std::uint32_t number) {
  std::array<std::uint8_t, 24> message{};
  std::copy(parent.begin(), parent.end(), message.begin());
  put_big_endian(number, &message[20]);
  return sha1(message);
}
// From 0 to 1, which it does not reach.
inline double random_of(const state& node) {
  return static_cast<double>(big_endian(&node[16]) & 0x7fffffff) / 2147483648.0;
}

// The mean number of children on this level of a geometric tree.
inline double mean_children(const tree& grown, int level) {
  const double part = static_cast<double>(level) / grown.depth;
  switch (level == 0 ? shape::fixed_until : grown.shape) {
  case shape::linear:
    return grown.root_branches * (1 - part);
  case shape::exponential:
    return grown.root_branches *
           std::pow(level, -std::log(grown.root_branches) / std::log(grown.depth));
  case shape::cyclic:
    return level > 5 * grown.depth ? 0
                                   : std::pow(grown.root_branches,
                                              std::sin(2 * std::numbers::pi * level / grown.depth));
  case shape::fixed_until:
    return level < grown.depth ? grown.root_branches : 0;
  }
  return 0;
}

inline int children_of(const tree& grown, const state& node, int level) {
  constexpr int most = 100;
  if (grown.kind == kind::binomial && level == 0)
    return static_cast<int>(grown.root_branches);
  if (grown.kind == kind::binomial || (grown.kind == kind::hybrid && 2 * level >= grown.depth))
    return random_of(node) < grown.inner ? grown.branches : 0;
  // The number is distributed geometrically: this is the inverse of its distribution function.
  const double stops = 1 / (1 + mean_children(grown, level));
  return std::min(
      most, static_cast<int>(std::floor(std::log(1 - random_of(node)) / std::log(1 - stops))));
}

} // namespace bench::uts
