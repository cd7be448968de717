// SPDX-License-Identifier: MIT
// integrate: adaptive quadrature of (x^2 + 1) x over [0, n] to 1e-9; n = 10^4 in the papers.
//
// An interval is halved, a fork for its left half, until the trapezium over the whole and the sum
// of those over the halves differ by less than epsilon. There is no other cut-off.
#pragma once

#include <cmath>
#include <cstdint>

#include "bench/harness.h"

namespace bench {

inline double integrand(double x) { return (x * x + 1.0) * x; }

inline constexpr double integrate_epsilon = 1e-9;

BENCH_TASK double integrate(double x1, double y1, double x2, double y2, double area) {
  const double half = (x2 - x1) / 2;
  const double x0 = x1 + half;
  const double y0 = integrand(x0);
  const double area_left = (y1 + y0) / 2 * half;
  const double area_right = (y0 + y2) / 2 * half;
  const double refined = area_left + area_right;
  if (std::abs(refined - area) < integrate_epsilon)
    return refined;

  double left = 0;
  BENCH_SCOPE(s);
  BENCH_FORK(s, left, integrate, x1, y1, x0, y0, area_left);
  const double right = integrate(x0, y0, x2, y2, area_right);
  BENCH_JOIN(s);
  return left + right;
}

class integrate_problem {
public:
  static constexpr const char* name = "integrate";

  explicit integrate_problem(size chosen)
      : known_(chosen == size::test    ? of_test
               : chosen == size::quick ? of_quick
                                       : of_paper) {}

  long n() const { return known_.n; }
  std::uint64_t forks() const { return known_.forks; }
  void prepare() {}

  void compute() {
    const double end = static_cast<double>(known_.n);
    result_ = integrate(0, integrand(0), end, integrand(end), 0);
  }

  // The order of additions is fixed by the intervals, not by the workers that compute them, so the
  // result is the same to the last bit each time (programs are compiled without contraction to
  // fused multiply-adds); the closed form shows that it is also the right one.
  bool verify() const {
    const double end = static_cast<double>(known_.n);
    const double exact = end * end * (end * end / 4 + 0.5);
    const double tolerance =
        integrate_epsilon * static_cast<double>(known_.forks + 1) + 1e-14 * exact;
    return result_ == known_.result && std::abs(result_ - exact) <= tolerance;
  }

protected:
  // tests/bench/forks_test.cc counts the forks again.
  struct known {
    long n;
    std::uint64_t forks;
    double result;
  };
  static constexpr known of_test{50, 127'817, 0x1.7dc6600017912p+20};
  static constexpr known of_quick{5000, 64'461'789, 0x1.1c3794fb804p+47};
  static constexpr known of_paper{10'000, 175'004'987, 0x1.1c3793dd661p+51};

  known known_;
  double result_ = -1;
};

} // namespace bench
