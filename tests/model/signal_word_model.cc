// SPDX-License-Identifier: MIT
// Models of a vproc's signals: a bit that a teller sets is seen by the owner's next forks, whatever
// thieves do to the limit meanwhile, and even if the owner changes workers.
//
// The calls are those of vproc/timer.cc (tick), sched/forks.cc (push_slow) and vproc/worker.h
// (run_on); a fork is the comparison with the limit. More of these signals: cancel_model.cc.
#include "fake_stack.h"

#include "nopal/deque/limit.h"
#include "nopal/sync/signal_word.h"

namespace nopal::model {
namespace {

struct fake_worker {
  deque::limit<fake_bounds> limit;

  void interrupt() noexcept { limit.interrupt(); }
};

struct vproc_state {
  fake_stack place;
  fake_worker workers[2];
  sync::signal_word<fake_worker> signals;
  bool seen = false;

  void before() noexcept {
    for (fake_worker& each : workers) {
      each.limit.open(false);
      each.limit.adopt(fake_stack::id);
      each.limit.attend();
    }
    signals.run_with(&workers[0]);
  }
  void fork(fake_worker& worker) noexcept {
    if (worker.limit.allows_here())
      return;
    worker.limit.attend();
    if (signals.raised(sync::preempt_requested)) {
      signals.take(sync::preempt_requested);
      seen = true;
    }
  }
  // At the end every store is visible, so one more fork must see the signal.
  void check_seen(fake_worker& worker) noexcept {
    fork(worker);
    check(seen, "a signal was lost");
  }
};

// A thief asks at the same time, and searches in vain.
struct asked : scenario<asked, 3>, vproc_state {
  void before() { vproc_state::before(); }
  void thread(unsigned self) {
    deque::limit<fake_bounds>& limit = workers[0].limit;
    if (self == 0) {
      fork(workers[0]);
      fork(workers[0]);
    } else if (self == 1) {
      signals.tell(sync::preempt_requested);
    } else {
      limit.ask();
      if (limit.is_asked())
        limit.note_search_in_vain();
      limit.forget_search();
    }
  }
  void after() { check_seen(workers[0]); }
};

// The owner expects to publish, and gives its stack back and takes another.
struct adopts : scenario<adopts, 2>, vproc_state {
  void before() { vproc_state::before(); }
  void thread(unsigned self) {
    deque::limit<fake_bounds>& limit = workers[0].limit;
    if (self == 1)
      return signals.tell(sync::preempt_requested);
    fork(workers[0]);
    limit.expect();
    limit.stop_expecting();
    limit.adopt(stack::no_stack);
    limit.adopt(fake_stack::id);
    fork(workers[0]);
  }
  void after() { check_seen(workers[0]); }
};

// The owner leaves one worker for another one.
struct changes_workers : scenario<changes_workers, 2>, vproc_state {
  void before() { vproc_state::before(); }
  void thread(unsigned self) {
    if (self == 1)
      return signals.tell(sync::preempt_requested);
    fork(workers[0]);
    signals.run_with(&workers[1]);
    fork(workers[1]);
  }
  void after() { check_seen(workers[1]); }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<asked>("a thief asks, too");
  models.bounded<asked>("a thief asks, too", 2);
  models.random<adopts>("the owner changes stacks");
  models.bounded<adopts>("the owner changes stacks", 3);
  models.random<changes_workers>("the owner changes workers");
  models.bounded<changes_workers>("the owner changes workers", 4);
  return models.result();
}
