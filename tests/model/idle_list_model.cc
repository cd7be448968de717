// SPDX-License-Identifier: MIT
// Models of a scheduler's idle instances: no fiber is kept while all of them are idle.
//
// The calls are those of fibers/actions.cc, for a nopal::concurrent_scheduler.
#include "harness.h"

#include "nopal/sync/idle_list.h"

namespace nopal::model {
namespace {

struct instance {
  base::handed_over<instance*> next_idle{nullptr};
};

// Thread 0 is the only instance, and active at first; the others keep a fiber each, and run the
// instance where they find it idle.
template <int Keepers> struct keeps : scenario<keeps<Keepers>, Keepers + 1> {
  sync::idle_list<instance> idle;
  instance only;
  // Without locks, which would order what is looked at.
  base::atomic<int> kept[Keepers]{};
  base::handed_over<int> run{0};

  bool take() {
    for (auto& each : kept)
      if (each.load(base::relaxed) != 0 && each.exchange(0, base::acquire) != 0)
        return true;
    return false;
  }
  bool any() {
    for (auto& each : kept)
      if (each.load(base::relaxed) != 0)
        return true;
    return false;
  }
  // The thread that took the instance from the list calls this.
  void work() {
    do {
      while (take())
        run = run + 1;
      idle.add(&only);
    } while (any() && idle.take() != nullptr);
  }
  void thread(unsigned self) {
    if (self == 0)
      return work();
    kept[self - 1].store(1, base::release);
    if (idle.take_after_put() != nullptr)
      work();
  }
  void after() {
    check(run == Keepers, "a fiber is kept while the instance is idle");
    check(idle.take() == &only && idle.take() == nullptr, "the instance is idle more than once");
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<keeps<1>>("one keeps a fiber");
  models.bounded<keeps<1>>("one keeps a fiber", 3);
  models.random<keeps<2>>("two keep a fiber each");
  models.bounded<keeps<2>>("two keep a fiber each", 2);
  return models.result();
}
