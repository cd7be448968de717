// SPDX-License-Identifier: MIT
//
// Models of sleeping: no worker sleeps for good while there is something for it to take.
//
// The calls and their order are those of sched/search.cc (search, sleep, announce_work, hand_over,
// wake) and sched/steal.cc (fork_slow). A lost wake-up shows as a deadlock.
#include "fake_stack.h"

#include "nopal/deque/split.h"
#include "nopal/deque/stack_map.h"
#include "nopal/vproc/parking.h"

namespace nopal::model {
namespace {

using deque::attention;
using deque::entry;
using deque::outcome;

using map_deque = deque::stack_map<offer, fake_marks, fake_bounds, 2>;
using split_deque = deque::split<offer, fake_bounds, 2>;

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

// One owner with `Thieves` workers around it; thread 0 is the owner. Workers of the pool take
// whatever there is; a guest takes strands of its own computation only, and somebody else is
// searching all the time.
enum class who { pool, guest };

template <class Deque, int Thieves, int Forks, who Who = who::pool> struct pool_state {
  static constexpr bool pool = Who == who::pool;
  vproc::idle_count idle;
  vproc::parking_place parking[Thieves + 1];
  fake_stack place;
  Deque deque;
  strand work[Forks];
  int home = 0;

  void before() noexcept {
    deque.open(false);
    deque.adopt(fake_stack::id, place.top(), &home);
    deque.attend();
    idle.searching.store(pool ? 0 : 1, base::relaxed);
  }
  void* wanted() noexcept { return pool ? nullptr : &home; }

  void announce_work() noexcept {
    if (!idle.anybody_asleep() || (!pool && parking[1].wake(idle)) || !idle.wants_wake())
      return;
    const unsigned first = rl::rand(Thieves);
    for (unsigned i = 0; i < Thieves; ++i)
      if (parking[1 + (first + i) % Thieves].wake(idle))
        return;
  }

  offer& push(int level, int number) noexcept {
    offer& of = place.at(level);
    work[number].prepare();
    of.of = &work[number];
    if (!deque.push(&of)) {
      const attention why = deque.attend();
      deque.push_anyway(&of);
      if (why == attention::requested && deque.publish(&home))
        announce_work();
    }
    return of;
  }

  void sleep(unsigned self) noexcept {
    parking[self].announce(idle);
    if (pool)
      idle.searching.fetch_sub(1, base::seq_cst);
    base::full_fence();
    deque.ask();
    base::heavy_barrier();
    if (deque.has_work(wanted()))
      parking[self].cancel(idle);
    else
      parking[self].wait();
    if (pool)
      idle.searching.fetch_add(1, base::seq_cst);
  }

  // Until it has taken one strand.
  void search(unsigned self) noexcept {
    if (pool)
      idle.searching.fetch_add(1, base::seq_cst);
    entry<offer> taken{};
    for (;;) {
      const outcome result = deque.steal(wanted(), taken);
      if (result == outcome::got)
        break;
      if (result == outcome::empty)
        deque.ask();
      base::spin_pause();
      if (deque.publish_for_owner(self) && deque.steal(wanted(), taken) == outcome::got)
        break;
      sleep(self);
    }
    if (pool)
      idle.searching.fetch_sub(1, base::seq_cst);
    announce_work(); // as hand_over: nobody else's guest sleeps
    taken.frame->resume();
  }

  void after() {
    for (const strand& rest : work)
      rest.check_resumed_once();
    check(idle.asleep.load(base::relaxed) == 0, "asleep does not count sleepers");
    check(idle.searching.load(base::relaxed) == (pool ? 0 : 1),
          "searching does not count searchers");
  }
};

// The owner forks and then computes for ever: every offer must be taken by somebody else.
template <class Deque, int Thieves, int Forks, who Who = who::pool>
struct never_returns : scenario<never_returns<Deque, Thieves, Forks, Who>, Thieves + 1>,
                       pool_state<Deque, Thieves, Forks, Who> {
  void before() { pool_state<Deque, Thieves, Forks, Who>::before(); }
  void after() { pool_state<Deque, Thieves, Forks, Who>::after(); }
  void thread(unsigned self) {
    if (self == 0) {
      for (int i = 0; i < Forks; ++i)
        this->push(i, i);
      return;
    }
    for (int i = 0; i < Forks / Thieves; ++i)
      this->search(self);
  }
};

// The owner forks, closes the offer if it can, and forks once more, for ever.
template <class Deque>
struct forks_again : scenario<forks_again<Deque>, 2>, pool_state<Deque, 1, 2> {
  void before() { pool_state<Deque, 1, 2>::before(); }
  void after() {
    if (!closed)
      this->work[1].prepare(), this->work[1].resume(); // never forked
    pool_state<Deque, 1, 2>::after();
  }
  bool closed = false;

  void thread(unsigned self) {
    if (self != 0) {
      this->search(self);
      return;
    }
    offer& of = this->push(0, 0);
    if (!this->deque.pop(&of) && !this->deque.take_back(&of))
      return;
    this->work[0].resume();
    closed = true;
    this->push(0, 1);
  }
};

// A guest at its join waits for one strand, and is woken by whoever completes the join.
struct finished_scope : scenario<finished_scope, 2> {
  vproc::idle_count idle;
  vproc::parking_place parking;
  base::atomic<strand*> finished{nullptr};
  strand scope;

  void thread(unsigned self) {
    if (self == 0) {
      scope.prepare();
      finished.store(&scope);
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
// Thread 0 and the guest publish, each of its own; each pool worker takes one strand, for ever.
struct two_computations : scenario<two_computations, 4> {
  static constexpr unsigned guest = 3;

  vproc::idle_count idle;
  vproc::parking_place parking[4];
  deque::public_ring<offer, 4> rings[2];
  offer offers[3];
  strand work[3];
  int homes[2] = {};

  // nopal/sched/search.cc: wake_pool_worker, announce_work, hand_over
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
    work[number].seal(0);
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
    hand_over(taken.home);
    taken.frame->resume();
  }

  // Its child returns, and the strand goes on and forks again; or it was taken, and the guest has
  // nothing more to do.
  void run_guest() noexcept {
    publish(0, 0);
    if (rings[0].take_back(&offers[0])) {
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

template <class Deque> void run_pool_models(runner& models) {
  models.random<never_returns<Deque, 1, 1>>("one fork, one thief", 2);
  models.bounded<never_returns<Deque, 1, 1>>("one fork, one thief", 2);
  models.random<never_returns<Deque, 1, 2>>("two forks, one thief", 2);
  models.random<never_returns<Deque, 2, 2>>("two forks, two thieves", 5);
  models.random<never_returns<Deque, 1, 2, who::guest>>("two forks, their guest", 2);
  models.random<forks_again<Deque>>("a fork closed and made anew, one thief", 2);
}

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<handed_to_sleeper>("parking: what the waker wrote", 2);
  models.full<handed_to_sleeper>("parking: what the waker wrote");
  models.random<finished_scope>("a finished scope wakes its guest");
  models.full<finished_scope>("a finished scope wakes its guest");
  models.random<two_computations>("two computations, one guest asleep", 10);
  run_pool_models<map_deque>(models);
  run_pool_models<split_deque>(models);
  return models.result();
}
