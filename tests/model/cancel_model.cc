// SPDX-License-Identifier: MIT
// Models of telling strands to stop: a strand of a region that is cancelled finds it out at its
// next fork, whatever its vproc ran before, wherever the strand goes on and whoever cancels
// meanwhile. And it sees what was done before.
//
// The calls and their order are those of sched/stop.cc (cancel, stops_amid, look_at_next_fork),
// sched/forks.cc (push_slow, fork_with_own_state), nopal/scope.h (may_fork), sched/schedule.cc
// (run), sched/groups.cc (begin_group), vproc/table.cc (make_vproc) and fibers/fibers.cc
// (begin_fiber). A fork is the comparison with the limit.
#include "fake_stack.h"
#include "mortal.h"

#include "nopal/base/count.h"
#include "nopal/base/flag.h"
#include "nopal/deque/limit.h"
#include "nopal/join/cancelable.h"
#include "nopal/sync/signal_word.h"

#include <cstddef>
#include <exception>

// Relacy replaces the other one alone.
void operator delete(void* at, std::size_t) noexcept { operator delete(at); }

namespace nopal::model {
namespace {

struct fake_worker {
  deque::limit<fake_bounds> limit;

  void interrupt() noexcept { limit.interrupt(); }
};

inline constexpr unsigned most_vprocs = 2;

struct vproc_of_strands {
  fake_stack place;
  fake_worker worker;
  sync::signal_word<fake_worker> signals;

  void begin() noexcept {
    worker.limit.open(false);
    worker.limit.adopt(fake_stack::id);
    worker.limit.attend();
    signals.run_with(&worker);
  }
};

// A strand stands in `inner`, if in any.
struct cancelling {
  vproc_of_strands vprocs[most_vprocs];
  base::atomic<std::uint32_t> vprocs_made{0};
  base::count stops;
  join::cancelable outer;
  join::cancelable inner{&outer};
  join::cancelable other;
  base::handed_over<int> reason{0};

  void make_vproc() noexcept {
    const std::uint32_t number = vprocs_made.load(base::relaxed);
    vprocs[number].begin();
    vprocs_made.store(number + 1, base::seq_cst);
  }
  void announce_stop() noexcept {
    stops.add();
    const std::uint32_t count = vprocs_made.load(base::seq_cst);
    for (std::uint32_t i = 0; i < count; ++i)
      vprocs[i].signals.tell(sync::stop_requested);
  }
  void cancel(join::cancelable& node) noexcept {
    if (node.mark())
      announce_stop();
  }
  void cancel_outer() noexcept {
    reason = 1;
    cancel(outer);
  }

  void look_at_next_fork(unsigned vproc) noexcept {
    if (stops.any())
      vprocs[vproc].signals.tell(sync::stop_requested);
  }
  // Whether the strand is to stop. An exception that unwinds it hides the region.
  enum class amid { nothing, exceptions };
  bool fork_in(unsigned vproc, const join::cancelable* region,
               amid of_strand = amid::nothing) noexcept {
    vproc_of_strands& on = vprocs[vproc];
    if (on.worker.limit.allows_here())
      return false;
    on.worker.limit.attend();
    if (!on.signals.raised(sync::stop_requested))
      return false;
    on.signals.take(sync::stop_requested);
    const bool to_stop = region != nullptr && region->cancelled();
    if (to_stop || (of_strand == amid::exceptions && stops.any()))
      on.signals.tell(sync::stop_requested);
    return to_stop;
  }
  void fork_in_cancelled(unsigned vproc) noexcept {
    if (fork_in(vproc, &inner))
      check(reason == 1, "a strand stops, and does not see what was done before");
  }
  // Called when the threads have ended.
  void check_stops(unsigned vproc) noexcept {
    check(fork_in(vproc, &inner), "a cancelled strand was not told");
    check(fork_in(vproc, &inner), "a cancelled strand was told once, and not again");
  }
};

// The vproc runs a strand that is not cancelled, and goes on with one that is.
struct goes_on : scenario<goes_on, 2>, cancelling {
  void before() { make_vproc(); }
  void thread(unsigned self) {
    if (self == 1)
      return cancel_outer();
    fork_in(0, nullptr);
    look_at_next_fork(0);
    fork_in_cancelled(0);
  }
  void after() { check_stops(0); }
};

// Two regions are cancelled at the same time; a strand of one of them forks.
struct two_cancel : scenario<two_cancel, 3>, cancelling {
  void before() { make_vproc(); }
  void thread(unsigned self) {
    if (self == 1)
      return cancel_outer();
    if (self == 2)
      return cancel(other);
    fork_in_cancelled(0);
    fork_in_cancelled(0);
  }
  void after() { check_stops(0); }
};

// Two threads cancel the same region. The second sees what the first has done before, and tells
// nobody.
struct same_twice : scenario<same_twice, 3>, cancelling {
  base::handed_over<int> reasons[2];
  int first = -1; // the model's own note

  void before() { make_vproc(); }
  void fork_in_cancelled() noexcept {
    if (fork_in(0, &inner))
      check(reasons[first] == 1, "a strand stops, and does not see what was done before");
  }
  void thread(unsigned self) {
    if (self == 2)
      return fork_in_cancelled();
    reasons[self] = 1;
    if (!outer.mark()) {
      check(reasons[first] == 1, "the second canceller does not see what was done before");
      return;
    }
    first = static_cast<int>(self);
    announce_stop();
  }
  void after() { check_stops(0); }
};

// Two threads cancel a region, each with a reason. A thread that reads a reason reads the first's,
// and sees what that one has done before.
struct gives_reasons : scenario<gives_reasons, 3> {
  mortal<join::cancelable> region;
  base::handed_over<int> done_before[2];
  std::exception_ptr given[2] = {std::make_exception_ptr(0), std::make_exception_ptr(1)};
  int first = -1; // the model's own note

  void before() { region.begin(); }
  void read() noexcept {
    const std::exception_ptr seen = region->reason();
    if (seen == nullptr)
      return;
    const int whose = seen == given[0] ? 0 : 1;
    check(first == -1 || first == whose, "the reason is not the first canceller's");
    check(done_before[whose] == 1, "a reason is read without what was done before");
  }
  void thread(unsigned self) {
    if (self == 2)
      return read();
    done_before[self] = 1;
    if (region->mark(given[self]))
      first = static_cast<int>(self);
    read();
  }
  void after() {
    check(region->reason() == given[first], "the reason is not the first canceller's");
    region.end();
  }
};

// A cancelled region ends, and is counted no more, while another one is cancelled.
struct one_ends : scenario<one_ends, 2>, cancelling {
  void before() {
    make_vproc();
    cancel(other);
  }
  void thread(unsigned self) {
    if (self == 1)
      return cancel_outer();
    fork_in(0, nullptr);
    stops.subtract();
    look_at_next_fork(0);
    fork_in_cancelled(0);
  }
  void after() { check_stops(0); }
};

// A strand stops because another one does, on whose stack it was forked.
struct stops_with_another : scenario<stops_with_another, 3>, cancelling {
  base::flag stopped; // of that stack

  void before() { make_vproc(); }
  void thread(unsigned self) {
    if (self == 1)
      return cancel_outer();
    if (self == 0) {
      if (fork_in(0, &inner))
        stopped.take();
    } else if (stopped.taken())
      check(reason == 1, "a strand stops with another one, and does not see what was done before");
  }
  void after() { check_stops(0); }
};

// The main path of a scope in the region is stolen: the thief uses another stack from then on.
struct is_stolen : scenario<is_stolen, 3>, cancelling {
  base::atomic<int> offered{0};

  void before() {
    make_vproc();
    make_vproc();
  }
  void thread(unsigned self) {
    if (self == 2)
      return cancel_outer();
    if (self == 0) {
      fork_in_cancelled(0);
      offered.store(1, base::release);
      return;
    }
    deque::limit<fake_bounds>& limit = vprocs[1].worker.limit;
    limit.adopt(stack::no_stack);
    while (offered.load(base::acquire) == 0)
      base::spin_pause();
    limit.adopt(fake_stack::id);
    look_at_next_fork(1);
    fork_in_cancelled(1);
  }
  void after() { check_stops(1); }
};

// A strand begins a group on a vproc that is made for it.
struct makes_vproc : scenario<makes_vproc, 2>, cancelling {
  void thread(unsigned self) {
    if (self == 1)
      return cancel_outer();
    make_vproc();
    look_at_next_fork(0);
    fork_in_cancelled(0);
  }
  void after() { check_stops(0); }
};

// An exception unwinds the strand while it forks: it does not stop then, but after that.
struct unwinds : scenario<unwinds, 2>, cancelling {
  void before() { make_vproc(); }
  void thread(unsigned self) {
    if (self == 1)
      return cancel_outer();
    fork_in(0, nullptr, amid::exceptions);
    fork_in(0, nullptr, amid::exceptions);
    fork_in_cancelled(0);
  }
  void after() { check_stops(0); }
};

// The owner of the region is not to stop, and looks in vain before it forks a child there.
struct owner_forks : scenario<owner_forks, 2>, cancelling {
  bool begun = false;

  void before() { make_vproc(); }
  void thread(unsigned self) {
    if (self == 1)
      return cancel_outer();
    fork_in(0, nullptr);
    begun = !outer.marked();
    if (begun)
      fork_in_cancelled(0);
    else
      check(reason == 1, "a fork is skipped, and does not see what was done before");
  }
  void after() {
    if (begun)
      check_stops(0);
  }
};

// A fiber that is cancelled before it begins does not begin; else it is told at a fork.
struct fiber_begins : scenario<fiber_begins, 2>, cancelling {
  bool begun = false;

  void before() { make_vproc(); }
  void thread(unsigned self) {
    if (self == 1)
      return cancel_outer();
    look_at_next_fork(0);
    begun = !inner.cancelled();
    if (begun)
      fork_in_cancelled(0);
    else
      check(reason == 1, "a fiber does not begin, and does not see what was done before");
  }
  void after() {
    if (begun)
      check_stops(0);
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<goes_on>("the vproc goes on with a cancelled strand");
  models.bounded<goes_on>("the vproc goes on with a cancelled strand", 4);
  models.random<two_cancel>("two are cancelled");
  models.bounded<two_cancel>("two are cancelled", 2);
  models.random<same_twice>("two cancel the same");
  models.bounded<same_twice>("two cancel the same", 2);
  models.random<gives_reasons>("two cancel with reasons");
  models.bounded<gives_reasons>("two cancel with reasons", 4);
  models.random<one_ends>("another one ends that was cancelled");
  models.bounded<one_ends>("another one ends that was cancelled", 4);
  models.random<stops_with_another>("a strand stops with another one");
  models.bounded<stops_with_another>("a strand stops with another one", 3);
  models.random<is_stolen>("the strand goes on in a thief");
  models.bounded<is_stolen>("the strand goes on in a thief", 2);
  models.random<makes_vproc>("the vproc is a new one");
  models.bounded<makes_vproc>("the vproc is a new one", 4);
  models.random<unwinds>("an exception unwinds the strand");
  models.bounded<unwinds>("an exception unwinds the strand", 4);
  models.random<owner_forks>("the owner forks after a look in vain");
  models.bounded<owner_forks>("the owner forks after a look in vain", 4);
  models.random<fiber_begins>("a fiber begins");
  models.bounded<fiber_begins>("a fiber begins", 4);
  return models.result();
}
