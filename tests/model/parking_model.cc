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
      place.wait(idle, for_ever);
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
          pool.wait(idle, for_ever);
      }
    }
  }
  void after() { check(idle.asleep.load(base::relaxed) == 0, "asleep does not count sleepers"); }
};

// One of two threads is always to run: each wakes the other before it falls asleep, and one ends
// last. So neither finds at any time that both wait, and it finds so when it is true.
struct all_wait : scenario<all_wait, 2> {
  sync::idle_count idle;
  sync::parking_place place[2];
  base::atomic<int> turn{0};
  bool ended[2] = {};

  bool both_wait() noexcept {
    const sync::waiting_threads::state seen = idle.waiting.look();
    return seen.number() == 2 && idle.waiting.look() == seen;
  }
  void sleep(unsigned self) noexcept {
    place[self].announce(idle);
    if (turn.load(base::relaxed) == static_cast<int>(self))
      return place[self].cancel(idle);
    place[self].wait(idle, [this] {
      check(!both_wait(), "all seem to wait, but one was woken");
      return for_ever();
    });
  }
  void thread(unsigned self) {
    for (int times = 0; times < 2; ++times) {
      while (turn.load(base::acquire) != static_cast<int>(self))
        sleep(self);
      turn.store(1 - static_cast<int>(self), base::release);
      base::full_fence();
      place[1 - self].wake(idle);
    }
  }
  void after() { check(idle.waiting.look().number() == 0, "waiting does not count who waits"); }
};

// The converse: the last of two that fall asleep finds that both wait.
struct last_finds_all : scenario<last_finds_all, 2> {
  sync::idle_count idle;
  sync::parking_place place[2];
  base::atomic<int> found{0};

  void thread(unsigned self) {
    place[self].announce(idle);
    place[self].wait(idle, [this] {
      if (idle.waiting.look().number() == 2) {
        found.fetch_add(1, base::relaxed);
        place[0].wake(idle);
        place[1].wake(idle);
      }
      return for_ever();
    });
  }
  void after() {
    check(found.load(base::relaxed) >= 1, "nobody found that all wait");
    check(idle.waiting.look().number() == 0, "waiting does not count who waits");
  }
};

// Who finds that the two others wait sees what they did before, also if one was woken in between.
struct sees_what_was_done : scenario<sees_what_was_done, 3> {
  sync::waiting_threads waiting;
  base::handed_over<int> done[2];

  void thread(unsigned self) {
    if (self == 2) {
      if (waiting.look().number() == 2)
        check(done[0] + done[1] == 2, "a thread counts as waiting, but what it did is not seen");
      return;
    }
    done[self] = 1;
    waiting.count_in();
    if (self == 1) {
      waiting.count_out();
      waiting.count_in();
    }
  }
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
  models.random<all_wait>("two that wake each other", 2);
  models.bounded<all_wait>("two that wake each other", 2);
  models.random<last_finds_all>("two that fall asleep");
  models.random<sees_what_was_done>("two that wait, one that looks");
  return models.result();
}
