// SPDX-License-Identifier: MIT
// How threads begin, what they inherit, and how the pool's threads end.
#include "nopal/vproc/threads.h"

#include "nopal/base/check.h"
#include "nopal/base/faults.h"
#include "nopal/base/per_process.h"
#include "nopal/base/shared.h"
#include "nopal/base/thread.h"
#include "nopal/config/topology.h"
#include "nopal/stack/stack.h"
#include "nopal/vproc/entry.h"
#include "nopal/vproc/overflow.h"
#include "nopal/vproc/table.h"
#include "nopal/vproc/wake.h"

#include <signal.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <mutex>
#include <vector>

namespace nopal::inline NOPAL_ABI::vproc {
namespace {

base::atomic<bool> ends{false};

// The callback that this pool thread runs, as a message names it; null: it runs none.
thread_local const char* running __attribute__((tls_model("initial-exec"))) = nullptr;

// The lock guards all fields. Threads read `mask`, `body` and the callbacks without it: these are
// written before the threads start. Never destroyed: threads live as long as the process.
struct pool_state {
  std::mutex lock;
  bool open = false;              // spares may start
  std::vector<pthread_t> threads; // started and not joined
  std::vector<worker*> idle;      // the pool's workers without a thread, the first one last
  std::vector<int> cpus;          // where the program may run; empty: no thread is bound
  sigset_t mask{};
  pool_body body = nullptr;
  std::function<void()> at_start;
  std::function<void()> at_end;
};
base::per_process<pool_state> pool_here;
pool_state& pool() { return pool_here.get(); }

// The child of fork() has one thread, which is none of the pool.
NOPAL_IN_CHILD([]() noexcept {
  ends.store(false, base::relaxed);
  running = nullptr;
});

[[gnu::noinline]] void set_running(const char* what) noexcept { running = what; }

void call(const std::function<void()>& callback, const char* name) noexcept {
  set_running(name);
  if (!callback)
    return;
  const std::uint32_t here = base::this_process;
  try {
    callback();
    if (here != base::this_process)
      base::lost_in_child();
  } catch (...) {
    base::die("%s, a callback given to nopal::configure, was left by an exception", name);
  }
}

void* run_pool(void* self) noexcept {
  if (base::shared != nullptr)
    base::shared->become_process(); // first: signal stacks and masks are a thread's own
  const base::signal_stack own;
  report_overflow_of_own_stack(true);
  pthread_sigmask(SIG_SETMASK, &pool().mask, nullptr);
  watch_this_threads_end();
  call(pool().at_start, "on_worker_start");
  set_running(nullptr);
  worker* const left = pool().body(static_cast<worker*>(self));
  call(pool().at_end, "on_worker_end");
  set_running("the destructor of a thread-local object"); // those run after this function
  return left;
}

worker* any_worker(pool_state& all, bool is_spare) {
  if (all.idle.empty())
    return take_worker(add_pool_vproc(is_spare));
  worker* const next = all.idle.back();
  all.idle.pop_back();
  next->host->spare.set(is_spare);
  return next;
}

// As large as the largest frame: actions and callbacks of the program run on these stacks, and none
// of their frames leaps over the guard.
std::size_t guard_bytes() noexcept { return std::max(stack::largest_frame(), base::usual_guard); }

base::thread_refused why_not(int error) noexcept {
  return base::thread_refused{error, base::usual_room, guard_bytes()};
}

// Returns pthread_create's error.
int start_in_pool(pool_state& all, worker* self) {
  pthread_t thread;
  self->host->searches.set(true); // it will, and a forced steal waits for it (thief_may_come)
  const int error = base::start_thread(thread, run_pool, self, base::usual_room, guard_bytes());
  if (error == 0)
    all.threads.push_back(thread);
  return error;
}

void bind(pthread_t thread, const std::vector<int>& cpus) {
  const int refused = cpus.empty() ? 0 : config::bind_thread(thread, cpus);
  NOPAL_ASSERT(refused == 0, "a thread cannot be bound to CPU %d%s as NOPAL_BIND=cores asks: %s",
               cpus.front(), cpus.size() > 1 ? " and others" : "", std::strerror(refused));
}

} // namespace

// The first CPU of the binding order is left to the thread that brings the work.
void start_pool_threads(const config::resolved_options& use, const config::options& asked,
                        pool_body body) {
  pool_state& all = pool();
  const std::scoped_lock guard{all.lock};
  all.open = true; // the caller holds the pool's lock, so nobody ends the pool meanwhile
  pthread_sigmask(SIG_SETMASK, nullptr, &all.mask);
  all.body = body;
  all.at_start = asked.on_worker_start;
  all.at_end = asked.on_worker_end;
  std::vector<int> order;
  if (use.binding.value == config::bind::cores) {
    all.cpus = config::affinity_cpus();
    order = config::bind_order(all.cpus);
  }
  const std::uint32_t pool = use.num_workers.value - 1;
  std::vector<worker*> workers(pool); // all are in the table before the first one looks around
  for (worker*& self : workers)
    self = any_worker(all, false);
  for (const worker* const left : all.idle) // of a larger pool before; they come last in the table
    left->host->spare.set(true);
  for (std::uint32_t number = 0; number < pool; ++number) {
    const int error = start_in_pool(all, workers[number]);
    NOPAL_ASSERT(error == 0, "cannot start worker %u of %u with %s; lower NOPAL_NUM_WORKERS",
                 number + 2, pool + 1, why_not(error).text);
    if (!order.empty())
      bind(all.threads.back(), {order[(number + 1) % order.size()]});
  }
}

bool start_spare() {
  pool_state& all = pool();
  const std::scoped_lock guard{all.lock};
  if (!all.open)
    return false;
  worker* const self = any_worker(all, true);
  const int error = start_in_pool(all, self);
  NOPAL_ASSERT(error == 0, "cannot start a worker in the place of one that is blocked with %s",
               why_not(error).text);
  bind(all.threads.back(), all.cpus); // not where the thread is bound that starts it
  return true;
}

void start_helper(void* (*body)(void*) noexcept, const char* purpose) {
  pthread_t thread;
  const int error = base::start_thread(thread, body, nullptr);
  NOPAL_ASSERT(error == 0, "cannot start the thread that %s with %s", purpose,
               base::thread_refused{error}.text);
  pthread_detach(thread);
  pool_state& all = pool();
  const std::scoped_lock guard{all.lock};
  bind(thread, all.cpus);
}

void take_programs_signals() noexcept {
  pool_state& all = pool();
  const std::scoped_lock guard{all.lock}; // another pool may be starting
  pthread_sigmask(SIG_SETMASK, &all.mask, nullptr);
}

void tell_pool_threads_to_end() noexcept {
  pool_state& all = pool();
  {
    const std::scoped_lock guard{all.lock};
    all.open = false; // first: no spare starts that the caller of join_pool_threads would miss
  }
  ends.store(true, base::seq_cst);
  base::full_fence(); // threads.h: each thread sees `ends`, or is woken
  wake_pool();
}

void join_pool_threads() noexcept {
  pool_state& all = pool();
  std::vector<pthread_t> ended;
  {
    const std::scoped_lock guard{all.lock};
    ended.swap(all.threads);
  }
  std::vector<worker*> left;
  for (const pthread_t thread : ended) {
    void* last = nullptr;
    pthread_join(thread, &last);
    left.push_back(static_cast<worker*>(last));
  }
  ends.store(false, base::relaxed); // only pool threads heed it, and these have ended
  const std::scoped_lock guard{all.lock};
  all.idle.insert(all.idle.end(), left.rbegin(), left.rend());
}

bool is_to_end(const vproc* host) noexcept {
  return ends.load(base::relaxed) && host->in_pool && host->bound.get() == nullptr;
}

[[gnu::noinline]] void check_no_callback() noexcept {
  NOPAL_ASSERT(running == nullptr,
               "%s of a pool's thread forks, or stops the workers: it may do neither, since its "
               "thread is only about to run strands, or has ended to",
               running);
}

} // namespace nopal::inline NOPAL_ABI::vproc
