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
#include "nopal/join/cancelled.h"
#include "nopal/sync/dependents.h"
#include "nopal/sync/standby_queue.h"
#include "nopal/vproc/cancel_node.h"
#include "nopal/vproc/strand.h"
#include "nopal/vproc/worker.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::detail {

class work_queue;

// An item has called its function, and nobody has been told yet.
inline void deliver_partials() noexcept {
  if (vproc::current()->partials != nullptr) [[unlikely]]
    vproc::deliver_partials();
}
// A coroutine that an item has resumed is about to be suspended, and may go on elsewhere at once.
void deliver_partials_of_coroutine() noexcept;

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
  static work_queue& of_all();

  // Before use: the runners are members of the node. Else they are of none.
  void set_node(vproc::cancel_node& node) noexcept { node_ = &node; }

  // What members of the node add goes first, so that a tree of items is walked in depth. The others
  // have their turns in about the order in which they were added.
  void add(work_item* added) noexcept;
  // Orders: acq_rel, so that whoever adds the item has seen what all did before they arrived.
  void arrive(work_item* at) noexcept {
    if (at->missing.fetch_sub(1, base::acq_rel) == 1)
      add(at);
  }

  void release(sync::dependents<work_item>& followers) noexcept;
  // The same by an item as its last step: it returns one that can begin, so that its runner goes on
  // with that one, and no other thread hears of it.
  work_item* release_and_take(sync::dependents<work_item>& followers) noexcept;

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
    deliver_partials();
  }
  // Whether somebody waits for the end of the runners, which then look for more only while an item
  // is at work.
  void set_awaited(bool awaited) noexcept { awaited_.store(awaited, base::relaxed); }

private:
  using queue = sync::standby_queue<work_item>;
  struct runner;
  class host;

  void fail() noexcept; // called in the handler of what an item has thrown
  void count_runner() noexcept;
  void make_runner() noexcept;
  void serve(queue::runner& own) noexcept;

  vproc::cancel_node* node_ = nullptr;
  base::atomic<bool> awaited_{false};
  queue items_; // on cache lines of its own
};

} // namespace nopal::inline NOPAL_ABI::detail
NOPAL_HIDDEN_END
