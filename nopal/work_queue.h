// SPDX-License-Identifier: MIT
// What submit.h, task_group.h and parallel_scheduler.h are made of: items of work that wait in a
// queue, and fibers, the runners, that call them one after the other.
//
// Runners are fibers of one computation, in which a thread of Nopal's own takes part as one that
// computes. It begins with the first item, and the computation with each runner that finds none; it
// ends when no runner is left, so that the workers can be stopped.
//
// An item may wait for another one, and then keeps its runner; so one more runner stands by where
// items are left (sync/standby_queue.h). It costs nothing while the workers are busy; a worker
// without work begins it. A runner takes items by the batch, since many would contend for one lock.
// One that finds no item looks for some microseconds before it ends, since to begin another one
// takes about as long.
#pragma once

#include "nopal/config.h"

#if defined(NOPAL_SERIAL)
#error "nopal/work_queue.h: what runs beside its caller has no serial elision"
#endif

#include "nopal/base/atomic.h"
#include "nopal/base/check.h"
#include "nopal/base/thread.h"
#include "nopal/fiber.h"
#include "nopal/fibers/fibers.h"
#include "nopal/join/cancelled.h"
#include "nopal/runtime.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/preemption.h"
#include "nopal/sync/dependents.h"
#include "nopal/sync/linked_queue.h"
#include "nopal/sync/standby_queue.h"
#include "nopal/vproc/cancel_node.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::detail {

class work_queue;

// Lies in memory of whoever adds it, and belongs to `call` from then on.
struct work_item {
  // Returns an item that is to be called next, or null.
  using function = work_item* (*)(work_item*, work_queue&) noexcept;
  explicit work_item(function f, std::uint32_t awaited = 1) noexcept : call{f}, missing{awaited} {}

  const function call;
  base::atomic<std::uint32_t> missing; // it is added when so many calls of `arrive` have been
  base::handed_over<work_item*> next{nullptr};
  base::handed_over<work_item*> before{nullptr};
};

using dependency = sync::dependency<work_item>;

class work_queue {
public:
  work_queue() noexcept = default;
  work_queue(const work_queue&) = delete;
  work_queue& operator=(const work_queue&) = delete;

  // What is submitted. Never destroyed: its runners use it.
  static work_queue& of_all() {
    static auto* const made = new work_queue;
    return *made;
  }

  // Before use: the runners are members of the node. Else they are of none.
  void set_node(vproc::cancel_node& node) noexcept { node_ = &node; }

  // What members of the node add goes first, so that a tree of items is walked in depth. The others
  // have their turns in about the order in which they were added.
  void add(work_item* added) noexcept {
    const auto counted = [this] { count_runner(); };
    const vproc::fiber_context* const adds = node_ == nullptr ? nullptr : sched::current_context();
    const bool first = adds != nullptr && adds->cancels == node_;
    if (first ? items_.add_first(added, static_cast<queue::runner*>(adds->runner), counted)
              : items_.add(added, counted))
      make_runner();
  }
  // Orders: acq_rel, so that whoever adds the item has seen what all did before they arrived.
  void arrive(work_item* at) noexcept {
    if (at->missing.fetch_sub(1, base::acq_rel) == 1)
      add(at);
  }

  void release(sync::dependents<work_item>& followers) noexcept {
    followers.release([this](work_item* at) { arrive(at); });
  }
  // The same by an item as its last step: it returns one that can begin, so that its runner goes on
  // with that one, and no other thread hears of it.
  work_item* release_and_take(sync::dependents<work_item>& followers) noexcept {
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

  // Whether the items are to end without having done anything.
  bool stopped() const noexcept { return node_ != nullptr && node_->cancelled(); }
  // Called by an item: calls f, unless stopped. The node keeps what f throws.
  template <class F> void run(F& f) noexcept {
    if (stopped())
      return;
    try {
      f();
    } catch (const cancelled& caught) {
      caught.note_kept(); // no handler of the program has swallowed it
      if (!stopped())
        fail();
    } catch (...) {
      fail();
    }
  }
  // Whether somebody waits for the end of the runners, which then look for more only while an item
  // is at work.
  void set_awaited(bool awaited) noexcept { awaited_.store(awaited, base::relaxed); }

private:
  using queue = sync::standby_queue<work_item>;
  struct runner;
  class host;

  void fail() noexcept { node_->keeps_failure(node_, join::handled_exception()); }

  // It is a member already: whoever adds an item later may wait for the end of the members.
  void count_runner() noexcept {
    if (node_ != nullptr)
      node_->begin_member();
  }
  void make_runner() noexcept;
  void serve(queue::runner& own) noexcept;

  vproc::cancel_node* node_ = nullptr;
  base::atomic<bool> awaited_{false};
  queue items_; // on cache lines of its own
};

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
    static auto* const made = new host; // never destroyed: its thread uses it
    return *made;
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

inline void work_queue::runner::free_it(spawned* self) noexcept {
  auto* const ended = static_cast<runner*>(self);
  if (!ended->served) // its node was cancelled before it began; the items are to end all the same
    ended->items.serve(ended->taken);
  delete ended;
  host::all().ended();
}

inline void work_queue::make_runner() noexcept {
  auto* const made = new (std::nothrow) runner{*this};
  NOPAL_ASSERT(made != nullptr, "there is no memory for a fiber that runs what was submitted");
  host::all().add(made);
}

inline void work_queue::serve(queue::runner& own) noexcept {
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
    for (work_item* at = next.item; at != nullptr; sched::give_way_if_told())
      at = at->call(at, *this); // the item may be gone then
  }
}

} // namespace nopal::inline NOPAL_ABI::detail
NOPAL_HIDDEN_END
