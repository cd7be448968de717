// SPDX-License-Identifier: MIT
// Models of provision: computations that are given vprocs, and give them back, at the same time.
//
// The calls are those of fibers/places.cc.
#include "harness.h"

#include "nopal/sync/provision.h"

namespace nopal::model {
namespace {

struct fake_vproc {
  base::handed_over<std::uint32_t> computations{0};
};

// Each of the threads is a computation; two vprocs.
template <int Threads> struct computations : scenario<computations<Threads>, Threads> {
  static constexpr std::size_t count = 2;
  using set = sync::provisions<fake_vproc, count>;
  base::spin_lock lock;
  fake_vproc vprocs[count];
  set given[Threads];
  std::size_t kept[Threads] = {};

  std::size_t take(unsigned self) noexcept {
    return given[self].take(lock, count, [this](std::size_t i) { return &vprocs[i]; });
  }
  void thread(unsigned self) {
    const std::size_t first = take(self);
    const std::size_t second = take(self);
    check(first != second && first < count && second < count, "a vproc was given twice, or none");
    check(take(self) == set::none, "more vprocs were given than there are");
    check(given[self].give_back(lock, first, &vprocs[first]), "a vproc was not taken back");
    check(!given[self].give_back(lock, first, &vprocs[first]), "a vproc was taken back twice");
    kept[self] = second;
  }
  void after() {
    std::uint32_t expected[count] = {};
    for (const std::size_t each : kept)
      expected[each] += 1;
    for (std::size_t i = 0; i < count; ++i)
      check(vprocs[i].computations == expected[i], "a vproc's count is wrong");
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<computations<2>>("two computations");
  models.bounded<computations<2>>("two computations", 2);
  models.random<computations<3>>("three computations");
  return models.result();
}
