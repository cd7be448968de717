// SPDX-License-Identifier: MIT
// The tree of barnes_hut: an octree of bodies, built in parallel.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/base_case.h"
#include "bench/vector3.h"

namespace bench {

inline constexpr double barnes_hut_softening = 0.05;

struct barnes_hut_body {
  std::uint64_t key; // of its place: which octant it lies in, three bits for each level
  vector3 position;
  vector3 velocity;
  vector3 acceleration;
};

struct barnes_hut_cell {
  vector3 center; // of mass
  double mass;
  double far;         // the square of the distance from which it counts as one body
  std::ptrdiff_t end; // the first cell after it and those inside it

  vector3 attraction(vector3 to, double square) const {
    const double softened = square + barnes_hut_softening * barnes_hut_softening;
    return (mass / (softened * std::sqrt(softened))) * to;
  }
};

// Where a body lies: its octants, and its place among the bodies.
struct barnes_hut_place {
  std::uint64_t key;
  std::uint64_t body;

  friend bool operator<(const barnes_hut_place& a, const barnes_hut_place& b) {
    return a.key < b.key;
  }
};

// Pieces that are sorted serially, and bodies whose cells are: some microseconds of work.
inline constexpr std::ptrdiff_t barnes_hut_piece = 256;

BENCH_BASE_CASE inline void barnes_hut_sort_base(barnes_hut_place* places,
                                                 barnes_hut_place* scratch, std::ptrdiff_t count,
                                                 bool to_scratch) {
  std::sort(places, places + count);
  if (to_scratch)
    std::copy(places, places + count, scratch);
}

BENCH_BASE_CASE inline void barnes_hut_merge(const barnes_hut_place* from, std::ptrdiff_t half,
                                             std::ptrdiff_t count, barnes_hut_place* to) {
  std::merge(from, from + half, from + half, from + count, to);
}

// In place or to `scratch`. Merges are serial, which bounds the speed-up of the sort by seven.
BENCH_TASK void barnes_hut_sort(barnes_hut_place* places, barnes_hut_place* scratch,
                                std::ptrdiff_t count, bool to_scratch) {
  if (count <= barnes_hut_piece) {
    barnes_hut_sort_base(places, scratch, count, to_scratch);
    return;
  }
  const std::ptrdiff_t half = count / 2;
  BENCH_SCOPE(s);
  BENCH_FORK_VOID(s, barnes_hut_sort, places, scratch, half, !to_scratch);
  barnes_hut_sort(places + half, scratch + half, count - half, !to_scratch);
  BENCH_JOIN(s);
  barnes_hut_merge(to_scratch ? places : scratch, half, count, to_scratch ? scratch : places);
}

BENCH_BASE_CASE inline void barnes_hut_gather_base(const barnes_hut_place* places,
                                                   const barnes_hut_body* from, barnes_hut_body* to,
                                                   std::ptrdiff_t count) {
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    to[i] = from[places[i].body];
    to[i].key = places[i].key;
  }
}

BENCH_TASK void barnes_hut_gather(const barnes_hut_place* places, const barnes_hut_body* from,
                                  barnes_hut_body* to, std::ptrdiff_t count) {
  if (count <= barnes_hut_piece) {
    barnes_hut_gather_base(places, from, to, count);
    return;
  }
  const std::ptrdiff_t half = count / 2;
  BENCH_SCOPE(s);
  BENCH_FORK_VOID(s, barnes_hut_gather, places, from, to, half);
  barnes_hut_gather(places + half, from, to + half, count - half);
  BENCH_JOIN(s);
}

// The parts of an octree while it is built: sorted bodies, and for each body the number of cells
// before the first one that begins with it.
struct barnes_hut_parts {
  static constexpr int levels = 21;
  static constexpr double far_in_edges = 2; // 1 / theta

  const barnes_hut_body* bodies;
  const std::ptrdiff_t* cells_before;
  barnes_hut_cell* cells;
  double mass; // of one body

  bool is_leaf(std::ptrdiff_t first, std::ptrdiff_t last, int level) const {
    return last - first == 1 || level == levels;
  }
  // The first body of the next octant within this cell.
  std::ptrdiff_t end_of_part(std::ptrdiff_t first, std::ptrdiff_t last, int level) const {
    const int shift = 3 * (levels - 1 - level);
    std::ptrdiff_t end = first + 1;
    while (end != last && bodies[end].key >> shift == bodies[first].key >> shift)
      ++end;
    return end;
  }
  // The place of the octant that begins with `part`, in the cell `own`, which begins with `first`.
  std::ptrdiff_t place(std::ptrdiff_t own, std::ptrdiff_t first, std::ptrdiff_t part) const {
    return part == first ? own + 1 : cells_before[part];
  }
  void finish(std::ptrdiff_t own, vector3 sum, std::ptrdiff_t bodies_inside, double far,
              std::ptrdiff_t end) const {
    const auto count = static_cast<double>(bodies_inside);
    cells[own] = {(1 / count) * sum, count * mass, far, end};
  }
  static double far(double edge) { return far_in_edges * far_in_edges * edge * edge; }

  // Makes the cell of these bodies and the cells inside it. Returns the place behind them.
  std::ptrdiff_t add(std::ptrdiff_t own, std::ptrdiff_t first, std::ptrdiff_t last, double edge,
                     int level) const {
    vector3 sum; // of the positions
    std::ptrdiff_t next = own + 1;
    if (is_leaf(first, last, level)) {
      for (std::ptrdiff_t body = first; body != last; ++body)
        sum = sum + bodies[body].position;
      finish(own, sum, last - first, 0, next);
      return next;
    }
    for (std::ptrdiff_t part = first; part != last;) {
      const std::ptrdiff_t end = end_of_part(part, last, level);
      const std::ptrdiff_t inside = next;
      next = add(inside, part, end, edge / 2, level + 1);
      sum = sum + static_cast<double>(end - part) * cells[inside].center;
      part = end;
    }
    finish(own, sum, last - first, far(edge), next);
    return next;
  }
};

BENCH_BASE_CASE inline void barnes_hut_add_base(const barnes_hut_parts* tree, std::ptrdiff_t own,
                                                std::ptrdiff_t first, std::ptrdiff_t last,
                                                double edge, int level) {
  tree->add(own, first, last, edge, level);
}

// The same with a fork for each octant but the last, down to those with few bodies.
BENCH_TASK void barnes_hut_add(const barnes_hut_parts* tree, std::ptrdiff_t own,
                               std::ptrdiff_t first, std::ptrdiff_t last, double edge, int level) {
  if (last - first <= barnes_hut_piece || level == barnes_hut_parts::levels) {
    barnes_hut_add_base(tree, own, first, last, edge, level);
    return;
  }
  std::ptrdiff_t parts[9] = {first}; // where the octants begin
  int count = 0;
  for (; parts[count] != last; ++count)
    parts[count + 1] = tree->end_of_part(parts[count], last, level);
  BENCH_SCOPE(s);
  for (int i = 0; i + 1 < count; ++i)
    BENCH_FORK_VOID(s, barnes_hut_add, tree, tree->place(own, first, parts[i]), parts[i],
                    parts[i + 1], edge / 2, level + 1);
  barnes_hut_add(tree, tree->place(own, first, parts[count - 1]), parts[count - 1], last, edge / 2,
                 level + 1);
  BENCH_JOIN(s);
  vector3 sum;
  std::ptrdiff_t inside = own + 1;
  for (int i = 0; i < count; ++i) {
    sum = sum + static_cast<double>(parts[i + 1] - parts[i]) * tree->cells[inside].center;
    inside = tree->cells[inside].end;
  }
  tree->finish(own, sum, last - first, barnes_hut_parts::far(edge), inside);
}

// An octree of bodies with equal masses, which are sorted by their octants. A leaf holds one body;
// bodies that the last level does not tell apart make a leaf together.
class barnes_hut_tree {
public:
  void build(std::vector<barnes_hut_body>* bodies) {
    const double half = reach(*bodies);
    const auto count = static_cast<std::ptrdiff_t>(bodies->size());
    sort(bodies, half);
    const std::ptrdiff_t cells = count_cells(*bodies);
    if (static_cast<std::ptrdiff_t>(cells_.size()) < cells)
      cells_.resize(static_cast<std::size_t>(cells));
    const barnes_hut_parts parts{bodies->data(), cells_before_.data(), cells_.data(),
                                 1 / static_cast<double>(count)};
    barnes_hut_add(&parts, 0, 0, count, 2 * half, 0);
  }

  const barnes_hut_cell* cells() const { return cells_.data(); }

private:
  static constexpr int levels = barnes_hut_parts::levels;

  // The lower 21 bits, each followed by two that are 0.
  static std::uint64_t spread(std::uint64_t x) {
    x = (x | x << 32) & 0x001f00000000ffff;
    x = (x | x << 16) & 0x001f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    return (x | x << 2) & 0x1249249249249249;
  }

  // In a cube around the origin, whose edges are twice `half`.
  static std::uint64_t key(vector3 at, double half) {
    constexpr auto places = std::uint64_t{1} << levels;
    const auto place = [half](double x) {
      const double scaled = (x + half) / (2 * half) * static_cast<double>(places);
      return std::min(static_cast<std::uint64_t>(scaled), places - 1);
    };
    return spread(place(at.x)) << 2 | spread(place(at.y)) << 1 | spread(place(at.z));
  }

  static double reach(const std::vector<barnes_hut_body>& bodies) {
    double half = 0;
    for (const barnes_hut_body& body : bodies) {
      const vector3& at = body.position;
      half = std::max({half, std::abs(at.x), std::abs(at.y), std::abs(at.z)});
    }
    return half;
  }

  void sort(std::vector<barnes_hut_body>* bodies, double half) {
    places_.resize(bodies->size());
    scratch_.resize(bodies->size());
    sorted_.resize(bodies->size());
    for (std::size_t i = 0; i < bodies->size(); ++i)
      places_[i] = {key((*bodies)[i].position, half), i};
    const auto count = static_cast<std::ptrdiff_t>(bodies->size());
    barnes_hut_sort(places_.data(), scratch_.data(), count, false);
    barnes_hut_gather(places_.data(), bodies->data(), sorted_.data(), count);
    bodies->swap(sorted_);
  }

  // The number of levels, from the root's on, at which two bodies lie in one cell.
  static int common_levels(std::uint64_t a, std::uint64_t b) {
    return a == b ? levels + 1 : (std::countl_zero(a ^ b) - 1) / 3 + 1;
  }

  // A body begins the cells in which it lies and its predecessor does not, down to its leaf, which
  // is one level below those that it shares with either neighbour. Returns the number of all cells.
  std::ptrdiff_t count_cells(const std::vector<barnes_hut_body>& bodies) {
    cells_before_.resize(bodies.size());
    std::ptrdiff_t sum = 0;
    int before = 0; // levels in common with the predecessor
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const int after = i + 1 < bodies.size() ? common_levels(bodies[i].key, bodies[i + 1].key) : 0;
      cells_before_[i] = sum;
      sum += std::min(std::max(before, after) + 1, levels + 1) - before;
      before = after;
    }
    return sum;
  }

  std::vector<barnes_hut_place> places_;
  std::vector<barnes_hut_place> scratch_;
  std::vector<barnes_hut_body> sorted_;
  std::vector<std::ptrdiff_t> cells_before_;
  std::vector<barnes_hut_cell> cells_;
};

} // namespace bench
