// SPDX-License-Identifier: MIT
// The pool's threads. They are started once, at the first fork, live as long as the process, and
// sleep when there is nothing to do. So a program may end at any time.
#include "nopal/sched/pool.h"

#include "nopal/base/check.h"
#include "nopal/base/die.h"
#include "nopal/base/os.h"
#include "nopal/config/topology.h"
#include "nopal/sched/copies.h"
#include "nopal/sched/entry.h"
#include "nopal/sched/overflow.h"
#include "nopal/sched/schedule.h"
#include "nopal/sched/statistics.h"
#include "nopal/sched/table.h"
#include "nopal/sched/timer.h"
#include "nopal/stack/small.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

namespace nopal::inline NOPAL_ABI::sched {
namespace {

constexpr std::size_t kThreadStackBytes = std::size_t{256} << 10;

base::atomic<bool> started{false};
constexpr config::defaults usual{NOPAL_DEFAULT_STACK_BUDGET, NOPAL_DEFAULT_MAX_STACKS};

bool forced = false;
unsigned virtual_ones = 0; // written before the first strand runs

std::mutex lock; // of all below
config::options wanted;
// Null until somebody asks. Never destroyed: even the last static destructor may fork.
const config::resolved_options* resolved = nullptr;

const config::resolved_options& settings() {
  if (resolved == nullptr)
    resolved = new config::resolved_options(config::resolve_or_die(wanted, usual));
  return *resolved;
}

worker* add_to_pool() { return take_worker(add_pool_vproc()); }

void* pool_thread(void* self) noexcept {
  const signal_stack own;
  watch_this_threads_end();
  run_pool_thread(static_cast<worker*>(self));
}

// Returns pthread_create's error.
int start_thread(void* (*body)(void*), void* argument, pthread_t& thread) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kThreadStackBytes);
  sigset_t all;
  sigset_t before;
  sigfillset(&all); // signals are for the program's own threads
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
    sigdelset(&all, fault); // but a strand's own faults: blocked, they kill without a word
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&thread, &attributes, body, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return error;
}

// Worker 0 of the binding order is left to the thread that brings the work.
void start_threads(const config::resolved_options& use) {
  std::vector<int> order;
  if (use.binding.value == config::bind::cores)
    order = config::bind_order(config::affinity_cpus());
  const std::uint32_t pool = use.num_workers.value - 1;
  std::vector<worker*> workers(pool); // all are in the table before the first one looks around
  std::generate(workers.begin(), workers.end(), add_to_pool);
  for (std::uint32_t number = 0; number < pool; ++number) {
    pthread_t thread;
    const int error = start_thread(pool_thread, workers[number], thread);
    NOPAL_ASSERT(error == 0, "cannot start worker %u of %u: %s; lower NOPAL_NUM_WORKERS",
                 number + 2, pool + 1, std::strerror(error));
    if (order.empty())
      continue;
    const int cpu = order[(number + 1) % order.size()];
    const int refused = config::bind_thread(thread, cpu);
    NOPAL_ASSERT(refused == 0, "a worker cannot be bound to CPU %d as NOPAL_BIND=cores asks: %s",
                 cpu, std::strerror(refused));
  }
}

void say_about_fibers() {
  const auto with = stack::small::guarded_by();
  base::say("at most %zu fibers that have begun, %s", stack::small::capacity(),
            with == stack::small::guard::region ? "each stack with a guard region"
            : with == stack::small::guard::page
                ? "each stack with a guard of two mappings, as this kernel has no guard regions"
                : "their stacks without guards");
}

void start_locked() {
  const config::resolved_options& use = settings();
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
  stack::open(use.stack_size.value, use.stack_budget.value, use.max_stacks.value);
  stack::small::open(use.fiber_stack_size.value, use.fiber_guards.value);
  join::open_states();
  if (use.verbose.value && stack::may_run_out())
    base::say("%zu stacks in slots of %zu MiB; thieves wait where they run out", stack::capacity(),
              static_cast<std::size_t>(stack::slot_bytes() >> 20));
  if (use.verbose.value)
    say_about_fibers();
  if (use.verbose.value && copies() > 1)
    base::say("%u copies of Nopal run in this process, each with its own workers", copies());
  virtual_ones = use.virtual_workers.value;
  // Then each fork is a place where another worker may go on.
  const bool at_each_fork = forced || virtual_ones != 0;
  const bool without_barrier = !base::enable_heavy_barrier() || at_each_fork;
  if (without_barrier && !at_each_fork && use.verbose.value)
    base::say("this kernel has no private expedited membarrier: every fork synchronises");
  open_table(without_barrier, use.seed.value);
  open_timer(without_barrier, use.tick.value, use.num_workers.value);
  report_stack_overflows();
  start_threads(use);
  if (use.stats.value)
    std::atexit(print_statistics);
}

} // namespace

void start() noexcept {
  if (started.load(base::acquire))
    return;
  const int error = *base::this_threads_error();
  // Before the lock is taken: a library that is being loaded may fork in its constructors.
  const char* const not_pinned = base::pin_this_library();
  NOPAL_ASSERT(not_pinned == nullptr,
               "the library that contains Nopal cannot be kept loaded, which it must be while its "
               "threads run: %s",
               not_pinned);
  meet_other_copies();
  base::set_error(error);
  const std::scoped_lock guard{lock};
  if (started.load(base::relaxed))
    return;
  start_locked();
  base::set_error(error);
  started.store(true, base::release);
}

void set_options(const config::options& asked) {
  const std::scoped_lock guard{lock};
  NOPAL_ASSERT(!started.load(base::relaxed),
               "nopal::configure was called after the first fork; call it before");
  NOPAL_ASSERT(resolved == nullptr,
               "nopal::configure was called after nopal::num_workers, which had to decide "
               "what the options are; call it before");
  wanted = asked;
}

void force_steals(std::uint64_t seed) {
  const std::scoped_lock guard{lock};
  NOPAL_ASSERT(!started.load(base::relaxed) && resolved == nullptr,
               "steals were forced after the first fork, or after the options were decided");
  forced = true;
  wanted.seed = seed;
}

bool steals_forced() noexcept { return forced; }
unsigned virtual_workers() noexcept { return virtual_ones; }

const config::resolved_options& options_in_force() {
  const std::scoped_lock guard{lock};
  return settings();
}

void start_spare() {
  worker* const self = add_to_pool();
  self->host->spare = true;
  pthread_t thread;
  const int error = start_thread(pool_thread, self, thread);
  NOPAL_ASSERT(error == 0, "cannot start a worker in the place of one that is blocked: %s",
               std::strerror(error));
}

void start_helper(void* (*body)(void*) noexcept, const char* purpose) {
  pthread_t thread;
  const int error = start_thread(body, nullptr, thread);
  NOPAL_ASSERT(error == 0, "cannot start the thread that %s: %s", purpose, std::strerror(error));
}

} // namespace nopal::inline NOPAL_ABI::sched
