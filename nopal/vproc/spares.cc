// SPDX-License-Identifier: MIT
// How spares start, rest and are called. Blocking takes a system call, so a lock costs little here.
//
// Invariant (under the lock): active <= lent + spares that have not looked for work since `lent`
// fell.
#include "nopal/vproc/spares.h"
#include "nopal/vproc/settings.h"
#include "nopal/vproc/threads.h"
#include "nopal/vproc/worker.h"

#include <condition_variable>
#include <mutex>

namespace nopal::inline NOPAL_ABI::vproc {
namespace {

std::mutex lock;      // of all below
unsigned lent = 0;    // places of vprocs that block, or do not take their signals
unsigned active = 0;  // spares that run, or are about to
unsigned resting = 0; // spares that rest, less those that were called
unsigned called = 0;  // calls that no spare has taken yet

// Never destroyed: spares wait for it as long as the process lives.
std::condition_variable& spare_wanted() {
  static auto* const wanted = new std::condition_variable;
  return *wanted;
}

} // namespace

void lend_spare() noexcept {
  const std::scoped_lock guard{lock};
  lent += 1;
  if (active >= lent)
    return;
  if (resting > 0) {
    active += 1; // at once, so that the next caller does not count on the same spare
    resting -= 1;
    called += 1;
    spare_wanted().notify_one();
  } else if (start_spare()) { // under the lock, so that forget_spares forgets this spare too
    active += 1;
  }
}

void take_spare_back() noexcept {
  const std::scoped_lock guard{lock};
  lent -= 1; // a spare that this leaves over finds out when it next looks for work
}

// Virtual workers have one thread, which blocks. Otherwise the vproc counts as blocked first, so
// that the timer does not lend its place a second time.
lending::lending()
    : lent_{is_worker(current()) && virtual_workers() == 0 ? current()->host : nullptr} {
  if (lent_ == nullptr)
    return;
  lent_->blocked.add();
  lend_spare();
}

lending::~lending() {
  if (lent_ == nullptr)
    return;
  lent_->blocked.subtract();
  take_spare_back();
}

bool too_many_spares() noexcept {
  const std::scoped_lock guard{lock};
  return active > lent;
}

void rest_until_wanted(const vproc* host) noexcept {
  std::unique_lock guard{lock};
  if (active <= lent)
    return;
  active -= 1; // before the wait: the next call of lend_spare calls this spare
  resting += 1;
  spare_wanted().wait(guard, [host] { return called > 0 || is_to_end(host); });
  if (called > 0)
    called -= 1;
}

void wake_resting_spares() noexcept {
  const std::scoped_lock guard{lock}; // no spare is between its look at is_to_end and its wait
  spare_wanted().notify_all();
}

void forget_spares() noexcept {
  const std::scoped_lock guard{lock};
  active = resting = called = 0; // `lent` stays: a vproc may take its place back later
}

} // namespace nopal::inline NOPAL_ABI::vproc
