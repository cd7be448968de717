// SPDX-License-Identifier: MIT
// Vectors in space, for the problems of physics and optics.
#pragma once

#include <cmath>

namespace bench {

struct vector3 {
  double x = 0;
  double y = 0;
  double z = 0;

  friend constexpr vector3 operator+(vector3 a, vector3 b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
  }
  friend constexpr vector3 operator-(vector3 a, vector3 b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
  }
  friend constexpr vector3 operator*(double k, vector3 a) { return {k * a.x, k * a.y, k * a.z}; }
};

constexpr double dot(vector3 a, vector3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

inline vector3 normalized(vector3 a) { return (1 / std::sqrt(dot(a, a))) * a; }

} // namespace bench
