// SPDX-License-Identifier: MIT
// Models of sleeping: no worker sleeps for good while there is something for it to take.
//
// The calls and their order are those of sched/steal.cc (find_work), sched/idle.cc (begin_search to
// end_search, announce_work, wake) and sched/forks.cc (fork_slow). A lost wake-up shows as a
// deadlock.
#include "owner_and_sleepers.h"

#include "nopal/deque/stack_map.h"

namespace nopal::model {
namespace {

using map_deque = deque::stack_map<fork_record, fake_marks, fake_bounds, 2>;

// What parking.h promises: a thread that was woken, or that cancels too late, sees what the waker
// wrote.
struct handed_to_sleeper : scenario<handed_to_sleeper, 2> {
  sync::idle_count idle;
  sync::parking_place place;
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
      place.wait(idle, for_ever);
      check(gift == 1, "woken without a reason");
    } else {
      place.cancel(idle);
      if (woken)
        check(gift == 1, "woken without a reason");
    }
  }
  void after() { check(idle.asleep.load(base::relaxed) == 0, "asleep does not count sleepers"); }
};

// A waiting thread at its join waits for one strand, and is woken by the thread that completes the
// join.
struct finished_scope : scenario<finished_scope, 2> {
  sync::idle_count idle;
  sync::parking_place parking;
  base::atomic<strand*> finished{nullptr};
  strand scope;

  void thread(unsigned self) {
    if (self == 0) {
      scope.prepare();
      finished.store(&scope, base::release); // group::finish
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
        parking.wait(idle, for_ever);
    }
    next->resume();
  }
  void after() { scope.check_resumed_once(); }
};

// Two groups: a public fork of one must not wait for the pool worker that took a fork of the other.
// Thread 0 and the waiting thread each publish forks of their own group. Each pool worker takes one
// strand and runs it for ever.
struct two_groups : scenario<two_groups, 4> {
  static constexpr unsigned waiting = 3;

  sync::idle_count idle;
  sync::parking_place parking[4];
  deque::public_ring<fork_record, 4> rings[2];
  fork_record records[3];
  strand work[3];
  int groups[2] = {};

  // nopal/sched/idle.cc: wake_pool_thread, announce_work, hand_over
  bool wake_pool_worker() noexcept {
    const unsigned first = rl::rand(2);
    return parking[1 + first].wake(idle) || parking[2 - first].wake(idle);
  }
  bool wake_waiting(const void* group) noexcept {
    return group == &groups[0] && parking[waiting].wake(idle);
  }
  void announce_work(const void* group) noexcept {
    if (idle.anybody_asleep() && !wake_waiting(group) && idle.wants_wake())
      wake_pool_worker();
  }
  void hand_over(const void* group) noexcept {
    if (idle.anybody_asleep() && !(idle.wants_wake() && wake_pool_worker()))
      wake_waiting(group);
  }

  void publish(int number, int number_of_group) noexcept {
    work[number].prepare();
    records[number].continuation = &work[number];
    work[number].complete(0);
    rings[number_of_group].push({&records[number], &work[number], &groups[number_of_group]}, 0);
    announce_work(&groups[number_of_group]);
  }

  bool take(entry<fork_record>& taken) noexcept {
    return rings[0].steal(nullptr, taken) == outcome::got ||
           rings[1].steal(nullptr, taken) == outcome::got;
  }
  bool anything_left() const noexcept { return rings[0].holds(nullptr) || rings[1].holds(nullptr); }

  void search(unsigned self) noexcept {
    idle.searching.fetch_add(1, base::seq_cst);
    entry<fork_record> taken{};
    while (!take(taken)) {
      parking[self].announce(idle);
      idle.searching.fetch_sub(1, base::seq_cst);
      base::full_fence();
      if (anything_left())
        parking[self].cancel(idle);
      else
        parking[self].wait(idle, for_ever);
      idle.searching.fetch_add(1, base::seq_cst);
    }
    idle.searching.fetch_sub(1, base::seq_cst);
    hand_over(taken.group);
    taken.frame->resume();
  }

  // The child returns. Either the strand goes on and forks again, or a thief has it and the waiting
  // thread has nothing more to do.
  void run_waiting() noexcept {
    publish(0, 0);
    std::uintptr_t split = 0;
    if (rings[0].withdraw(&records[0], split)) {
      work[0].resume();
      publish(2, 0);
    } else {
      parking[waiting].announce(idle);
    }
  }

  void thread(unsigned self) {
    if (self == 0)
      publish(1, 1);
    else if (self == waiting)
      run_waiting();
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
  models.random<two_groups>("two groups, one waiting thread asleep", 10);
  run_pool_models<map_deque>(models);
  return models.result();
}
