// SPDX-License-Identifier: MIT
// Models of a parking place by itself: what its header promises to a caller with no fence of its
// own. The callers' protocols, fences included, are in idle_model.cc.
#include "harness.h"

#include "nopal/sync/parking.h"

namespace nopal::model {
namespace {

// A waker writes, then wakes, and passes no fence of its own. The sleeper sees what was written
// once its sleep is over, whether it waited or cancelled too late.
struct no_fence : scenario<no_fence, 2> {
  sync::idle_count idle;
  sync::parking_place place;
  base::handed_over<int> gift{0};
  bool cancels = false; // the schedule's choice, and what came of it: no part of the protocol
  bool woken = false;

  void before() { cancels = rl::rand(2) == 0; }
  void thread(unsigned self) {
    if (self == 0) {
      gift = 1;
      while (!(woken = place.wake(idle)) && !cancels)
        base::spin_pause();
      return;
    }
    place.announce(idle);
    if (cancels)
      place.cancel(idle);
    else
      place.wait();
    if (!cancels || woken)
      check(gift == 1, "woken before what it was woken for");
  }
  void after() { check(idle.asleep.load(base::relaxed) == 0, "asleep does not count sleepers"); }
};

// A waiting thread is woken while it is still falling asleep; it has no use for the work. That must
// not hide the sleeping pool thread from a publisher.
struct woken_at_once : scenario<woken_at_once, 3> {
  sync::idle_count idle;
  sync::parking_place pool;
  sync::parking_place bound;
  base::atomic<bool> work{false};

  void thread(unsigned self) {
    if (self == 0) {
      bound.wake(idle);
      work.store(true, base::relaxed);
      if (idle.anybody_asleep())
        pool.wake(idle);
    } else if (self == 1) {
      bound.announce(idle);
      bound.cancel(idle);
    } else {
      while (!work.load(base::relaxed)) {
        pool.announce(idle);
        if (work.load(base::relaxed))
          pool.cancel(idle);
        else
          pool.wait();
      }
    }
  }
  void after() { check(idle.asleep.load(base::relaxed) == 0, "asleep does not count sleepers"); }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<no_fence>("no fence but the place's");
  models.full<no_fence>("no fence but the place's");
  models.random<woken_at_once>("one woken while it falls asleep, one asleep", 2);
  models.bounded<woken_at_once>("one woken while it falls asleep, one asleep", 2);
  return models.result();
}
