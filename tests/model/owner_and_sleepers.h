// SPDX-License-Identifier: MIT
// Scenarios of sleeping around one deque, the same for each variant: an owner forks, and workers
// that find nothing fall asleep. A lost wake-up shows as a deadlock.
//
// The calls and their order are those of sched/steal.cc (find_work), sched/idle.cc (begin_search to
// end_search, announce_work) and sched/forks.cc (push_slow).
#pragma once

#include "fake_stack.h"

#include "nopal/deque/limit.h"
#include "nopal/deque/public_ring.h"
#include "nopal/sync/parking.h"

namespace nopal::model {

using deque::attention;
using deque::entry;
using deque::outcome;

// One owner with `Thieves` workers around it; thread 0 is the owner. Workers of the pool take
// whatever there is; a waiting thread takes strands of its own group only, and somebody else
// is searching all the time. With `in_vain`, a worker looks itself before it wakes another.
enum class who { pool, bound, in_vain };

template <class Deque, int Thieves, int Forks, who Who = who::pool> struct pool_state {
  static constexpr bool pool = Who != who::bound;
  sync::idle_count idle;
  sync::parking_place parking[Thieves + 1];
  fake_stack place;
  deque_memory memory;
  Deque deque;
  strand work[Forks];
  int group = 0;

  void before() noexcept {
    deque.open(false);
    deque.adopt(fake_stack::id, place.top(), &group);
    deque.attend();
    idle.searching.store(pool ? 0 : 1, base::relaxed);
  }
  void* wanted() noexcept { return pool ? nullptr : &group; }

  void announce_work() noexcept {
    if (!idle.anybody_asleep() || (!pool && parking[1].wake(idle)) || !idle.wants_wake())
      return;
    const unsigned first = rl::rand(Thieves);
    for (unsigned i = 0; i < Thieves; ++i)
      if (parking[1 + (first + i) % Thieves].wake(idle))
        return;
  }

  fork_record& push(int level, int number) noexcept {
    fork_record& record = place.at(level);
    work[number].prepare();
    record.continuation = &work[number];
    if (!deque.push(&record)) {
      const attention why = deque.push_anyway(&record);
      if (why == attention::requested && deque.publish(&record, &group))
        announce_work();
    }
    return record;
  }

  void sleep(unsigned self) noexcept {
    parking[self].announce(idle);
    if (pool)
      idle.searching.fetch_sub(1, base::seq_cst);
    base::full_fence();
    deque.ask_before_sleep();
    base::heavy_barrier();
    if (deque.has_work(wanted()))
      parking[self].cancel(idle);
    else
      parking[self].wait(idle, for_ever);
    if (pool)
      idle.searching.fetch_add(1, base::seq_cst);
  }

  // The model has no other waiting thread that this could wake.
  void hand_over() noexcept {
    if (Who == who::in_vain) {
      if (!idle.anybody_asleep())
        return;
      deque.ask_before_sleep();
      base::heavy_barrier();
      if (!deque.has_work(nullptr))
        return;
    }
    announce_work();
  }

  // Searches until it has taken one strand.
  void search(unsigned self) noexcept {
    if (pool)
      idle.searching.fetch_add(1, base::seq_cst);
    entry<fork_record> taken{};
    for (;;) {
      const outcome result = deque.steal(wanted(), taken);
      if (result == outcome::got)
        break;
      if (result == outcome::empty)
        deque.ask();
      base::spin_pause();
      if (deque.publish_for_owner(wanted()) && deque.steal(wanted(), taken) == outcome::got)
        break;
      sleep(self);
    }
    if (pool)
      idle.searching.fetch_sub(1, base::seq_cst);
    hand_over();
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

// The owner forks and then computes for ever: every fork must be taken by somebody else.
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

// The owner forks, closes the fork if it can, and forks once more, for ever.
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
    fork_record& record = this->push(0, 0);
    if (!Deque::pop(&record, [this]() -> Deque& { return this->deque; }) &&
        !this->deque.take_back(&record))
      return;
    this->work[0].resume();
    closed = true;
    this->push(0, 1);
  }
};

template <class Deque> void run_pool_models(runner& models) {
  models.random<never_returns<Deque, 1, 1>>("one fork, one thief", 2);
  models.bounded<never_returns<Deque, 1, 1>>("one fork, one thief", 2);
  models.random<never_returns<Deque, 1, 2>>("two forks, one thief", 2);
  models.random<never_returns<Deque, 2, 2>>("two forks, two thieves", 5);
  models.random<never_returns<Deque, 1, 2, who::bound>>("two forks, their waiting thread", 2);
  models.random<never_returns<Deque, 2, 2, who::in_vain>>("two forks, two thieves in vain", 5);
  models.random<forks_again<Deque>>("a fork closed and made anew, one thief", 2);
}

} // namespace nopal::model
