// SPDX-License-Identifier: MIT
// Models of a fiber's own values, which its strands look for and make at the same time.
//
// The calls and their order are those of fiber.h (fiber_local::in).
#include "harness.h"

#include "nopal/sync/fiber_locals.h"

#include <iterator>
#include <optional>

namespace nopal::model {
namespace {

using sync::fiber_locals;

inline constexpr int keys = 2;

struct value : fiber_locals::value {
  value(const void* its_key, int& destructions) noexcept
      : fiber_locals::value{its_key, destroy_it}, destroyed{&destructions} {
    made_for = its_key;
  }
  static void destroy_it(fiber_locals::value* self) noexcept {
    ++*static_cast<value*>(self)->destroyed;
  }

  int* destroyed;
  base::handed_over<const void*> made_for{nullptr};
};

// Strand i wants the value of one key, then that of another one; `Wanted` lists both for each.
template <const auto& Wanted>
struct strands_look : scenario<strands_look<Wanted>, int{std::size(Wanted)}> {
  static constexpr unsigned count = std::size(Wanted);
  std::optional<fiber_locals> values;
  std::optional<value> made[count][2];
  const value* of_key[keys]{};
  int key_objects[keys]{};
  int destroyed = 0;
  int added = 0;

  void before() { values.emplace(); }
  void want(int number, std::optional<value>& own) noexcept {
    const void* const key = &key_objects[number];
    fiber_locals::value* kept = values->find(key);
    if (kept == nullptr) {
      own.emplace(key, destroyed);
      kept = values->find_or_add(&*own);
      added += kept == &*own ? 1 : 0;
    }
    const auto* const found = static_cast<const value*>(kept);
    check(found->made_for == key, "a value of another key was found");
    check(of_key[number] == nullptr || of_key[number] == found, "a key has two values");
    of_key[number] = found;
  }
  void thread(unsigned self) {
    for (int i = 0; i < 2; ++i)
      want(Wanted[self][i], made[self][i]);
  }
  void after() {
    values.reset();
    check(destroyed == added, "a value was lost, or is destroyed twice");
    for (auto& both : made)
      for (std::optional<value>& each : both)
        each.reset();
  }
};

constexpr int same[][2] = {{0, 0}, {0, 0}};
constexpr int crossed[][2] = {{0, 1}, {1, 0}};
constexpr int three[][2] = {{0, 1}, {1, 0}, {0, 0}};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<strands_look<same>>("two strands, one value");
  models.full<strands_look<same>>("two strands, one value");
  models.random<strands_look<crossed>>("two strands, two values");
  models.bounded<strands_look<crossed>>("two strands, two values", 3);
  models.random<strands_look<three>>("three strands, two values");
  return models.result();
}
