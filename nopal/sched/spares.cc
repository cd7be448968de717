// SPDX-License-Identifier: MIT
// How spares start, rest and are called. Blocking takes a system call, so a lock costs little here.
//
// Invariant (under the lock): active <= lent, but for spares that have not looked for work
// since one ended.
#include "nopal/sched/spares.h"
#include "nopal/sched/pool.h"
#include "nopal/vproc/worker.h"

#include <condition_variable>
#include <mutex>

namespace nopal::inline NOPAL_ABI::sched {
namespace {

// Never destroyed: spares wait on it as long as the process lives.
struct spare_threads {
  std::mutex lock;
  std::condition_variable wanted;
  unsigned lent = 0;
  unsigned active = 0;  // spares that run, or are about to
  unsigned resting = 0; // spares that have not been called since
  unsigned called = 0;
};
spare_threads& all_spares() {
  static auto* const one = new spare_threads;
  return *one;
}

} // namespace

lending::lending() : lent_{vproc::is_worker(vproc::current())} {
  if (!lent_)
    return;
  spare_threads& here = all_spares();
  std::unique_lock guard{here.lock};
  here.lent += 1;
  if (here.active >= here.lent)
    return;
  here.active += 1;
  if (here.resting > 0) {
    here.resting -= 1;
    here.called += 1;
    here.wanted.notify_one();
    return;
  }
  guard.unlock();
  start_spare();
}

lending::~lending() {
  if (!lent_)
    return;
  spare_threads& here = all_spares();
  const std::scoped_lock guard{here.lock};
  here.lent -= 1;
}

bool too_many_spares() noexcept {
  spare_threads& here = all_spares();
  const std::scoped_lock guard{here.lock};
  return here.active > here.lent;
}

void rest_until_wanted() noexcept {
  spare_threads& here = all_spares();
  std::unique_lock guard{here.lock};
  if (here.active <= here.lent)
    return;
  here.active -= 1;
  here.resting += 1;
  here.wanted.wait(guard, [&here] { return here.called > 0; });
  here.called -= 1;
}

} // namespace nopal::inline NOPAL_ABI::sched
