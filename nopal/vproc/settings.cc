// SPDX-License-Identifier: MIT
// Decides the options under a lock, and keeps what strands read without it.
#include "nopal/vproc/settings.h"

#include "nopal/base/check.h"
#include "nopal/base/child.h"

#include <mutex>

namespace nopal::inline NOPAL_ABI::vproc {
namespace {

constexpr config::defaults usual{NOPAL_DEFAULT_STACK_BUDGET, NOPAL_DEFAULT_MAX_STACKS};

// Written under the lock before the first strand runs; strands read them without it.
bool forced = false;
unsigned virtual_count = 0;

std::mutex lock; // guards all below
bool forked = false;
// What was asked for; null: nothing yet. Each change makes a new object, and none is destroyed: the
// child of fork() finds one that is complete, and the last static destructor may fork.
struct asked_options {
  config::options options;
  const asked_options* before;
};
const asked_options* asked_for = nullptr;
void want(const config::options& asked) { asked_for = new asked_options{asked, asked_for}; }
const config::options& wanted() {
  if (asked_for == nullptr)
    want({});
  return asked_for->options;
}
// Null until the options are asked for. Never destroyed, too.
const config::resolved_options* resolved = nullptr;

// The child of fork() decides anew, with what its parent was asked for.
NOPAL_IN_CHILD([]() noexcept {
  base::renew(lock);
  forked = false;
  resolved = nullptr;
});

const config::resolved_options& decide() {
  if (resolved == nullptr)
    resolved = new config::resolved_options(config::resolve_or_die(wanted(), usual));
  return *resolved;
}

} // namespace

void set_options(const config::options& asked) {
  const std::scoped_lock guard{lock};
  NOPAL_ASSERT(!forked, "nopal::configure was called after the first fork; call it before");
  NOPAL_ASSERT(resolved == nullptr,
               "nopal::configure was called after nopal::num_workers, which had to decide "
               "what the options are; call it before");
  want(asked);
}

bool set_num_workers(unsigned number) {
  const std::scoped_lock guard{lock};
  if (resolved == nullptr) {
    config::options next = wanted();
    next.num_workers = number;
    want(next);
  }
  return resolved == nullptr;
}

const config::options& options_asked() noexcept {
  const std::scoped_lock guard{lock};
  return wanted();
}

const config::resolved_options& options_in_force() {
  const std::scoped_lock guard{lock};
  return decide();
}

const config::resolved_options& options_at_first_fork() {
  const std::scoped_lock guard{lock};
  forked = true;
  virtual_count = decide().virtual_workers.value; // the pool's lock is held: one first fork
  return decide();
}

void force_steals(std::uint64_t seed) {
  const std::scoped_lock guard{lock};
  NOPAL_ASSERT(resolved == nullptr,
               "steals were forced after the first fork, or after the options were decided");
  forced = true;
  config::options next = wanted();
  next.seed = seed;
  want(next);
}

bool steals_forced() noexcept { return forced; }
unsigned virtual_workers() noexcept { return virtual_count; }

} // namespace nopal::inline NOPAL_ABI::vproc
