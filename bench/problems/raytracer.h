// SPDX-License-Identifier: MIT
// raytracer: an image of ten spheres by ray tracing; 1024 x 1024 pixels in Manticore's paper
// (manticore-icfp08, Table 1).
//
// Brute force: each ray is intersected with every sphere. One that meets a sphere sends another to
// the light and, at most three times, one on to where the sphere mirrors it. The pixels, row by
// row, are halved, a fork for the lower half, down to one: in the paper too each pixel is an
// element of a parallel array. There is no cut-off, since a pixel takes ten intersections at least.
//
// The paper does not give its scene. Here eight spheres stand on a large one, and a tenth floats.
// The colours come from sums, products, quotients and square roots alone, which IEEE 754 rounds in
// one way, so the image is the same on every machine. `quick` is a larger one, to take about a
// second.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/base_case.h"
#include "bench/harness.h"
#include "bench/random.h"
#include "bench/vector3.h"

namespace bench {

struct raytracer_sphere {
  vector3 center;
  double radius;
  vector3 colour; // red, green and blue from 0 to 1
  double mirror;  // the part of the light that it mirrors
};

inline constexpr raytracer_sphere raytracer_scene[] = {
    {{0, -1000, 0}, 1000, {0.80, 0.78, 0.70}, 0.1}, {{-2.4, 0.8, 6.0}, 0.8, {0.9, 0.2, 0.2}, 0.3},
    {{0.0, 1.0, 6.4}, 1.0, {0.9, 0.9, 0.9}, 0.8},   {{2.4, 0.8, 6.0}, 0.8, {0.2, 0.3, 0.9}, 0.3},
    {{-1.5, 0.6, 4.2}, 0.6, {0.9, 0.7, 0.1}, 0.2},  {{0.1, 0.5, 3.8}, 0.5, {0.2, 0.7, 0.3}, 0.3},
    {{1.6, 0.6, 4.2}, 0.6, {0.7, 0.3, 0.8}, 0.2},   {{-0.8, 0.3, 2.7}, 0.3, {0.1, 0.7, 0.8}, 0.5},
    {{0.9, 0.35, 2.8}, 0.35, {0.9, 0.5, 0.2}, 0.5}, {{0.2, 3.0, 8.0}, 1.2, {0.6, 0.7, 0.9}, 0.6},
};
inline constexpr vector3 raytracer_light{-5, 8, -3};
inline constexpr vector3 raytracer_eye{0, 1.3, -2};
inline constexpr int raytracer_mirrored_most = 3;
// A ray that begins on a sphere does not meet it there again.
inline constexpr double raytracer_distance_least = 1e-6;

struct raytracer_ray {
  vector3 origin;
  vector3 direction; // of length 1

  vector3 at(double distance) const { return origin + distance * direction; }

  // The distance to where it first meets the sphere, or `limit` if that is not nearer.
  double meets(const raytracer_sphere& sphere, double limit) const {
    const vector3 offset = sphere.center - origin;
    const double along = dot(offset, direction);
    const double discriminant = along * along - dot(offset, offset) + sphere.radius * sphere.radius;
    if (discriminant < 0)
      return limit;
    const double half = std::sqrt(discriminant);
    const double enters = along - half;
    const double met = enters > raytracer_distance_least ? enters : along + half;
    return met > raytracer_distance_least ? std::min(met, limit) : limit;
  }
};

// The light that the sphere scatters to where the ray comes from.
inline vector3 raytracer_scattered(const raytracer_sphere& sphere, const raytracer_ray& ray,
                                   vector3 point, vector3 normal) {
  constexpr double ambient = 0.15;
  const vector3 to_light = raytracer_light - point;
  const double distance = std::sqrt(dot(to_light, to_light));
  const raytracer_ray shadow{point, (1 / distance) * to_light};
  const double facing = dot(normal, shadow.direction);
  if (facing <= 0)
    return ambient * sphere.colour;
  for (const raytracer_sphere& other : raytracer_scene) {
    if (shadow.meets(other, distance) < distance)
      return ambient * sphere.colour;
  }
  // Phong's highlight: the 32nd power of the cosine.
  const vector3 mirrored = shadow.direction - 2 * facing * normal;
  double highlight = std::max(0.0, dot(mirrored, ray.direction));
  for (int i = 0; i < 5; ++i)
    highlight *= highlight;
  return (ambient + (1 - ambient) * facing) * sphere.colour + highlight * vector3{1, 1, 1};
}

inline vector3 raytracer_colour(raytracer_ray ray) {
  vector3 seen;
  double weight = 1;
  for (int mirrored = 0;; ++mirrored) {
    const raytracer_sphere* met = nullptr;
    double distance = HUGE_VAL;
    for (const raytracer_sphere& sphere : raytracer_scene) {
      const double to_it = ray.meets(sphere, distance);
      if (to_it < distance) {
        met = &sphere;
        distance = to_it;
      }
    }
    if (met == nullptr) {
      const double height = std::max(0.0, ray.direction.y);
      return seen + weight * (vector3{0.8, 0.9, 1.0} - height * vector3{0.6, 0.5, 0.2});
    }
    const vector3 point = ray.at(distance);
    const vector3 normal = (1 / met->radius) * (point - met->center);
    const vector3 scattered = raytracer_scattered(*met, ray, point, normal);
    if (mirrored == raytracer_mirrored_most)
      return seen + weight * scattered;
    seen = seen + weight * (1 - met->mirror) * scattered;
    weight *= met->mirror;
    ray = {point, ray.direction - 2 * dot(normal, ray.direction) * normal};
  }
}

struct raytracer_image {
  std::uint32_t* pixels; // opaque, red, green, blue: eight bits each
  std::ptrdiff_t edge;
};

BENCH_BASE_CASE inline void raytracer_pixel(const raytracer_image* image, std::ptrdiff_t place) {
  const auto centered = [image](std::ptrdiff_t i) {
    const auto edge = static_cast<double>(image->edge);
    return (2 * static_cast<double>(i) + 1 - edge) / edge;
  };
  const double x = centered(place % image->edge);
  const double y = centered(place / image->edge);
  const vector3 colour = raytracer_colour({raytracer_eye, normalized({0.5 * x, -0.5 * y, 1})});
  const auto channel = [](double value) {
    return static_cast<std::uint32_t>(255 * std::min(value, 1.0) + 0.5);
  };
  image->pixels[place] =
      0xff000000 | channel(colour.x) << 16 | channel(colour.y) << 8 | channel(colour.z);
}

// A backend may want arrays of which a piece of so many entries is computed at once.
#if !defined(BENCH_ARRAY_PIECE)
#define BENCH_ARRAY_PIECE 1
#endif

BENCH_TASK void raytracer(const raytracer_image* image, std::ptrdiff_t first, std::ptrdiff_t last) {
  if (last - first <= BENCH_ARRAY_PIECE) {
    for (std::ptrdiff_t at = first; at < last; ++at)
      raytracer_pixel(image, at);
    return;
  }
  const std::ptrdiff_t middle = first + (last - first) / 2;
  BENCH_SCOPE(s);
  BENCH_FORK_VOID(s, raytracer, image, first, middle);
  raytracer(image, middle, last);
  BENCH_JOIN(s);
}

class raytracer_problem {
public:
  static constexpr const char* name = "raytracer";

  explicit raytracer_problem(size chosen)
      : known_(chosen == size::test    ? of_test
               : chosen == size::quick ? of_quick
                                       : of_paper) {}

  long n() const { return known_.edge; }
  // The numbers of pixels, and of those in a piece, are powers of two.
  std::uint64_t forks() const {
    return static_cast<std::uint64_t>(known_.edge * known_.edge / BENCH_ARRAY_PIECE - 1);
  }

  void prepare() { pixels_.assign(static_cast<std::size_t>(known_.edge * known_.edge), 0); }

  void compute() {
    const raytracer_image image{pixels_.data(), known_.edge};
    raytracer(&image, 0, known_.edge * known_.edge);
  }

  bool verify() const { return checksum() == known_.checksum; }

protected:
  std::uint64_t checksum() const {
    std::uint64_t sum = 0;
    for (const std::uint32_t pixel : pixels_)
      sum = mixed(sum ^ pixel);
    return sum;
  }

  struct known {
    std::ptrdiff_t edge;
    std::uint64_t checksum;
  };
  static constexpr known of_test{64, 0x43c0b429021d1010};
  static constexpr known of_quick{2048, 0xd891e450a3b91b47};
  static constexpr known of_paper{1024, 0x958fa638a0f12512};

  known known_;
  std::vector<std::uint32_t> pixels_;
};

} // namespace bench
