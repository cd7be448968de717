// SPDX-License-Identifier: MIT
// How spares start, rest and are called. Blocking takes a system call, so a lock costs little here.
//
// Invariant (under the lock): active <= lent places + spares that have not looked for work since
// that number fell.
#include "nopal/vproc/spares.h"

#include "nopal/base/check.h"
#include "nopal/base/per_process.h"
#include "nopal/vproc/arenas.h"
#include "nopal/vproc/ready.h"
#include "nopal/vproc/settings.h"
#include "nopal/vproc/table.h"
#include "nopal/vproc/threads.h"
#include "nopal/vproc/wake.h"
#include "nopal/vproc/worker.h"

#include <condition_variable>
#include <mutex>

namespace nopal::inline NOPAL_ABI::vproc {
namespace {

std::mutex lock;      // of all below
int lent_places = 0;  // of vprocs that block, sleep in a region, or do not take their signals
int active = 0;       // spares that run, or are about to
unsigned resting = 0; // spares that rest, less those that were called
unsigned called = 0;  // calls that no spare has taken yet

thread_local std::chrono::nanoseconds lent_so_far __attribute__((tls_model("initial-exec"))){0};

// Never destroyed: spares wait for it as long as the process lives.
base::per_process<std::condition_variable> wanted_here;
std::condition_variable& spare_wanted() { return wanted_here.get(); }

NOPAL_IN_CHILD([]() noexcept {
  base::renew(lock);
  lent_places = active = 0;
  resting = called = 0;
});

// Calls at most one spare: each call lends the place of one thread that ran. False: none is called.
bool call_spare(int places) noexcept {
  const std::scoped_lock guard{lock};
  lent_places += places;
  if (active >= lent_places)
    return false;
  if (resting > 0) {
    resting -= 1;
    called += 1;
    idle.waiting.count_out(); // the spare, which is one of those that rest
    spare_wanted().notify_one();
  } else if (!start_spare()) { // under the lock, so that forget_spares forgets this spare too
    return false;
  }
  active += 1; // at once, so that the next caller does not count on the same spare
  return true;
}

} // namespace

[[gnu::noinline]] std::chrono::nanoseconds time_lent() noexcept { return lent_so_far; }

// Where no spare is called, an active spare may have looked for work before this place was lent,
// and sleep now. So a thread that sleeps is woken, and looks again.
void lend_spare(int places) noexcept {
  if (call_spare(places))
    return;
  if (idle.wants_wake()) // with the fence W; partner: S3 of sync/README.md
    wake_pool_thread(is_worker(current()) ? current() : nullptr);
}

void take_spare_back(int places) noexcept {
  const std::scoped_lock guard{lock};
  lent_places -= places; // a spare that this leaves over finds out when it next looks for work
}

namespace {

// Lends a place of each arena whose strands a vproc would run that is bound to this group: of this
// one and those outside. A member of an arena would run nothing outside of it.
void lend_arenas(group* bound, bool member, int number) noexcept {
  while (bound != nullptr) {
    lend_places(bound, number);
    const role& outer = bound->outer_role;
    bound = member ? nullptr : outer.bound.get();
    member = outer.member.get();
  }
}

// Lets each action of the vproc yield, also those that its regions have set aside.
void yield_actions(role& inner) noexcept {
  for (role* at = &inner;;) {
    for (action* next = at->actions.take_all(); next != nullptr;) {
      action* const yielding = next;
      next = yielding->below; // first: it may run at once
      yielding->pushed = false;
      yielding->starting = true;
      yielding->starter->again = false;
      yielding->starter->anywhere = true;
      make_ready_for_all(yielding->starter);
    }
    group* const bound = at->bound.get();
    if (bound == nullptr || at->member.get())
      return;
    at = &bound->outer_role;
  }
}

// Whether the vproc waits for a region that lies in a strand. What is outside of the region then
// lacks this thread. Others that search now may sleep in regions of their own later, so each lends
// its place. A place of an arena is the vproc's own.
bool waits_in_region(const vproc* sleeper) noexcept {
  const group* const bound = sleeper->bound.get();
  return bound != nullptr && !sleeper->member.get() && is_worker(bound->outer);
}

// Virtual workers have one thread, which blocks.
vproc* blocking_vproc() noexcept {
  return is_worker(current()) && virtual_workers() == 0 ? current()->host : nullptr;
}

} // namespace

// A vproc that blocks counts as blocked first, so that the timer does not lend its place a second
// time. A spare that blocks in a region is no spare for others: it needs one more for itself.
lending::lending(vproc* lent, bool asleep) : lent_{lent} {
  if (lent_ == nullptr)
    return;
  places_ = !asleep && lent_->spare.get() && lent_->bound.get() != nullptr ? 2 : 1;
  role* const outermost = asleep ? &lent_->bound.get()->outer_role : lent_;
  lent_->blocked.add(); // before the look at what is enqueued there (enqueue_on)
  bound_ = outermost->bound.get();
  member_ = outermost->member.get();
  goes_back_ = !asleep && !lent_->actions.empty();
  lend_arenas(bound_, member_, 1);
  yield_actions(*lent_);
  if (!asleep)
    unpin_actions(lent_);
  lend_spare(places_);
  begin_ = std::chrono::steady_clock::now();
}

lending::lending() : lending{blocking_vproc(), false} {}
// A vproc that looks for work has no actions but those that the region has set aside.
lending_asleep::lending_asleep(vproc* sleeper)
    : lending{waits_in_region(sleeper) ? sleeper : nullptr, true} {
  NOPAL_CHECK(sleeper->actions.empty());
}

void lending::take_back() noexcept {
  if (lent_ == nullptr || lent_in_ != base::this_process)
    return;
  lent_so_far += std::chrono::steady_clock::now() - begin_;
  take_spare_back(places_);
  lend_arenas(bound_, member_, -1); // takes their places back
  lent_->blocked.subtract();
  if (goes_back_)
    current()->host->signals.tell(sync::preempt_requested);
}

// The vproc may be bound to another group at any time, so the arenas outside are left alone.
void lend_place_of_another(vproc* lent) noexcept {
  group* const bound = lent->bound.get();
  lent->lent_in.set(bound); // before `stood_in`: the vproc reads it after that
  if (bound != nullptr)
    lend_places(bound, 1);
  yield_actions(*lent);
  share_ready_of_another(lent);
  lent->stood_in.store(true, base::seq_cst); // from now on the vproc may take its place back
  unpin_actions(lent);                       // those that come later see `stood_in` (enqueue_on)
  lend_spare();
}

void take_place_back(vproc* lent) noexcept {
  take_spare_back();
  if (group* const bound = lent->lent_in.get())
    lend_places(bound, -1);
}

bool too_many_spares() noexcept {
  const std::scoped_lock guard{lock};
  return active > lent_places;
}

void rest_until_wanted(const vproc* host) noexcept {
  std::unique_lock guard{lock};
  if (active <= lent_places)
    return;
  active -= 1; // before the wait: the next call of lend_spare calls this spare
  resting += 1;
  idle.waiting.count_in();
  spare_wanted().wait(guard, [host] { return called > 0 || is_to_end(host); });
  if (called > 0)
    called -= 1;
  else
    idle.waiting.count_out();
}

void wake_resting_spares() noexcept {
  const std::scoped_lock guard{lock}; // no spare is between its look at is_to_end and its wait
  spare_wanted().notify_all();
}

void forget_spares() noexcept {
  const std::scoped_lock guard{lock};
  active = resting = called = 0; // `lent_places` stays: a vproc may take its place back later
}

} // namespace nopal::inline NOPAL_ABI::vproc
