// SPDX-License-Identifier: MIT
// barnes_hut: gravity among n bodies in space by the method of Barnes and Hut; 30,000 of them in
// Manticore's paper (manticore-icfp08, Table 1).
//
// A step moves the bodies, builds an octree, computes the force on each body, and changes the
// velocities. The paper builds the tree serially, and blames that for its speed-up; here octants
// are built in parallel, after the bodies were sorted so. What is left serial, a few passes over
// the bodies, takes about a thousandth of a step. For the forces the bodies are halved, a fork for
// the lower half, down to one: there is no cut-off, since the force on one takes a thousand
// interactions and more. A cell of the tree counts as one body from twice its edge on. The paper
// tells neither that distance nor its steps; `quick` and `paper` make three, which take about a
// second.
//
// The bodies form a Plummer sphere in units where G, its mass and its length are 1. From the seed
// to the last step there are only sums, products, quotients and square roots, which IEEE 754
// rounds in one way, so the result is the same on every machine.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/base_case.h"
#include "bench/harness.h"
#include "bench/problems/barnes_hut_tree.h"
#include "bench/random.h"
#include "bench/vector3.h"

namespace bench {

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
    return static_cast<std::uint64_t>(known_.n - 1) * static_cast<std::uint64_t>(known_.steps) +
           known_.forks_of_trees;
  }

  void prepare() {
    plummer_sphere sphere(1986);
    bodies_.clear();
    for (long i = 0; i < known_.n; ++i)
      bodies_.push_back(sphere.draw());
  }

  void compute() {
    using clock = std::chrono::steady_clock;
    const auto seconds = [](clock::duration time) {
      return std::chrono::duration<double>(time).count();
    };
    build_s_ = forces_s_ = 0;
    for (int step = 0; step < known_.steps; ++step) {
      for (barnes_hut_body& body : bodies_)
        body.position = body.position + step_length * body.velocity;
      const auto begin = clock::now();
      tree_.build(&bodies_);
      const auto built = clock::now();
      barnes_hut(tree_.cells(), bodies_.data(), static_cast<std::ptrdiff_t>(bodies_.size()));
      build_s_ += seconds(built - begin);
      forces_s_ += seconds(clock::now() - built);
      for (barnes_hut_body& body : bodies_)
        body.velocity = body.velocity + step_length * body.acceleration;
    }
  }
  std::map<std::string, double> metrics() const {
    return {{"build_s", build_s_}, {"forces_s", forces_s_}};
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
    std::uint64_t forks_of_trees; // by the bodies' places, as the checksum is
  };
  static constexpr known of_test{1000, 2, 0x71965899766c2e55, 26};
  static constexpr known of_paper{30'000, 3, 0xfe39b112a2ae9c87, 2479};
  static constexpr double step_length = 1.0 / 64;
  static constexpr double error_most = 0.01;

  known known_;
  std::vector<barnes_hut_body> bodies_;
  barnes_hut_tree tree_;
  double build_s_ = 0;
  double forces_s_ = 0;
};

} // namespace bench
