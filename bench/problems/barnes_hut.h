// SPDX-License-Identifier: MIT
// barnes_hut: gravity among n bodies in space by the method of Barnes and Hut; 30,000 of them in
// Manticore's paper (manticore-icfp08, Table 1).
//
// A step moves the bodies, builds an octree serially, as in the paper, computes the force on each
// body, and changes the velocities. The bodies are halved, a fork for the lower half, down to one:
// there is no cut-off, since the force on one takes a thousand interactions and more. A cell of the
// tree counts as one body from twice its edge on. The paper tells neither that distance nor its
// steps; `quick` and `paper` make three, which take about a second.
//
// The bodies form a Plummer sphere in units where G, its mass and its length are 1. From the seed
// to the last step there are only sums, products, quotients and square roots, which IEEE 754
// rounds in one way, so the result is the same on every machine.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/base_case.h"
#include "bench/harness.h"
#include "bench/random.h"
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

// Cells follow each other in preorder. A body attracts itself too, which
// adds nothing, since its distance is zero.
BENCH_BASE_CASE inline void barnes_hut_accelerate(const barnes_hut_cell* cells,
                                                  barnes_hut_body* body) {
  const std::ptrdiff_t end = cells->end;
  const vector3 at = body->position;
  vector3 sum;
  for (std::ptrdiff_t i = 0; i < end;) {
    const barnes_hut_cell& cell = cells[i];
    const vector3 to = cell.center - at;
    const double square = dot(to, to);
    if (square < cell.far) {
      ++i;
    } else {
      sum = sum + cell.attraction(to, square);
      i = cell.end;
    }
  }
  body->acceleration = sum;
}

BENCH_TASK void barnes_hut(const barnes_hut_cell* cells, barnes_hut_body* bodies,
                           std::ptrdiff_t count) {
  if (count == 1) {
    barnes_hut_accelerate(cells, bodies);
    return;
  }
  const std::ptrdiff_t half = count / 2;
  BENCH_SCOPE(s);
  BENCH_FORK_VOID(s, barnes_hut, cells, bodies, half);
  barnes_hut(cells, bodies + half, count - half);
  BENCH_JOIN(s);
}

// An octree of bodies with equal masses, sorted by their octants. A leaf holds one body; bodies
// that the last level does not tell apart make a leaf together.
class barnes_hut_tree {
public:
  void build(std::vector<barnes_hut_body>* bodies) {
    double half = 0;
    for (const barnes_hut_body& body : *bodies) {
      const vector3& at = body.position;
      half = std::max({half, std::abs(at.x), std::abs(at.y), std::abs(at.z)});
    }
    for (barnes_hut_body& body : *bodies)
      body.key = key(body.position, half);
    std::sort(bodies->begin(), bodies->end(),
              [](const auto& a, const auto& b) { return a.key < b.key; });
    mass_ = 1 / static_cast<double>(bodies->size());
    cells_.clear();
    add(bodies->data(), bodies->data() + bodies->size(), 2 * half, 0);
  }

  const barnes_hut_cell* cells() const { return cells_.data(); }

private:
  static constexpr int levels = 21;
  static constexpr double far_in_edges = 2; // 1 / theta

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

  // Adds the cell of these bodies and the cells inside it. Returns the place of the cell.
  std::size_t add(const barnes_hut_body* first, const barnes_hut_body* last, double edge,
                  int level) {
    const std::size_t own = cells_.size();
    cells_.push_back({});
    vector3 sum; // of the positions
    double far = 0;
    if (last - first == 1 || level == levels) {
      for (const barnes_hut_body* body = first; body != last; ++body)
        sum = sum + body->position;
    } else {
      const int shift = 3 * (levels - 1 - level);
      for (const barnes_hut_body* part = first; part != last;) {
        const barnes_hut_body* end = part + 1;
        while (end != last && end->key >> shift == part->key >> shift)
          ++end;
        const barnes_hut_cell& inside = cells_[add(part, end, edge / 2, level + 1)];
        sum = sum + static_cast<double>(end - part) * inside.center;
        part = end;
      }
      far = far_in_edges * far_in_edges * edge * edge;
    }
    const auto count = static_cast<double>(last - first);
    cells_[own] = {(1 / count) * sum, count * mass_, far,
                   static_cast<std::ptrdiff_t>(cells_.size())};
    return own;
  }

  std::vector<barnes_hut_cell> cells_;
  double mass_ = 0; // of one body
};

// A Plummer sphere (Aarseth, Henon, Wielen 1974), drawn without other functions than sqrt.
class plummer_sphere {
public:
  explicit plummer_sphere(std::uint64_t seed) : random_(seed) {}

  barnes_hut_body draw() {
    // The mass within r is s^3, where s = r / sqrt(1 + r^2), and the greatest of three numbers is
    // below s as often.
    const double s = std::max({uniform(), uniform(), uniform()});
    const double r = s / std::sqrt(1 - s * s);
    const double escape = std::sqrt(2 / std::sqrt(1 + r * r));
    // Each in a statement of its own, since the operands of one come in any order.
    const vector3 position = r * direction();
    const double speed = escape * part_of_escape();
    return {0, position, speed * direction(), {}};
  }

private:
  double uniform() { return static_cast<double>(random_.next() >> 11) * 0x1p-53; }

  vector3 direction() {
    for (;;) {
      const vector3 in_cube{2 * uniform() - 1, 2 * uniform() - 1, 2 * uniform() - 1};
      const double square = dot(in_cube, in_cube);
      if (square > 0.01 && square <= 1)
        return normalized(in_cube);
    }
  }

  // Has the density q^2 (1 - q^2)^(7/2), which is below 0.1.
  double part_of_escape() {
    for (;;) {
      const double q = uniform();
      const double rest = 1 - q * q;
      if (0.1 * uniform() < q * q * rest * rest * rest * std::sqrt(rest))
        return q;
    }
  }

  random_numbers random_;
};

class barnes_hut_problem {
public:
  static constexpr const char* name = "barnes_hut";

  explicit barnes_hut_problem(size chosen) : known_(chosen == size::test ? of_test : of_paper) {}

  long n() const { return known_.n; }
  std::uint64_t forks() const {
    return static_cast<std::uint64_t>(known_.n - 1) * static_cast<std::uint64_t>(known_.steps);
  }

  void prepare() {
    plummer_sphere sphere(1986);
    bodies_.clear();
    for (long i = 0; i < known_.n; ++i)
      bodies_.push_back(sphere.draw());
  }

  void compute() {
    for (int step = 0; step < known_.steps; ++step) {
      for (barnes_hut_body& body : bodies_)
        body.position = body.position + step_length * body.velocity;
      tree_.build(&bodies_);
      barnes_hut(tree_.cells(), bodies_.data(), static_cast<std::ptrdiff_t>(bodies_.size()));
      for (barnes_hut_body& body : bodies_)
        body.velocity = body.velocity + step_length * body.acceleration;
    }
  }

  // Where the bodies are and how they move is known to the last bit; that these are the forces of
  // gravity is seen from a sample.
  bool verify() const { return checksum() == known_.checksum && error() <= error_most; }

protected:
  std::uint64_t checksum() const {
    std::uint64_t sum = 0;
    for (const barnes_hut_body& body : bodies_) {
      for (const vector3& v : {body.position, body.velocity}) {
        for (const double x : {v.x, v.y, v.z})
          sum = mixed(sum ^ std::bit_cast<std::uint64_t>(x));
      }
    }
    return sum;
  }

  // Of the accelerations of a hundred bodies, against the sums over all bodies: the root of the
  // mean square of the difference, over that of the sums.
  double error() const {
    double of_difference = 0;
    double of_sum = 0;
    for (std::size_t i = 0; i < bodies_.size(); i += bodies_.size() / 100) {
      const vector3 sum = acceleration_by_all(bodies_[i].position);
      const vector3 difference = bodies_[i].acceleration - sum;
      of_difference += dot(difference, difference);
      of_sum += dot(sum, sum);
    }
    return std::sqrt(of_difference / of_sum);
  }

  vector3 acceleration_by_all(vector3 at) const {
    vector3 sum;
    for (const barnes_hut_body& body : bodies_) {
      const barnes_hut_cell alone{body.position, 1 / static_cast<double>(bodies_.size()), 0, 0};
      const vector3 to = alone.center - at;
      sum = sum + alone.attraction(to, dot(to, to));
    }
    return sum;
  }

  struct known {
    long n;
    int steps;
    std::uint64_t checksum;
  };
  static constexpr known of_test{1000, 2, 0x71965899766c2e55};
  static constexpr known of_paper{30'000, 3, 0xfe39b112a2ae9c87};
  static constexpr double step_length = 1.0 / 64;
  static constexpr double error_most = 0.01;

  known known_;
  std::vector<barnes_hut_body> bodies_;
  barnes_hut_tree tree_;
};

} // namespace bench
