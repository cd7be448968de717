// SPDX-License-Identifier: MIT
// Puts a fiber into the queue that it belongs to.
#include "nopal/vproc/ready.h"

#include "nopal/base/check.h"
#include "nopal/base/sanitizer.h"
#include "nopal/vproc/computation.h"
#include "nopal/vproc/entry.h"
#include "nopal/vproc/ready_queues.h"
#include "nopal/vproc/timer.h"
#include "nopal/vproc/wake.h"

#include <utility>

namespace nopal::inline NOPAL_ABI::vproc {
namespace {

// A policy is called as code of no strand: what it calls must not change stacks.
void give(policy* receiver, fiber* strand) noexcept {
  const worker* const caller = current();
  const std::uint32_t number = is_worker(caller) ? caller->host->number : 0;
  // A fork of the policy finds no worker, and then that the thread is inside, which ends the
  // program.
  arch::runner* const self = std::exchange(arch::nopal_self, &no_worker);
  const bool entered = enter_if_outside();
  receiver->give(receiver, strand, number);
  leave_if(entered);
  arch::nopal_self = self; // the same thread: a policy does not change stacks
  want_ticks();
}

// The scheduler that the fiber is given to; null: none. A strand in a region of its fiber has none.
policy* policy_of(const fiber* strand) noexcept {
  if (strand->context == nullptr)
    return nullptr;
  policy* const scheduler = strand->context->computation->policy;
  if (scheduler == nullptr) [[likely]]
    return nullptr;
  return strand->context->computation->group == strand->group ? scheduler : nullptr;
}

// All vprocs may take the fiber.
[[gnu::noinline]] void share(fiber* strand) noexcept {
  group* const fibers_group = strand->group; // the strand may end once it is in the queue
  shared_ready.add(strand);
  announce_work(nullptr, fibers_group);
}

} // namespace

void make_ready(fiber* strand) noexcept {
  base::happens_before(strand);
  NOPAL_IF_SEEN(const base::unseen while_it_is_added);
  group* const fibers_group = strand->group; // the strand may end once it is in a queue
  const std::uint32_t there = fibers_group != nullptr ? fibers_group->begun_in : strand->waits_in;
  if (there != base::this_process) [[unlikely]]
    base::awaited_in_parent();
  if (fibers_group == nullptr) { // a thread that runs no strands waits
    idle.waiting.count_out();
    return strand->waker.wake();
  }
  worker* const self = current();
  const bool may_run_here = is_worker(self) && runs_when_bound_to(self->host->bound.get())(strand);
  if (vproc* const pinned = strand->pinned_to()) {
    if (!may_run_here || self->host != pinned)
      return enqueue_on(pinned, strand);
  } else if (policy* const scheduler = policy_of(strand)) {
    return give(scheduler, strand);
  }
  // A fiber whose turn has ended goes behind those that its vproc keeps, to all vprocs, but for a
  // pinned one, which no other vproc may take.
  if (may_run_here && (!strand->turn_ended || strand->is_pinned())) {
    self->host->ready.add(strand);
    announce_ready(self, fibers_group);
  } else {
    share(strand);
  }
  want_ticks();
}

void make_ready_for_all(fiber* strand) noexcept {
  if (strand->is_pinned() || policy_of(strand) != nullptr)
    return make_ready(strand);
  base::happens_before(strand);
  share(strand);
  want_ticks();
}

void make_all_ready(fiber* first) noexcept {
  while (first != nullptr) {
    fiber* const next = first->next_waiting; // its frame may end once it is ready
    make_ready(std::exchange(first, next));
  }
}

void give_back_units(vproc* holder) noexcept {
  if (computation* const ended = holder->units.give_back()) {
    base::happens_after(ended);
    make_ready(ended->waiting);
  }
}

void enqueue_on(vproc* target, fiber* strand) noexcept {
  NOPAL_ASSERT(target != nullptr &&
                   (target == strand->group->host ||
                    (target->in_pool && !target->spare.get() && !strand->group->closed)),
               "a fiber was enqueued on a vproc that cannot run it: a nopal::place is one of those "
               "that nopal::places, host and provision return within the same outermost nopal::run "
               "or affine region");
  base::happens_before(strand);
  // The strand, and with it the group, may end once it is in the queue.
  group* const fibers_group = strand->group;
  group* const awaited = fibers_group->host == target ? fibers_group : nullptr;
  target->remote.add(strand);
  worker* const self = current();
  wake_vproc(is_worker(self) ? self : nullptr, target, awaited); // with a fence (spares.cc)
  const group* const bound = target->bound.get();
  if ((bound != nullptr && bound != fibers_group) || target->blocked.any() ||
      target->stood_in.load(base::relaxed))
    unpin_actions(target);
  want_ticks();
}

void share_ready(vproc* keeper) noexcept {
  while (fiber* const strand = keeper->ready.take()) {
    if (strand->is_pinned()) {
      keeper->remote.add(strand); // the calling thread takes it later, so nobody is woken
      continue;
    }
    share(strand);
  }
}

// Of a caller that has stopped running, or has noted that, and a thread that has enqueued an action
// and then looks for such a note, at least one sees the other (F and W of sync/parking.h).
void unpin_actions(vproc* replaced) noexcept {
  base::full_fence();
  const auto wanted = [](const fiber* strand) {
    return strand->starts != nullptr && strand->is_pinned();
  };
  while (fiber* const start = replaced->remote.take(wanted)) {
    start->anywhere = true;
    share(start);
  }
}

void share_ready_of_another(vproc* keeper) noexcept {
  const auto wanted = [](const fiber* strand) { return !strand->is_pinned(); };
  constexpr std::uint32_t all = ~std::uint32_t{0};
  fiber* first = keeper->ready.steal(wanted, all);
  while (first != nullptr) {
    fiber* const next = first->next; // the strand may end once it is in the queue
    share(std::exchange(first, next));
  }
}

} // namespace nopal::inline NOPAL_ABI::vproc
