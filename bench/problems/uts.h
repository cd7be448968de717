// SPDX-License-Identifier: MIT
// uts: counts the nodes and leaves of an unbalanced tree, and its levels; --n chooses the tree (1
// to 5: T1 to T5; 6, 8, 10, 12: that of uni-address-hpdc15 to this depth; 21 to 23: T1L to T3L).
//
// A node's children are traversed by divide and conquer, as the paper does: a task has a range of
// them, and halves it until one child is left.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "bench/harness.h"
#include "bench/process/uts_tree.h"

namespace bench {

struct uts_counts {
  std::uint64_t nodes;
  std::uint64_t leaves;
  std::uint64_t height;

  uts_counts operator+(const uts_counts& other) const {
    return {nodes + other.nodes, leaves + other.leaves, std::max(height, other.height)};
  }
  bool operator==(const uts_counts&) const = default;
};

// Children [first, last) of a node. A spawn copies it word by word; were it not aligned to words,
// the processor would wait for the stores of its parts.
struct alignas(8) uts_range {
  uts::state parent;
  std::uint16_t level; // of the children
  std::uint16_t first;
  std::uint16_t last;
};

// The same in every process, since each has chosen it before the run.
inline const uts::tree* uts_chosen = nullptr;

BENCH_TASK uts_counts uts_count(uts_range range);

BENCH_TASK uts_counts uts_node(const uts::state& node, std::uint16_t level) {
  const int children = uts::children_of(*uts_chosen, node, level);
  if (children == 0)
    return {1, 1, level};
  return uts_counts{1, 0, 0} + uts_count({node, static_cast<std::uint16_t>(level + 1), 0,
                                          static_cast<std::uint16_t>(children)});
}

BENCH_TASK uts_counts uts_count(uts_range range) {
  if (range.last - range.first == 1)
    return uts_node(uts::child_state(range.parent, range.first), range.level);
  const auto middle = static_cast<std::uint16_t>((range.first + range.last) / 2);
  BENCH_SCOPE(s);
  BENCH_SPAWN(s, left, uts_count, (uts_range{range.parent, range.level, range.first, middle}));
  const uts_counts right = uts_count({range.parent, range.level, middle, range.last});
  BENCH_JOIN_TASK(s, left);
  return left + right;
}

class uts_problem {
public:
  static constexpr const char* name = "uts";

  explicit uts_problem(size chosen)
      : uts_problem(chosen, chosen == size::test    ? 6
                            : chosen == size::quick ? 1
                                                    : 12) {}
  uts_problem(size, long n) : tree_{tree_of(n)} { uts_chosen = &tree_; }

  long n() const { return tree_.number; }
  // A range of k children forks k - 1 times; the leaves are what is left when all have been taken.
  std::uint64_t forks() const { return tree_.leaves - 1; }
  // 256 KiB, but for T3 and T3L, which are thousands of levels deep and take 1.6 KB a level.
  std::size_t region_size() const {
    return std::size_t{tree_.height > 10'000 ? 65536U : tree_.height > 1000 ? 4096U : 256U} << 10;
  }

  auto root() const {
    return [] { return uts_node(uts::root_state(uts_chosen->seed), 0); };
  }
  bool verify(const uts_counts& got) const {
    return got == uts_counts{tree_.nodes, tree_.leaves, tree_.height};
  }

private:
  static const uts::tree& tree_of(long n) {
    const auto* const found = std::find_if(std::begin(uts::trees), std::end(uts::trees),
                                           [n](const uts::tree& each) { return each.number == n; });
    if (found == std::end(uts::trees))
      throw std::invalid_argument("uts has no tree " + std::to_string(n) +
                                  "; accepted are --n 1 to 5, 6, 8, 10, 12, and 21 to 23");
    return *found;
  }

  const uts::tree& tree_;
};

} // namespace bench
