// SPDX-License-Identifier: MIT
// Models of the joins under the deques whose forks are public at once: one strand goes on after a
// join, once, and sees what all others wrote; and leaves are busy at each state.
//
// The calls and their order are those of sched/steal.cc: a thief counts its steal under the deque's
// lock, by Offer::taken, or later, as the main path, whichever the join asks for.
#include "nopal/config.h"

#include "tests/model/mapped.h"

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::arch {

// The stacks of the model have room for any fork, so a limit above 0 was lowered (no_bounds).
template <class T> bool stack_below(const base::atomic<T>& limit) noexcept {
  return limit.load(base::relaxed) != 0;
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::arch

#include "bench/baseline/chase_lev.h"
#include "bench/baseline/locked.h"
#include "bench/baseline/the.h"
#include "nopal/join/wait_free.h"

namespace nopal::model {
namespace {

using deque::attention;
using deque::entry;
using deque::outcome;

// Fibril's count as in its paper: it counts all strands, the main path among them, and the strand
// that counts it down to zero goes on. It is right only if a steal is counted before the child can
// finish.
class strand_count {
public:
  static constexpr bool counts_under_deque_lock = true;

  void count_steal() noexcept {
    const base::locked guard{lock_};
    alpha_ = alpha_ + 1;
    strands_ = strands_ + 1;
  }
  std::int64_t steals() const noexcept { return alpha_; }
  bool child_finished() noexcept { return count_down(); }
  bool last_child() const noexcept {
    const base::locked guard{lock_};
    return strands_ == 1;
  }
  bool arrive() noexcept { return count_down(); }
  void reset() noexcept {
    alpha_ = 0;
    strands_ = 1;
  }

private:
  bool count_down() noexcept {
    const base::locked guard{lock_};
    strands_ = strands_ - 1;
    return strands_ == 0;
  }

  mutable base::spin_lock lock_;
  base::handed_over<std::int64_t> alpha_{0};
  base::handed_over<std::int64_t> strands_{1};
};

template <class Join>
concept counts_under_deque_lock = requires { requires Join::counts_under_deque_lock; };

// The same join, where a thief counts its steal after it has left the deque's lock.
template <class Join> struct counted_late : Join {
  static constexpr bool counts_under_deque_lock = false;
};

template <class Join> struct forking_frame {
  Join join;
  base::handed_over<int> child{0}; // whose continuation is published
  base::handed_over<int> locals{0};
};

template <class Join> struct record_of {
  using frame_type = forking_frame<Join>;
  alignas(8) base::handed_over<frame_type*> owner{nullptr};

  frame_type* frame() const noexcept { return owner; }
  static void taken(frame_type* frame) noexcept {
    if constexpr (counts_under_deque_lock<Join>)
      frame->join.count_steal();
  }
};

struct no_bounds {
  static std::size_t most_forks() noexcept { return 2; }
  static std::uintptr_t lowest_fork(stack::stack_id) noexcept { return 0; }
  static std::uintptr_t offset(stack::stack_id) noexcept { return 0; }
};

template <class Join> using the_deque = deque::the<record_of<Join>, no_bounds>;
template <class Join> using chase_lev_deque = deque::chase_lev<record_of<Join>, no_bounds, 1>;

// Busy leaves (fibril-spaa16, section 2): at each state a worker executes every extant leaf of the
// invocation tree: each child that has begun and not ended, and the frame while it has no such
// child. The model's own notes: what each thread executes.
template <int Children, int Threads> class leaves {
public:
  static constexpr int frame = Children;
  static constexpr int nothing = Children + 1;

  leaves() noexcept {
    for (int& each : executes_)
      each = nothing;
    executes_[0] = frame; // the frame exists from the beginning
  }
  // The thread executes this from now on: a child, which begins, the frame, or nothing.
  void execute(unsigned thread, int what) noexcept {
    executes_[thread] = what;
    check(over_ || (extant() ? each_child_is_executed() : is_executed(frame)),
          "nobody executes a leaf");
  }
  // Before the thread that executes it does something else.
  void begin(int child) noexcept { extant_[child] = true; }
  void end(int child) noexcept { extant_[child] = false; }
  void end_all() noexcept { over_ = true; }

private:
  bool extant() const noexcept {
    bool any = false;
    for (const bool each : extant_)
      any |= each;
    return any;
  }
  bool is_executed(int what) const noexcept {
    bool any = false;
    for (const int each : executes_)
      any |= each == what;
    return any;
  }
  bool each_child_is_executed() const noexcept {
    bool all = true;
    for (int child = 0; child < Children; ++child)
      all &= !extant_[child] || is_executed(child);
    return all;
  }

  int executes_[Threads];
  bool extant_[Children]{};
  bool over_ = false;
};

// A scope with `Children` children, joined `Rounds` times by threads that each have a deque. The
// thread that runs the main path publishes it and runs the child; a thread that steals it runs the
// main path from then on.
template <template <class> class DequeOf, class Join, int Children, int Rounds, int Threads,
          bool MustFail = false, bool Buried = false>
struct scope_under
    : scenario<scope_under<DequeOf, Join, Children, Rounds, Threads, MustFail, Buried>, Threads> {
  static constexpr bool must_fail = MustFail;
  static constexpr stack::stack_id some_stack = 1;

  mapped_atomics<forking_frame<Join>*, 2 * Threads> memory;
  DequeOf<Join> deques[Threads];
  forking_frame<Join> frame;
  record_of<Join> records[Children];
  base::handed_over<int> results[Children];
  base::atomic<bool> over{false};
  base::atomic<int> buried_under{-1}; // the thread that left the main path at the join
  base::atomic<bool> ready{false};    // and whether all children have ended since
  int group = 0;

  // The model's own notes.
  leaves<Children, Threads> busy;
  int round = 0;
  int joins = 0;
  bool joined[Rounds]{};

  void before() {
    for (DequeOf<Join>& deque : deques) {
      deque.open(false);
      deque.adopt(some_stack, 0, &group);
      deque.attend();
    }
  }

  void thread(unsigned self) {
    if (self == 0)
      main_path(self, 0);
    while (!over.load(base::relaxed)) {
      const unsigned victim = (self + 1 + rl::rand(Threads - 1)) % Threads;
      entry<record_of<Join>> taken{};
      if (deques[victim].steal(nullptr, taken) == outcome::got) {
        busy.execute(self, busy.frame);
        if constexpr (!counts_under_deque_lock<Join>)
          taken.frame->join.count_steal();
        deques[self].adopt(some_stack, 0, &group);
        main_path(self, taken.frame->child + 1);
      } else if (Buried && dig_up(self)) {
        if (go_on(self))
          main_path(self, 0);
      } else {
        base::spin_pause();
      }
    }
  }

  void open(unsigned self, record_of<Join>& record) noexcept {
    record.owner = &frame;
    if (deques[self].push(&record))
      return;
    if (deques[self].push_anyway(&record) == attention::requested)
      deques[self].publish(&record, &group);
  }

  // A join as on one linear stack: the thread that left the main path alone can go on with it, and
  // only when it comes back to it.
  bool dig_up(unsigned self) noexcept {
    if (buried_under.load(base::relaxed) != static_cast<int>(self) || !ready.load(base::acquire))
      return false;
    ready.store(false, base::relaxed);
    buried_under.store(-1, base::relaxed);
    busy.execute(self, busy.frame);
    return true;
  }
  // Whether the thread that was last goes on with the main path itself.
  bool is_last(bool last) noexcept {
    if (Buried && last && buried_under.load(base::relaxed) >= 0) {
      ready.store(true, base::release);
      return false;
    }
    return last;
  }

  void leave(unsigned self) noexcept { deques[self].adopt(stack::no_stack, 0, nullptr); }

  // Runs the main path from the fork of `child` on; returns when this thread has left it.
  void main_path(unsigned self, int child) noexcept {
    for (; child < Children; ++child) {
      const int now = round;
      record_of<Join>& record = records[child];
      frame.child = child;
      busy.begin(child);
      busy.execute(self, child);
      open(self, record);
      results[child] = now + 1;
      if (deques[self].pop_newest() || deques[self].take_back(&record)) {
        busy.end(child);
        busy.execute(self, busy.frame);
        continue; // not detached: the same strand goes on
      }
      leave(self);
      if (rl::rand(2) == 0)
        frame.join.last_child(); // a hint
      const bool last = is_last(frame.join.child_finished());
      busy.end(child);
      busy.execute(self, last ? busy.frame : busy.nothing);
      if (!last)
        return;
      if (!go_on(self))
        return;
      child = -1;
    }
    frame.locals = round + 1;
    if (frame.join.steals() != 0) {
      leave(self);
      if (Buried)
        buried_under.store(static_cast<int>(self), base::relaxed);
      const bool last = frame.join.arrive();
      busy.execute(self, last ? busy.frame : busy.nothing);
      if (!last)
        return;
    }
    if (go_on(self))
      main_path(self, 0);
  }

  // The last to arrive at the join calls this. Returns true if it goes on with another round.
  bool go_on(unsigned self) noexcept {
    check(!joined[round], "two strands go on after one join");
    joined[round] = true;
    check(frame.locals == round + 1, "a strand went on before the main path was at the join");
    for (int i = 0; i < Children; ++i)
      check(results[i] == round + 1, "a strand went on before a child had finished");
    if (frame.join.steals() != 0) {
      frame.join.reset();
      deques[self].adopt(some_stack, 0, &group);
    }
    check(frame.join.steals() == 0, "steals are left after a join");
    ++joins;
    if (++round < Rounds)
      return true;
    busy.end_all();
    over.store(true, base::relaxed);
    return false;
  }

  void after() { check(joins == Rounds, "nobody went on after a join"); }
};

template <template <class> class DequeOf, class Join> void run_join_models(runner& models) {
  models.random<scope_under<DequeOf, Join, 1, 2, 2>>("one child, two rounds, two threads");
  models.bounded<scope_under<DequeOf, Join, 1, 1, 2>>("one child, two threads", 2);
  models.random<scope_under<DequeOf, Join, 2, 2, 3>>("two children, two rounds, three threads");
  models.random<scope_under<DequeOf, Join, 3, 1, 3>>("three children, three threads");
}

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal;
  using namespace nopal::model;
  runner models{argc, argv};
  models.section("wait_free under the");
  run_join_models<the_deque, join::wait_free>(models);
  models.section("wait_free under chase_lev");
  run_join_models<chase_lev_deque, join::wait_free>(models);
  models.section("locked under the");
  run_join_models<the_deque, join::locked>(models);
  models.section("locked under the, counted late");
  run_join_models<the_deque, counted_late<join::locked>>(models);
  models.section("the paper's count under the");
  run_join_models<the_deque, strand_count>(models);
  models.section("wait_free under chase_lev, the main path buried");
  models.random<scope_under<chase_lev_deque, join::wait_free, 2, 1, 3, true, true>>(
      "two children, three threads");
  models.section("the paper's count under the, counted late");
  models.bounded<scope_under<the_deque, counted_late<strand_count>, 1, 1, 2, true>>(
      "one child, two threads", 2);
  models.random<scope_under<the_deque, counted_late<strand_count>, 2, 2, 3, true>>(
      "two children, two rounds, three threads", 5);
  return models.result();
}
