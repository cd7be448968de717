// SPDX-License-Identifier: MIT
// Scenarios of one deque, the same for each variant: the owner nests forks while thieves take what
// they can get. Each strand goes on exactly once, and the thread that resumes it sees all of it.
//
// The calls and their order are those of sched/thunk.h and sched/forks.cc (owner), sched/steal.cc
// (thieves) and sched/groups.cc (a group's root fork).
#pragma once

#include "fake_stack.h"

#include "nopal/deque/limit.h"
#include "nopal/deque/public_ring.h"

namespace nopal::model {

using deque::attention;
using deque::entry;
using deque::outcome;

// How often the owner forks at each level of nesting.
struct shape {
  int outer;
  int inner;
  bool rejoins = false; // after an inner strand was stolen, this worker completes its join
};

template <class Deque, shape Shape, bool Fenced = false> struct deque_state {
  static constexpr int most = Shape.outer * (1 + Shape.inner + (Shape.rejoins ? 1 : 0));
  fake_stack place;
  deque_memory memory;
  Deque deque;
  strand work[most];
  const void* groups[most] = {}; // of each strand; the model's own note
  int forked = 0;
  bool rejoined = false;
  int group = 0;
  void* forks_for = &group;

  void before() noexcept {
    deque.open(Fenced);
    deque.adopt(fake_stack::id, place.top(), &group);
    deque.attend();
  }

  // The slow path of a fork. The model has no sleeper that it would have to wake.
  void fork_slow(fork_record* record) noexcept {
    if (deque.push_anyway(record) == attention::requested)
      deque.publish(record, forks_for);
  }

  // The first half of a fork.
  fork_record& open(int level) noexcept {
    strand& rest = work[forked];
    groups[forked++] = forks_for;
    fork_record& record = place.at(level);
    rest.prepare();
    record.continuation = &rest;
    if (!deque.push(&record))
      fork_slow(&record);
    return record;
  }

  // The second half. False: the continuation was stolen, and this worker has left the stack.
  bool close(fork_record& record) noexcept {
    strand& rest = *record.frame();
    if (pop(record) || deque.take_back(&record)) {
      rest.resume();
      check(rest.times_taken() == 0, "a strand that was stolen was taken back");
      return true;
    }
    deque.adopt(stack::no_stack, 0, nullptr);
    return false;
  }

  // The worker goes on with the inner function on its own stack: everything at or above what was
  // noted when the stolen strand was published is taken, the outer strand with it.
  void go_on_after_join(const strand& stolen) noexcept {
    deque.adopt(fake_stack::id, stolen.above(), &group);
    rejoined = true;
    fork(1);
  }

  // Makes one fork. False: the continuation was stolen, and this worker has left the stack.
  bool fork(int level) noexcept {
    fork_record& record = open(level);
    if (level == 0)
      for (int i = 0; i < Shape.inner; ++i)
        if (!fork(1)) {
          if (!Shape.rejoins)
            return false;
          go_on_after_join(work[forked - 1]);
          break;
        }
    const bool ours = close(record);
    check(!ours || level != 0 || !rejoined, "a strand that was stolen was taken back");
    return ours;
  }

  bool pop(fork_record& record) noexcept {
    return Deque::pop(&record, [this]() -> Deque& { return deque; });
  }

  // As many forks as there are places, each in the child of the one before.
  bool nest(int level) noexcept {
    fork_record& record = open(level);
    return (level + 1 == fake_stack::depth || nest(level + 1)) && close(record);
  }

  void own() noexcept {
    for (int i = 0; i < Shape.outer; ++i)
      if (!fork(0))
        return;
  }

  bool steal(void* wanted = nullptr) noexcept {
    entry<fork_record> taken{};
    const outcome result = deque.steal(wanted, taken);
    if (result == outcome::empty)
      deque.ask();
    if (result != outcome::got)
      return false;
    taken.frame->resume();
    check(taken.frame->was_complete() != classic<Deque>,
          "a fork was public before it was complete");
    check(taken.frame->times_taken() == (tells_what_it_takes<Deque>() ? 1 : 0),
          "the deque did not tell what was taken");
    check(taken.group == groups[taken.frame - work], "a fork without its group was public");
    return true;
  }

  void ask_and_steal(int tries) noexcept {
    while (tries-- > 0 && !steal())
      base::spin_pause();
  }

  void starve_and_steal(int tries) noexcept {
    while (tries-- > 0 && !(deque.publish_for_owner() && steal()))
      base::spin_pause();
  }

  // What was forked went on once; nothing is left to take.
  void after() {
    for (int i = 0; i < forked; ++i)
      work[i].check_resumed_once();
    check(!deque.anything_public(), "a fork is left that nobody will take");
  }
};

template <class Deque, shape Shape>
struct asked_for : scenario<asked_for<Deque, Shape>, 2>, deque_state<Deque, Shape> {
  void before() { deque_state<Deque, Shape>::before(); }
  void after() { deque_state<Deque, Shape>::after(); }
  void thread(unsigned self) { self == 0 ? this->own() : this->ask_and_steal(4); }
};

// An owner that expects a thief publishes unasked; another thief starves.
template <class Deque, shape Shape>
struct expected : scenario<expected<Deque, Shape>, 3>, deque_state<Deque, Shape> {
  void before() { deque_state<Deque, Shape>::before(); }
  void after() { deque_state<Deque, Shape>::after(); }
  void thread(unsigned self) {
    if (self == 0) {
      this->deque.expect_thief();
      this->own();
    } else if (self == 1) {
      this->ask_and_steal(3);
    } else {
      this->starve_and_steal(2);
    }
  }
};

template <class Deque, shape Shape>
struct starved : scenario<starved<Deque, Shape>, 2>, deque_state<Deque, Shape> {
  void before() { deque_state<Deque, Shape>::before(); }
  void after() { deque_state<Deque, Shape>::after(); }
  void thread(unsigned self) { self == 0 ? this->own() : this->starve_and_steal(2); }
};

template <class Deque, shape Shape>
struct asked_and_starved : scenario<asked_and_starved<Deque, Shape>, 3>, deque_state<Deque, Shape> {
  void before() { deque_state<Deque, Shape>::before(); }
  void after() { deque_state<Deque, Shape>::after(); }
  void thread(unsigned self) {
    if (self == 0)
      this->own();
    else if (self == 1)
      this->ask_and_steal(3);
    else
      this->starve_and_steal(2);
  }
};

template <class Deque, shape Shape>
struct two_starved : scenario<two_starved<Deque, Shape>, 3>, deque_state<Deque, Shape> {
  void before() { deque_state<Deque, Shape>::before(); }
  void after() { deque_state<Deque, Shape>::after(); }
  void thread(unsigned self) { self == 0 ? this->own() : this->starve_and_steal(2); }
};

// Without a heavy barrier every push and pop takes the slow path.
template <class Deque, shape Shape>
struct fenced : scenario<fenced<Deque, Shape>, 3>, deque_state<Deque, Shape, true> {
  void before() { deque_state<Deque, Shape, true>::before(); }
  void after() { deque_state<Deque, Shape, true>::after(); }
  void thread(unsigned self) {
    if (self == 0)
      this->own();
    else if (self == 1)
      this->ask_and_steal(3);
    else
      this->starve_and_steal(2);
  }
};

// The root fork of a group is public at once, and only thieves of that group take it.
template <class Deque>
struct foreign : scenario<foreign<Deque>, 3>, deque_state<Deque, shape{3, 0}> {
  int other_group = 0;
  void before() { deque_state<Deque, shape{3, 0}>::before(); }
  void after() { deque_state<Deque, shape{3, 0}>::after(); }
  void thread(unsigned self) {
    if (self == 0)
      this->visit();
    else if (self == 1)
      this->steal(&this->group);
    else
      check(!this->steal(&other_group), "another group's fork was taken");
  }

  void visit() noexcept {
    strand& outermost = this->work[this->forked];
    this->groups[this->forked++] = &this->group;
    fork_record record;
    outermost.prepare();
    record.continuation = &outermost;
    this->deque.publish_root(&record, &this->group);
    if (!this->fork(1)) // the child's own fork, on a stack of ours
      return;
    if (this->deque.take_back_root(&record))
      outermost.resume();
  }
};

// As many forks as there are places at once; an array grows from one entry to four.
template <class Deque>
struct all_open : scenario<all_open<Deque>, 3>, deque_state<Deque, shape{fake_stack::depth, 0}> {
  using state = deque_state<Deque, shape{fake_stack::depth, 0}>;
  void before() { state::before(); }
  void after() { state::after(); }
  void thread(unsigned self) {
    if (self == 0)
      this->nest(0);
    else
      this->ask_and_steal(2);
  }
};

// The same with thieves that starve, twice, since the second time more forks are wanted.
template <class Deque>
struct all_open_starved : scenario<all_open_starved<Deque>, 3>,
                          deque_state<Deque, shape{2 * fake_stack::depth, 0}> {
  using state = deque_state<Deque, shape{2 * fake_stack::depth, 0}>;
  void before() { state::before(); }
  void after() { state::after(); }
  void thread(unsigned self) {
    if (self == 0)
      this->nest(0) && this->nest(0);
    else
      this->starve_and_steal(2);
  }
};

// A worker that goes from one group to another. Each of two thieves wants the forks of one group
// only. A thief may hear that a fork is the other group's, but not before that fork was published.
template <class Deque>
struct two_groups : scenario<two_groups<Deque>, 3>, deque_state<Deque, shape{2, 0}> {
  using state = deque_state<Deque, shape{2, 0}>;
  int other_group = 0;
  bool moved = false;

  void before() { state::before(); }
  void after() { state::after(); }
  void thread(unsigned self) {
    if (self == 0) {
      this->fork(0);
      this->forks_for = &other_group;
      this->deque.adopt(fake_stack::id, this->place.top(), &other_group);
      moved = true;
      this->fork(0);
    } else {
      for (int tries = 0; tries < 2; ++tries)
        steal_of(self == 1 ? &this->group : &other_group);
    }
  }

  void steal_of(void* wanted) noexcept {
    entry<fork_record> taken{};
    switch (this->deque.steal(wanted, taken)) {
    case outcome::got:
      taken.frame->resume();
      check(taken.group == wanted && this->groups[taken.frame - this->work] == wanted,
            "another group's fork was taken");
      break;
    case outcome::foreign:
      check(moved || wanted != &this->group, "a fork of a group that has made none");
      break;
    case outcome::empty:
      this->deque.ask();
      break;
    case outcome::lost:
      break;
    }
  }
};

template <class Deque> void run_deque_models(runner& models) {
  models.random<asked_for<Deque, shape{3, 0}>>("three forks, a thief asks");
  models.bounded<asked_for<Deque, shape{2, 0}>>("two forks, a thief asks", 2);
  models.random<asked_for<Deque, shape{1, 2}>>("nested forks, a thief asks");
  models.random<starved<Deque, shape{2, 0}>>("two forks, a thief starves", 2);
  models.bounded<starved<Deque, shape{2, 0}>>("two forks, a thief starves", 2);
  models.random<starved<Deque, shape{1, 2}>>("nested forks, a thief starves", 2);
  models.random<starved<Deque, shape{2, 1}>>("nested forks twice, a thief starves", 2);
  models.random<two_starved<Deque, shape{1, 2}>>("nested forks, two thieves starve", 2);
  models.random<asked_and_starved<Deque, shape{1, 2}>>("nested forks, one asks, one starves", 2);
  models.random<asked_and_starved<Deque, shape{2, 1}>>("the same, twice", 2);
  models.random<asked_and_starved<Deque, shape{1, 1, true}>>("an inner join completed, two thieves",
                                                             2);
  models.random<fenced<Deque, shape{1, 2}>>("fenced: nested forks, two thieves");
  models.random<foreign<Deque>>("a waiting thread's outermost fork, two thieves", 2);
  models.random<all_open<Deque>>("three forks open at once, two thieves", 2);
  models.random<all_open_starved<Deque>>("the same twice, two thieves starve", 2);
  models.random<two_groups<Deque>>("two groups, two thieves", 2);
  if constexpr (requires(Deque& deque) { deque.expect_thief(); }) {
    models.random<expected<Deque, shape{2, 0}>>("two forks of an owner that expects thieves", 2);
    models.random<expected<Deque, shape{1, 2}>>("nested forks of an owner that expects thieves", 2);
  }
}

} // namespace nopal::model
