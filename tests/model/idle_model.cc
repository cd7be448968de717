// SPDX-License-Identifier: MIT
//
// Models of sleeping: no worker sleeps for good while there is something for it to take.
//
// The calls and their order are those of sched/steal.cc (find_work), sched/idle.cc (searcher,
// announce_work, wake) and sched/forks.cc (fork_slow). A lost wake-up shows as a deadlock.
#include "owner_and_sleepers.h"

#include "nopal/deque/stack_map.h"

namespace nopal::model {
namespace {

using map_deque = deque::stack_map<offer, fake_marks, fake_bounds, 2>;

// Header's own promises. What the waker wrote is seen by whoever it woke, or who cancels too late.
struct handed_to_sleeper : scenario<handed_to_sleeper, 2> {
  vproc::idle_count idle;
  vproc::parking_place place;
  base::atomic<bool> there{false};
  base::handed_over<int> gift{0};
  bool cancels = false;
  bool woken = false;

  void before() { cancels = rl::rand(2) == 0; }
  void thread(unsigned self) {
    if (self == 0) {
      gift = 1;
      there.store(true, base::relaxed);
      base::full_fence();
      woken = place.wake(idle);
      return;
    }
    place.announce(idle);
    if (!there.load(base::relaxed) && !cancels) {
      place.wait();
      check(gift == 1, "woken without a reason");
    } else {
      place.cancel(idle);
      if (woken)
        check(gift == 1, "woken without a reason");
    }
  }
  void after() { check(idle.asleep.load(base::relaxed) == 0, "asleep does not count sleepers"); }
};

// A waiting thread at its join waits for one strand, and is woken by whoever completes the join.
struct finished_scope : scenario<finished_scope, 2> {
  vproc::idle_count idle;
  vproc::parking_place parking;
  base::atomic<strand*> finished{nullptr};
  strand scope;

  void thread(unsigned self) {
    if (self == 0) {
      scope.prepare();
      finished.store(&scope, base::release); // seat::hand_back
      base::full_fence();
      parking.wake(idle);
      return;
    }
    strand* next = nullptr;
    while ((next = finished.load(base::acquire)) == nullptr) {
      parking.announce(idle);
      base::full_fence();
      base::heavy_barrier();
      if (finished.load(base::acquire) != nullptr)
        parking.cancel(idle);
      else
        parking.wait();
    }
    next->resume();
  }
  void after() { scope.check_resumed_once(); }
};

// Two computations: what is public of one must not wait for the pool worker that took the other's.
// Thread 0 and the waiting thread publish, each of its own; each pool worker takes one strand, for
// ever.
struct two_computations : scenario<two_computations, 4> {
  static constexpr unsigned guest = 3;

  vproc::idle_count idle;
  vproc::parking_place parking[4];
  deque::public_ring<offer, 4> rings[2];
  offer offers[3];
  strand work[3];
  int homes[2] = {};

  // nopal/sched/idle.cc: wake_pool_thread, announce_work, hand_over
  bool wake_pool_worker() noexcept {
    const unsigned first = rl::rand(2);
    return parking[1 + first].wake(idle) || parking[2 - first].wake(idle);
  }
  bool wake_guest(const void* home) noexcept {
    return home == &homes[0] && parking[guest].wake(idle);
  }
  void announce_work(const void* home) noexcept {
    if (idle.anybody_asleep() && !wake_guest(home) && idle.wants_wake())
      wake_pool_worker();
  }
  void hand_over(const void* home) noexcept {
    if (idle.anybody_asleep() && !(idle.wants_wake() && wake_pool_worker()))
      wake_guest(home);
  }

  void publish(int number, int computation) noexcept {
    work[number].prepare();
    offers[number].of = &work[number];
    work[number].complete(0);
    rings[computation].push({&offers[number], &work[number], &homes[computation]});
    announce_work(&homes[computation]);
  }

  bool take(entry<offer>& taken) noexcept {
    return rings[0].steal(nullptr, taken) == outcome::got ||
           rings[1].steal(nullptr, taken) == outcome::got;
  }
  bool anything_left() const noexcept { return rings[0].holds(nullptr) || rings[1].holds(nullptr); }

  void search(unsigned self) noexcept {
    idle.searching.fetch_add(1, base::seq_cst);
    entry<offer> taken{};
    while (!take(taken)) {
      parking[self].announce(idle);
      idle.searching.fetch_sub(1, base::seq_cst);
      base::full_fence();
      if (anything_left())
        parking[self].cancel(idle);
      else
        parking[self].wait();
      idle.searching.fetch_add(1, base::seq_cst);
    }
    idle.searching.fetch_sub(1, base::seq_cst);
    hand_over(taken.group);
    taken.frame->resume();
  }

  // Its child returns, and the strand goes on and forks again; or it was taken, and the waiting
  // thread has nothing more to do.
  void run_guest() noexcept {
    publish(0, 0);
    if (rings[0].withdraw(&offers[0])) {
      work[0].resume();
      publish(2, 0);
    } else {
      parking[guest].announce(idle);
    }
  }

  void thread(unsigned self) {
    if (self == 0)
      publish(1, 1);
    else if (self == guest)
      run_guest();
    else
      search(self);
  }
  void after() {
    work[0].check_resumed_once();
    work[1].check_resumed_once();
    check(idle.searching.load(base::relaxed) == 0, "searching does not count searchers");
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<handed_to_sleeper>("parking: what the waker wrote", 2);
  models.full<handed_to_sleeper>("parking: what the waker wrote");
  models.random<finished_scope>("a finished scope wakes its waiting thread");
  models.full<finished_scope>("a finished scope wakes its waiting thread");
  models.random<two_computations>("two computations, one waiting thread asleep", 10);
  run_pool_models<map_deque>(models);
  return models.result();
}
