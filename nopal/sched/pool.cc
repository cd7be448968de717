// SPDX-License-Identifier: MIT
//
// The table of workers and the pool's threads.
//
// Started at the first fork, once; the threads then live as long as the process and sleep when
// there is nothing to do, so that a program may end at any time and nothing has to be shut down in
// order.
#include "nopal/sched/pool.h"
#include "nopal/base/barrier.h"
#include "nopal/base/check.h"
#include "nopal/base/die.h"
#include "nopal/base/options.h"
#include "nopal/base/sanitizer.h"
#include "nopal/base/topology.h"
#include "nopal/sched/sched.h"

#include <pthread.h>
#include <signal.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

namespace nopal::sched {

vproc::idle_count idle;

namespace {

constexpr std::uint32_t kSlots = 8192; // workers and simultaneous guests together
constexpr std::size_t kThreadStackBytes = std::size_t{256} << 10;
constexpr std::uintptr_t kSchedulerGap = 1024;

base::atomic<worker*> table[kSlots];
base::atomic<std::uint32_t> slots{0};
base::atomic<bool> started{false};
bool without_barrier = false;
bool forced = false;

std::mutex lock; // of all below
base::options wanted;

// Neither of these is ever destroyed: forks may come as late as from the last static destructor.
std::vector<worker*>& free_guest_slots() {
  static auto* const slots_to_reuse = new std::vector<worker*>;
  return *slots_to_reuse;
}

base::resolved_options& settings() {
  static auto* const resolved = new base::resolved_options(base::resolve_or_die(wanted));
  return *resolved;
}

// Lock held.
worker* add_worker(bool pool) {
  const std::uint32_t number = slots.load(base::relaxed);
  NOPAL_ASSERT(number < kSlots, "more than %u threads use Nopal at the same time", kSlots);
  auto* added = new worker;
  added->number = number;
  added->pool = pool;
  added->random.reseed(settings().seed.value, number);
  added->deque.open(without_barrier);
  table[number].store(added, base::release);
  slots.store(number + 1, base::release);
  return added;
}

void* pool_thread(void* argument) noexcept {
  auto* self = static_cast<worker*>(argument);
  // AddressSanitizer unpoisons it in units of 8 bytes.
  alignas(16) static thread_local char signal_stack[16 << 10];
  const stack_t own{signal_stack, 0, sizeof signal_stack};
  sigaltstack(&own, nullptr);
  start_pool_thread(self, (arch::stack_pointer() - kSchedulerGap) & ~std::uintptr_t{63});
}

void bind_thread(pthread_t thread, int cpu) {
  cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(cpu) + 1);
  const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(cpu) + 1);
  CPU_ZERO_S(bytes, set);
  CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set);
  const int error = pthread_setaffinity_np(thread, bytes, set);
  CPU_FREE(set);
  NOPAL_ASSERT(error == 0, "a worker cannot be bound to CPU %d as NOPAL_BIND=cores asks: %s", cpu,
               std::strerror(error));
}

// Worker 0 of the binding order is left to the thread that brings the work.
void start_threads(const base::resolved_options& use) {
  base::cpu_order order;
  if (use.binding.value == base::bind::cores)
    order = base::bind_order(base::affinity_cpus());
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
  const std::uint32_t pool = slots.load(base::relaxed);
  for (std::uint32_t number = 0; number < pool; ++number) {
    pthread_t thread;
    const int error = pthread_create(&thread, &attributes, pool_thread, worker_at(number));
    NOPAL_ASSERT(error == 0, "cannot start worker %u of %u: %s; lower NOPAL_NUM_WORKERS",
                 number + 2, pool + 1, std::strerror(error));
    if (!order.cpus.empty())
      bind_thread(thread, order.cpus[(number + 1) % order.cpus.size()]);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
}

void start_locked() {
  const base::resolved_options& use = settings();
  NOPAL_ASSERT(!NOPAL_TRACK_ANCESTORS ||
                   (use.policy.value.policy != base::stack_policy::budget && !use.census.value),
               "the presets depth_restricted and reuse_ancestors share stacks among frames, for "
               "which there is neither NOPAL_STACK_POLICY=budget nor NOPAL_CENSUS=1; keep, "
               "dontneed, free, remap and bounded are accepted");
  stack::open(use.stack_size.value, use.policy.value, use.census.value);
  without_barrier = !base::enable_heavy_barrier() || forced;
  if (without_barrier && !forced && use.verbose.value)
    base::say("this kernel has no private expedited membarrier: every fork synchronises");
  report_stack_overflows();
  for (unsigned i = 1; i < use.num_workers.value; ++i)
    add_worker(true);
  start_threads(use);
  if (use.stats.value)
    std::atexit(print_statistics);
}

} // namespace

void start() noexcept {
  if (started.load(base::acquire))
    return;
  const std::scoped_lock guard{lock};
  if (started.load(base::relaxed))
    return;
  start_locked();
  started.store(true, base::release);
}

void set_options(const base::options& asked) {
  const std::scoped_lock guard{lock};
  NOPAL_ASSERT(!started.load(base::relaxed),
               "nopal::configure was called after the first fork; call it before");
  wanted = asked;
}

void force_steals(std::uint64_t seed) {
  const std::scoped_lock guard{lock};
  NOPAL_ASSERT(!started.load(base::relaxed), "steals were forced after the first fork");
  forced = true;
  wanted.seed = seed;
}

bool steals_forced() noexcept { return forced; }

const base::resolved_options& options_in_force() {
  const std::scoped_lock guard{lock};
  return settings();
}

std::uint32_t worker_count() noexcept { return slots.load(base::acquire); }
worker* worker_at(std::uint32_t number) noexcept { return table[number].load(base::acquire); }

worker* take_guest_slot() noexcept {
  const std::scoped_lock guard{lock};
  std::vector<worker*>& unused = free_guest_slots();
  if (unused.empty())
    return add_worker(false);
  worker* slot = unused.back();
  unused.pop_back();
  return slot;
}

void return_guest_slot(worker* slot) noexcept {
  if (slot->stack != stack::no_stack)
    stack::release(slot->stack);
  slot->stack = stack::no_stack;
  const std::scoped_lock guard{lock};
  free_guest_slots().push_back(slot);
}

} // namespace nopal::sched
