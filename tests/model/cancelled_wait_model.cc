// SPDX-License-Identifier: MIT
// Models of strands that are cancelled while they wait: the canceller finds them, exactly one of
// several wakers wakes them, and nobody touches the frame of a strand that goes on.
//
// The calls and their order are those of sched/park.cc (enqueue_findable, park_or_stop,
// wake_if_cancelled), sched/stop.cc (announce_stop), sched/descent.cc, observers.cc, mutex.cc and
// future.h. A thread is a vproc; a strand may go on in another thread than the one in which it
// began to wait. A strand that nobody wakes shows as a deadlock.
#include "mortal.h"

#include "nopal/base/count.h"
#include "nopal/join/cancelable.h"
#include "nopal/sync/choice.h"
#include "nopal/sync/once_event.h"
#include "nopal/sync/permit_queue.h"
#include "nopal/sync/shared_queue.h"
#include "nopal/sync/thread_waker.h"
#include "nopal/sync/wait_word.h"

namespace nopal::model {
namespace {

// What lies in the frame of a strand that waits.
struct fiber {
  base::handed_over<fiber*> next_waiting{nullptr};
  base::handed_over<fiber*> before_waiting{nullptr};
  base::handed_over<join::cancelable*> in{nullptr};
  base::handed_over<int> times_ready{0};
  sync::choice waits;
  sync::thread_waker woken;

  bool claim() noexcept { return waits.claim(0); }
};

void make_ready(fiber* strand) noexcept {
  strand->times_ready += 1;
  strand->woken.wake();
}

struct stack_below : join::descendant {
  stack_below() : join::descendant{kind::stack} {}
};

// A strand for each stack, `on`. Regions lie in `outer`, the innermost one in `region`.
template <unsigned Stacks> struct strands_that_wait {
  sync::wait_word words[Stacks];
  stack_below stacks[Stacks];
  mortal<fiber> frames[Stacks];
  base::count stops;
  join::cancelable outer;
  join::cancelable region{&outer};
  join::cancelable other{&outer};
  join::cancelable innermost{&region};
  base::atomic<bool> stop_requested{false}; // of the token, if there is one

  join::ancestor* placed_above(const join::cancelable& node) noexcept {
    return &node == &outer ? nullptr : placed(&node == &innermost ? region : outer);
  }
  join::ancestor* placed(join::cancelable& node) noexcept {
    if (!node.below.placed())
      node.below.place(placed_above(node));
    return &node.below;
  }

  void wake_if_cancelled(unsigned on) noexcept {
    auto* const strand = static_cast<fiber*>(words[on].hold());
    if (strand == nullptr)
      return;
    do {
      const join::cancelable* const in = strand->in;
      if (in->cancelled() && strand->waits.claim(sync::choice::cancelled))
        make_ready(strand);
    } while (!words[on].let_go(strand));
  }
  void cancel(join::cancelable& node) noexcept {
    if (!node.mark())
      return;
    stops.add();
    base::full_fence();
    bool found[Stacks]{};
    node.below.for_each_below([&](const join::descendant* each) {
      if (each->tag() == join::descendant::kind::stack)
        found[static_cast<const stack_below*>(each) - stacks] = true;
      else
        stop_requested.store(true, base::relaxed);
    });
    for (unsigned on = 0; on < Stacks; ++on)
      if (found[on])
        wake_if_cancelled(on);
  }

  // The strand, and then its vproc. `enqueue` says whether the strand has to wait.
  template <class Enqueue> void park(unsigned on, join::cancelable& in, Enqueue enqueue) noexcept {
    fiber* const strand = &*frames[on];
    strand->in = &in;
    if (!stacks[on].placed())
      stacks[on].place(placed(in));
    words[on].begin(strand);
    if (!enqueue(strand)) {
      words[on].retract();
      make_ready(strand);
      return;
    }
    words[on].publish(strand);
    if (stops.any())
      wake_if_cancelled(on);
  }
  // The strand goes on. True: it was woken; false: it is to stop.
  template <class Withdraw> bool go_on(unsigned on, Withdraw withdraw) noexcept {
    fiber* const strand = &*frames[on];
    strand->woken.wait();
    words[on].end(strand);
    check(strand->times_ready == 1, "a strand was made ready twice");
    const bool woken = strand->waits.taken() != sync::choice::cancelled;
    if (!woken)
      withdraw(strand);
    strand->in = nullptr;
    strand->next_waiting = nullptr;
    frames[on].end();
    return woken;
  }
  template <class Enqueue, class Withdraw>
  bool park_or_stop(unsigned on, join::cancelable& in, Enqueue enqueue,
                    Withdraw withdraw) noexcept {
    frames[on].begin();
    park(on, in, enqueue);
    return go_on(on, withdraw);
  }
  void wait_for_ever(unsigned on, join::cancelable& in) noexcept {
    const auto nowhere = [](fiber*) { return true; };
    check(!park_or_stop(on, in, nowhere, nowhere), "a strand goes on unwoken");
  }
};

// Two regions are cancelled at the same time; a strand of one of them begins to wait, or waits.
template <bool Before>
struct two_cancel : scenario<two_cancel<Before>, Before ? 2 : 3>, strands_that_wait<1> {
  base::handed_over<int> reason{0};

  void before() {
    frames[0].begin();
    if (Before)
      park(0, region, [](fiber*) { return true; });
  }
  void thread(unsigned self) {
    if (self == 0)
      return cancel(other);
    if (self == 2)
      park(0, region, [](fiber*) { return true; });
    if (self == 1) {
      reason = 1;
      cancel(region);
    }
    if (self != (Before ? 1 : 2))
      return;
    check(!go_on(0, [](fiber*) {}), "a strand goes on unwoken");
    check(reason == 1, "a strand stops, and does not see what was done before");
  }
};

// Two strands wait for the first time below the same region, which lies in what is cancelled.
struct both_wait : scenario<both_wait, 3>, strands_that_wait<2> {
  void thread(unsigned self) {
    if (self == 2)
      return cancel(outer);
    wait_for_ever(self, region);
  }
};

// A stop token begins to observe a region that a strand has just placed. It looks without a fence.
struct is_observed : scenario<is_observed, 3>, strands_that_wait<1> {
  join::descendant token{join::descendant::kind::observer};

  void thread(unsigned self) {
    if (self == 0)
      return wait_for_ever(0, innermost);
    if (self == 1)
      return cancel(outer);
    while (!innermost.below.placed())
      base::spin_pause();
    token.place(&innermost.below);
    if (innermost.cancelled())
      stop_requested.store(true, base::relaxed);
  }
  void after() { check(stop_requested.load(base::relaxed), "a token has not seen the stop"); }
};

// A strand's wait ends, and with it the use of its stack and its region, while what the region lies
// in is cancelled.
template <int Threads>
struct region_ends : scenario<region_ends<Threads>, Threads>, strands_that_wait<1> {
  mortal<join::cancelable> inner;
  sync::once_event<fiber> event;

  void before() { this->inner.begin(&this->outer); }
  void thread(unsigned self) {
    if (self == 1)
      return this->cancel(this->outer);
    if (self == 2) {
      if (fiber* const strand = event.happen())
        make_ready(strand);
      return;
    }
    this->park_or_stop(
        0, *inner, [&](fiber* strand) { return event.join(strand); },
        [&](fiber* strand) { event.leave(strand); });
    this->stacks[0].remove();
    inner.end();
  }
};

// A strand that is not cancelled ends its wait, on another vproc than where it began, while a
// canceller looks for a strand that is cancelled.
template <int Threads>
struct another_ends : scenario<another_ends<Threads>, Threads>, strands_that_wait<2> {
  sync::shared_queue<fiber, sync::by_next_waiting> queue;

  void before() {
    for (mortal<fiber>& each : this->frames)
      each.begin();
    this->park(1, this->region, [](fiber*) { return true; });
  }
  void wake_and_run() noexcept {
    fiber* first = nullptr;
    while ((first = queue.take(sync::claimable{})) == nullptr)
      base::spin_pause();
    make_ready(first);
    check(this->go_on(0, [](fiber*) {}), "a strand was cancelled that was not to stop");
  }
  void thread(unsigned self) {
    if (self == 0)
      this->park(0, this->other, [&](fiber* strand) { return queue.add(strand), true; });
    if (self == 1)
      wake_and_run();
    if (self != Threads - 1)
      return;
    this->cancel(this->region);
    check(!this->go_on(1, [](fiber*) {}), "a strand goes on unwoken");
  }
};

// A strand goes on elsewhere, and waits there again on its stack.
struct waits_again : scenario<waits_again, 3>, strands_that_wait<1> {
  sync::once_event<fiber> event;

  void before() { frames[0].begin(); }
  void thread(unsigned self) {
    if (self == 0)
      return park(0, region, [&](fiber* strand) { return event.join(strand); });
    if (self == 2)
      return cancel(region);
    if (fiber* const strand = event.happen())
      make_ready(strand);
    if (go_on(0, [&](fiber* strand) { event.leave(strand); }))
      wait_for_ever(0, region);
  }
};

// An event happens while strands wait for it; one of them is cancelled.
template <int Waiting>
struct event_happens : scenario<event_happens<Waiting>, Waiting + 1>, strands_that_wait<Waiting> {
  sync::once_event<fiber> event;
  base::handed_over<int> value{0};

  void thread(unsigned self) {
    if (self == Waiting) {
      this->cancel(this->region);
      value = 7;
      for (fiber* waiter = event.happen(); waiter != nullptr;) {
        fiber* const next = waiter->next_waiting;
        make_ready(waiter);
        waiter = next;
      }
      return;
    }
    join::cancelable& in = self == 0 ? this->region : this->other;
    const bool woken =
        event.happened() || this->park_or_stop(
                                self, in, [&](fiber* strand) { return event.join(strand); },
                                [&](fiber* strand) { event.leave(strand); });
    check(woken || self == 0, "a strand was cancelled that was not to stop");
    check(!woken || value == 7, "a strand does not see the value");
  }
};

// Two strands wait to be notified; the first is cancelled. The notification goes to the other one.
struct notified : scenario<notified, 3>, strands_that_wait<2> {
  sync::shared_queue<fiber, sync::by_next_waiting> queue;

  void notify_one() noexcept {
    fiber* first = nullptr;
    while ((first = queue.take(sync::claimable{})) == nullptr) // nobody waits yet
      base::spin_pause();
    make_ready(first);
  }
  bool wait(unsigned self) noexcept {
    return park_or_stop(
        self, self == 0 ? region : other, [&](fiber* strand) { return queue.add(strand), true; },
        [&](fiber* strand) { queue.remove(strand); });
  }
  void thread(unsigned self) {
    if (self == 2) {
      cancel(region);
      return notify_one();
    }
    const bool woken = wait(self);
    check(woken || self == 0, "a strand was cancelled that was not to stop");
    if (woken && self == 0)
      notify_one();
  }
};

// Strands want a mutex; the first of them is cancelled, before the others come or meanwhile. The
// last thread has the mutex, cancels, and frees it.
enum class when { before, meanwhile };

template <int Waiting, when Cancelled>
struct want_mutex : scenario<want_mutex<Waiting, Cancelled>, Waiting + 1>,
                    strands_that_wait<Waiting> {
  sync::permit_queue<fiber> mutex;
  base::handed_over<int> entered{0};
  bool got[Waiting]{};

  auto join() noexcept {
    return [this](fiber* strand) { return mutex.join(strand); };
  }
  auto leave() noexcept {
    return [this](fiber* strand) { mutex.leave(strand); };
  }
  void unlock() noexcept {
    if (mutex.try_free())
      return;
    const auto passed = mutex.pass();
    check(passed.was_held, "a mutex was unlocked that nobody had");
    if (passed.to != nullptr)
      make_ready(passed.to);
  }
  bool lock(unsigned self) noexcept {
    if (Cancelled == when::before && self == 0)
      return this->go_on(0, leave());
    join::cancelable& in = self == 0 ? this->region : this->other;
    return mutex.try_hold() || this->park_or_stop(self, in, join(), leave());
  }

  void before() {
    mutex.try_hold();
    if (Cancelled == when::meanwhile)
      return;
    this->frames[0].begin();
    this->park(0, this->region, join());
    this->cancel(this->region);
  }
  void thread(unsigned self) {
    if (self == Waiting) {
      this->cancel(this->region);
      entered += 1;
      return unlock();
    }
    got[self] = lock(self);
    if (!got[self])
      return;
    entered += 1;
    unlock();
  }
  void after() {
    for (int i = 1; i < Waiting; ++i)
      check(got[i], "a strand was cancelled that was not to stop");
    check(mutex.try_hold(), "nobody has the mutex, and it is not free");
    check(entered == 1 + got[0] + (Waiting - 1), "an entry was lost");
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<two_cancel<false>>("two are cancelled", 12);
  models.random<two_cancel<true>>("two are cancelled, a strand waits");
  models.bounded<two_cancel<true>>("two are cancelled, a strand waits", 3);
  models.random<both_wait>("two wait in the region that is cancelled", 4);
  models.random<is_observed>("a token observes a region");
  models.random<region_ends<2>>("a region ends in the one that is cancelled");
  models.bounded<region_ends<2>>("a region ends in the one that is cancelled", 3);
  models.random<region_ends<3>>("the same, while another wakes the strand");
  models.random<another_ends<2>>("another strand ends its wait");
  models.bounded<another_ends<2>>("another strand ends its wait", 3);
  models.random<another_ends<3>>("the same, while a third cancels");
  models.random<waits_again>("a strand waits again elsewhere");
  models.random<event_happens<1>>("an event happens");
  models.bounded<event_happens<1>>("an event happens", 2);
  models.random<event_happens<2>>("an event happens, two wait");
  models.random<notified>("one of two is notified");
  models.random<want_mutex<1, when::meanwhile>>("a mutex");
  models.bounded<want_mutex<1, when::meanwhile>>("a mutex", 2);
  models.random<want_mutex<2, when::meanwhile>>("a mutex, two want it");
  models.random<want_mutex<2, when::before>>("a mutex, one was cancelled, another wants it");
  return models.result();
}
