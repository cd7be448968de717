// SPDX-License-Identifier: MIT
// The runners of what is submitted, and the thread that takes part in their computation.
#include "nopal/work_queue.h"

#include "nopal/base/check.h"
#include "nopal/base/per_process.h"
#include "nopal/base/thread.h"
#include "nopal/fiber.h"
#include "nopal/fibers/fibers.h"
#include "nopal/join/failure.h"
#include "nopal/runtime.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/preemption.h"
#include "nopal/stack/plain.h"
#include "nopal/sync/linked_queue.h"

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <new>
#include <optional>

namespace nopal::inline NOPAL_ABI::detail {

struct work_queue::runner : fibers::spawned {
  explicit runner(work_queue& from) noexcept : spawned{call_it, free_it}, items{from} {}
  static void call_it(spawned* self) {
    static_cast<runner*>(self)->served = true;
    static_cast<runner*>(self)->items.serve(static_cast<runner*>(self)->taken);
  }
  static void free_it(spawned* self) noexcept;

  work_queue& items;
  queue::runner taken;
  bool served = false;
};

// The computation of all runners.
//
// Invariant: (lock held)  while runners are kept, the thread has been woken, and opens the
//            computation when the one before has ended. `open_` exists only while `pending_` > 0,
//            but for the time until the last runner has the lock.
class work_queue::host {
public:
  static host& all() {
    static constinit base::per_process<host>
        here; // its thread uses it as long as the process lives
    return here.get();
  }

  std::uint32_t most_at_work() const noexcept { return most_; }
  void add(runner* begun) {
    const std::lock_guard guard{lock_};
    if (!thread_.joinable())
      thread_ = base::thread{"computes what is submitted", [this] { serve(); }};
    pending_.fetch_add(1, base::relaxed);
    if (open_) {
      start(begun);
    } else {
      kept_.append(begun);
      wanted_.notify_one();
    }
  }
  // Called by each runner as its last step.
  void ended() noexcept {
    if (pending_.fetch_sub(1, base::relaxed) != 1)
      return;
    const std::lock_guard guard{lock_};
    if (pending_.load(base::relaxed) == 0)
      open_.reset();
  }

private:
  friend base::per_process<host>;

  // What is submitted may refer to frames of its strand, which the thread is not below.
  host() { stack::need_plain_stacks(); }

  [[noreturn]] void serve() {
    for (;;) {
      {
        std::unique_lock guard{lock_};
        wanted_.wait(guard, [this] { return !kept_.empty(); });
      }
      nopal::run([this] { open(); }); // returns when all have ended
    }
  }
  void open() {
    const std::lock_guard guard{lock_};
    open_.emplace();
    sched::current_context()->computation->delivers = true;
    while (vproc::fiber* const first = kept_.take())
      start(static_cast<runner*>(first));
  }
  void start(runner* begun) {
    open_->join(begun);
    begun->own.cancels = begun->items.node_; // of which it is a member already
    begun->own.runner = &begun->taken;
    fiber_access::make(begun).start();
  }

  const std::uint32_t most_ = num_workers() + 1;
  std::mutex lock_; // of all but `pending_`
  std::condition_variable wanted_;
  base::thread thread_;
  sync::linked_queue<vproc::fiber> kept_; // until the computation is open
  std::optional<fibers::kept_open> open_; // the computation
  base::atomic<std::size_t> pending_{0};
};

void work_queue::runner::free_it(spawned* self) noexcept {
  auto* const ended = static_cast<runner*>(self);
  if (!ended->served) // its node was cancelled before it began; the items are to end all the same
    ended->items.serve(ended->taken);
  delete ended;
  host::all().ended();
}

void deliver_partials_of_coroutine() noexcept {
  const vproc::fiber_context* const here = sched::current_context();
  if (here != nullptr && here->runner != nullptr)
    deliver_partials();
}

work_queue& work_queue::of_all() {
  static constinit base::per_process<work_queue> here;
  return here.get();
}

void work_queue::add(work_item* added) noexcept {
  const auto counted = [this] { count_runner(); };
  const vproc::fiber_context* const adds = node_ == nullptr ? nullptr : sched::current_context();
  const bool first = adds != nullptr && adds->cancels == node_;
  if (first ? items_.add_first(added, static_cast<queue::runner*>(adds->runner), counted)
            : items_.add(added, counted))
    make_runner();
}

void work_queue::release(sync::dependents<work_item>& followers) noexcept {
  followers.release([this](work_item* at) { arrive(at); });
}

work_item* work_queue::release_and_take(sync::dependents<work_item>& followers) noexcept {
  work_item* taken = nullptr;
  followers.release([&](work_item* at) {
    if (at->missing.fetch_sub(1, base::acq_rel) != 1)
      return;
    if (taken != nullptr)
      add(taken);
    taken = at;
  });
  return taken;
}

void work_queue::fail() noexcept { node_->keeps_failure(node_, join::handled_exception()); }

// It is a member already: whoever adds an item later may wait for the end of the members.
void work_queue::count_runner() noexcept {
  if (node_ != nullptr)
    node_->begin_member();
}

void work_queue::make_runner() noexcept {
  auto* const made = new (std::nothrow) runner{*this};
  NOPAL_ASSERT(made != nullptr, "there is no memory for a fiber that runs what was submitted");
  host::all().add(made);
}

void work_queue::serve(queue::runner& own) noexcept {
  const auto awaited = [this] { return awaited_.load(base::relaxed); };
  for (bool may_look = true;;) {
    const auto next = items_.take(own, {host::all().most_at_work(), may_look, awaited()},
                                  [this] { count_runner(); });
    if (next.ends)
      return;
    if (next.makes_runner)
      make_runner();
    may_look = next.item != nullptr;
    if (!may_look)
      items_.look(own, next.follows, awaited);
    for (work_item* at = next.item; at != nullptr; sched::give_way_if_told()) {
      at = at->call(at, *this); // the item may be gone then
      deliver_partials();       // of a coroutine
    }
  }
}

} // namespace nopal::inline NOPAL_ABI::detail
