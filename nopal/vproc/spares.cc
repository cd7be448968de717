// SPDX-License-Identifier: MIT
// How spares start, rest and are called. Blocking takes a system call, so a lock costs little here.
//
// Invariant (under the lock): active <= lent, but for spares that have not looked for work
// since one ended.
#include "nopal/vproc/spares.h"
#include "nopal/vproc/settings.h"
#include "nopal/vproc/threads.h"
#include "nopal/vproc/worker.h"

#include <condition_variable>
#include <mutex>

namespace nopal::inline NOPAL_ABI::vproc {
namespace {

std::mutex lock; // of all below
unsigned lent = 0;
unsigned active = 0;  // spares that run, or are about to
unsigned resting = 0; // spares that have not been called since
unsigned called = 0;

// Never destroyed: spares wait for it as long as the process lives.
std::condition_variable& spare_wanted() {
  static auto* const one = new std::condition_variable;
  return *one;
}

} // namespace

void lend_spare() noexcept {
  const std::scoped_lock guard{lock};
  lent += 1;
  if (active >= lent)
    return;
  if (resting > 0) {
    active += 1;
    resting -= 1;
    called += 1;
    spare_wanted().notify_one();
  } else if (
      start_spare()) { // under the lock: where the pool ends, it is forgotten with the others
    active += 1;
  }
}

void take_spare_back() noexcept {
  const std::scoped_lock guard{lock};
  lent -= 1;
}

// Virtual workers have one thread, which blocks.
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

void rest_until_wanted(const vproc* here) noexcept {
  std::unique_lock guard{lock};
  if (active <= lent)
    return;
  active -= 1;
  resting += 1;
  spare_wanted().wait(guard, [here] { return called > 0 || is_to_end(here); });
  if (called > 0)
    called -= 1;
}

void wake_resting_spares() noexcept {
  const std::scoped_lock guard{lock}; // none is between its look at the word and its wait
  spare_wanted().notify_all();
}

void forget_spares() noexcept {
  const std::scoped_lock guard{lock};
  active = resting = called = 0;
}

} // namespace nopal::inline NOPAL_ABI::vproc
