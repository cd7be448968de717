// SPDX-License-Identifier: MIT
// Models of the wait-free join: one strand goes on, once, and sees what all others wrote.
#include "strand.h"

#include "nopal/base/gathering.h"
#include "nopal/deque/public_ring.h"
#include "nopal/join/wait_free.h"

namespace nopal::model {
namespace {

using deque::entry;
using deque::outcome;

// A scope with `Children` children, joined `Rounds` times. As in sched/steal.cc, the thread that
// runs the main path publishes it in its own ring and runs the child; a thief takes the main path
// from there and only then counts its steal, perhaps long after the child has finished.
template <int Children, int Rounds, int Threads>
struct scope_of : scenario<scope_of<Children, Rounds, Threads>, Threads> {
  deque::public_ring<fork_record, 4> rings[Threads];
  join::wait_free join;
  base::atomic<bool> over{false};

  // Plain data. The main path's: its own locals. A child's: its result, read after the join.
  base::handed_over<int> locals{0};
  base::handed_over<int> results[Children];
  strand rest;
  fork_record places[Children];

  // The model's own notes.
  int round = 0;
  int joins = 0;
  bool joined[Rounds]{};

  void thread(unsigned self) {
    if (self == 0)
      main_path(self, 0);
    for (unsigned victim = self; !over.load(base::relaxed);) {
      victim = (victim + 1) % Threads;
      entry<fork_record> taken{};
      if (victim != self && rings[victim].steal(nullptr, taken) == outcome::got) {
        const int child = static_cast<int>(taken.record - places);
        join.count_steal();
        main_path(self, child + 1);
      } else {
        base::spin_pause();
      }
    }
  }

  // Runs the main path from the fork of `child` on; returns when this thread has left it.
  void main_path(unsigned self, int child) noexcept {
    for (; child < Children; ++child) {
      const int now = round;
      rings[self].push({&places[child], &rest, nullptr}, 0);
      results[child] = now + 1;
      std::uintptr_t split = 0;
      if (rings[self].withdraw(&places[child], split))
        continue; // not detached: the same strand goes on
      if (!join.child_finished())
        return;
      go_on();
      child = -1;
      if (over.load(base::relaxed))
        return;
    }
    locals = round + 1;
    if (join.steals() != 0 && !join.arrive())
      return;
    go_on();
    if (!over.load(base::relaxed))
      main_path(self, 0);
  }

  // The last to arrive at the join calls this.
  void go_on() noexcept {
    check(!joined[round], "two strands go on after one join");
    joined[round] = true;
    check(locals == round + 1, "a strand went on before the main path was at the join");
    for (int i = 0; i < Children; ++i)
      check(results[i] == round + 1, "a strand went on before a child had finished");
    if (join.steals() != 0)
      join.reset();
    check(join.steals() == 0, "steals are left after a join");
    ++joins;
    if (++round == Rounds)
      over.store(true, base::relaxed);
  }

  void after() { check(joins == Rounds, "nobody went on after a join"); }
};

// Children that are all detached and finish in any order around the main path's arrival. The model
// leaves out how the main path is handed over, so that the counter alone orders anything.
// What strands have added to reducers (join/partials.h) is complete then.
template <int Children> struct all_detached : scenario<all_detached<Children>, Children + 1> {
  join::wait_free join;
  base::handed_over<int> results[Children];
  base::handed_over<int> exceptions{0};
  struct partial {
    base::handed_over<partial*> next{nullptr};
    base::handed_over<int> value{0};
  };
  partial partials[Children + 1];
  base::gathering<partial> all_partials;
  int joins = 0;

  void add_partial(unsigned self) {
    partials[self].value = 1;
    all_partials.add(&partials[self]);
  }
  void thread(unsigned self) {
    if (self < Children) {
      results[self] = 1;
      add_partial(self);
      if (join.child_finished())
        go_on();
      else if (rl::rand(2) == 0)
        join.last_child(); // a hint at any time
      return;
    }
    for (int i = 0; i < Children; ++i)
      join.count_steal();
    exceptions = 1;
    add_partial(self);
    if (join.arrive())
      go_on();
  }

  void go_on() noexcept {
    ++joins;
    check(exceptions == 1, "a strand went on before the main path was at the join");
    for (int i = 0; i < Children; ++i)
      check(results[i] == 1, "a strand went on before a child had finished");
    int sum = 0;
    for (partial* each = all_partials.take(); each != nullptr; each = each->next)
      sum += each->value;
    check(sum == Children + 1, "a join does not find what all strands have added");
    join.reset();
  }

  void after() {
    check(joins == 1, joins == 0 ? "nobody goes on after a join" : "two strands go on");
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.full<all_detached<1>>("join: one detached child");
  models.full<all_detached<2>>("join: two detached children");
  models.random<all_detached<3>>("join: three detached children");
  models.random<scope_of<1, 2, 2>>("join: one child, two rounds, two threads");
  models.bounded<scope_of<1, 2, 2>>("join: one child, two rounds, two threads", 2);
  models.random<scope_of<2, 2, 3>>("join: two children, two rounds, three threads");
  models.random<scope_of<3, 2, 3>>("join: three children, two rounds, three threads");
  models.random<scope_of<3, 1, 4>>("join: three children, four threads");
  return models.result();
}
