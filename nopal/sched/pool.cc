// SPDX-License-Identifier: MIT
// Opens everything at the first fork, and starts and ends the threads of the pool. What is opened
// stays open as long as the process lives.
#include "nopal/sched/pool.h"

#include "nopal/base/check.h"
#include "nopal/base/child.h"
#include "nopal/base/die.h"
#include "nopal/base/os.h"
#include "nopal/base/thread.h"
#include "nopal/sched/copies.h"
#include "nopal/stack/small.h"
#include "nopal/vproc/entry.h"
#include "nopal/vproc/overflow.h"
#include "nopal/vproc/settings.h"
#include "nopal/vproc/spares.h"
#include "nopal/vproc/statistics.h"
#include "nopal/vproc/table.h"
#include "nopal/vproc/threads.h"
#include "nopal/vproc/timer.h"

#include <cstdlib>
#include <mutex>
#include <utility>

namespace nopal::inline NOPAL_ABI::sched {
namespace {

base::atomic<std::uint32_t> started{0}; // the process in which the pool runs; 0: it does not
std::mutex lock;                        // held to start or end the pool; guards the rest
bool opened = false;
bool prints_at_exit = false;
// Its answers are the same in the child of fork(), which does not ask again: a thread of the
// program may have held the linker's lock. A copy of Nopal that is loaded later meets this one.
base::atomic<bool> linker_asked{false};

// The child of fork() opens all anew at its first fork of a strand, as if it was the first process.
NOPAL_IN_CHILD([]() noexcept {
  started.store(0, base::relaxed);
  base::renew(lock);
  opened = false;
});

void say_about_fibers() {
  const auto guard = stack::small::guarded_by();
  base::say("at most %zu fibers that have begun, %s", stack::small::capacity(),
            guard == stack::small::guard::region ? "each stack with a guard region"
            : guard == stack::small::guard::page ? "each stack with a guard of two mappings"
                                                 : "their stacks without guards");
}

// Called once, under the lock. Each layer is opened after those below it.
void open_all() {
  const config::resolved_options& use = vproc::options_at_first_fork();
  NOPAL_ASSERT(!arch::shadow_stack_is_on(),
               "this program runs with shadow stacks (CET), on which a continuation cannot go on "
               "where another thread left it; start it with "
               "GLIBC_TUNABLES=glibc.cpu.x86_shstk=off");
  const char* const option = base::refused_option();
  NOPAL_ASSERT(option == nullptr,
               "a part of this program was compiled with -f%s, which makes a stack belong to its "
               "thread, so that it does not go to a thief with a continuation; compile all of it "
               "with -fno-%s",
               option, option);
  NOPAL_ASSERT(
      !use.races.value || base::keep_strands_apart(),
      "NOPAL_RACES (options::races) has ThreadSanitizer report the races of all schedules, "
      "but this program is not linked with it; compile and link all of it with "
      "-fsanitize=thread");
  stack::open(use.stack_size.value, use.stack_budget.value, use.max_stacks.value);
  stack::small::open(use.fiber_stack_size.value, use.fiber_guards.value, stack::largest_frame());
  join::open_states();
  if (use.verbose.value && stack::may_run_out())
    base::say("%zu stacks in slots of %zu MiB; thieves wait where they run out", stack::capacity(),
              static_cast<std::size_t>(stack::slot_bytes() >> 20));
  if (use.verbose.value)
    say_about_fibers();
  if (use.verbose.value && copies() > 1)
    base::say("%u copies of Nopal run in this process, each with its own workers", copies());
  // Tests let another worker go on at each fork, so each fork takes the slow path.
  const bool at_each_fork = vproc::steals_forced() || vproc::virtual_workers() != 0;
  const bool without_barrier = !base::enable_heavy_barrier() || at_each_fork;
  if (without_barrier && !at_each_fork && use.verbose.value)
    base::say("this kernel has no private expedited membarrier: every fork synchronises");
  vproc::open_table(without_barrier, use.seed.value);
  vproc::open_timer(without_barrier, use.tick.value,
                    {vproc::lend_place_of_another, vproc::take_place_back});
  vproc::report_stack_overflows(lowest_stack_known_to_others);
  vproc::watch_ends_of_threads();
  if (use.stats.value && !std::exchange(prints_at_exit, true))
    std::atexit(vproc::print_statistics);
}

// Not under the lock: a library that is being loaded may fork in its constructors.
void ask_linker() noexcept {
  if (linker_asked.load(base::relaxed))
    return;
  const base::in_linker asking;
  const char* const not_pinned = base::pin_this_library();
  NOPAL_ASSERT(not_pinned == nullptr,
               "the library that contains Nopal cannot be kept loaded, which it must be while its "
               "threads run: %s",
               not_pinned);
  base::measure_threads();
  meet_other_copies();
  linker_asked.store(true, base::relaxed);
}

} // namespace

void start(vproc::pool_body body) noexcept {
  vproc::check_no_callback();
  if (started.load(base::acquire) == base::this_process)
    return;
  const int error = *base::this_threads_error();
  ask_linker();
  base::set_error(error);
  const std::scoped_lock guard{lock};
  if (started.load(base::relaxed) != 0)
    return;
  if (!std::exchange(opened, true))
    open_all();
  vproc::start_pool_threads(vproc::options_in_force(), vproc::options_asked(), body);
  base::set_error(error);
  started.store(base::this_process,
                base::release); // last: a thread that sees it uses all of the above
}

void stop() {
  NOPAL_ASSERT(!vproc::is_worker(vproc::current()),
               "nopal::stop_workers was called by a strand; call it where no computation runs");
  vproc::check_no_callback();
  const std::scoped_lock guard{lock};
  if (started.load(base::relaxed) != base::this_process)
    return;
  NOPAL_ASSERT(vproc::clear_if_no_group(started),
               "nopal::stop_workers was called while a computation runs on another thread; call it "
               "where none runs");
  // `started` is 0 now, so a thread that forks waits for the lock until the pool has ended.
  vproc::tell_pool_threads_to_end();
  vproc::wake_resting_spares();
  vproc::join_pool_threads();
  vproc::forget_spares();
}

} // namespace nopal::inline NOPAL_ABI::sched
