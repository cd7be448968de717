// SPDX-License-Identifier: MIT
// Cancelling fibers, through all schedulers that run them.
//
//     nopal::cancelable search;
//     nopal::spawn(search, [&] { explore(start); });    // with all fibers that it spawns
//     ...
//     search.cancel();                                  // returns when they have stopped
//
// A fiber of a cancelled cancelable does not begin; one that has begun stops as any cancelled
// strand does (cancel.h). Fibers that it spawns are of the same cancelable. A cancelable with a
// parent is cancelled when the parent is. What a fiber spawns into another cancelable, or into a
// fiber_group or task that was made elsewhere, is of both: either one cancels it, and waits for it.
//
// For schedulers (scheduler.h; section 6.2 of the paper): (1) wrap a fiber when it is made;
// (2) wrap what is resumed after it was blocked, which has no effect here, since a fiber keeps its
// cancelable; (3) a fiber ends by returning, as all do.
//
// A cancelable outlives its fibers; its destructor waits for those that it has cancelled. Where an
// exception unwinds the function that declares it, or that strand is cancelled, it cancels them
// first. While one exists that is cancelled, forks, joins and waits of other strands are a little
// slower now and then, since they look whether they are meant.
//
// Paper: manticore-icfp08, sections 6.1 and 6.2.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/cancel.h"
#include "nopal/cancel/cancel_tree.h"
#include "nopal/config.h"
#include "nopal/fiber.h"

#include <exception>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// Fibers that are cancelled together, with all fibers that they spawn.
/// @pre It outlives its fibers, and its parent outlives it.
/// @par Threads
/// Any thread, any strand.
class NOPAL_TYPE cancelable {
public:
  cancelable() noexcept : node_{nullptr} {}
  explicit cancelable(cancelable& parent) noexcept : node_{&parent.node_} {}
  cancelable(const cancelable&) = delete;
  cancelable& operator=(const cancelable&) = delete;

  ~cancelable() { node_.end(); } // a member that ends uses the causes

  /// Its fibers are told to stop at that time, after so long, or when a stop is requested of the
  /// token; once each. It may lie on the heap, and fibers of several calls of `run` may share it.
  /// @par Threads
  /// Its owner, before it has fibers.
  template <class Clock, class Duration>
  void cancel_at(std::chrono::time_point<Clock, Duration> deadline) {
    if (const auto time = detail::at(deadline); time != detail::never)
      causes().begin(node_, time, deadline);
  }
  template <class Rep, class Period> void cancel_after(std::chrono::duration<Rep, Period> at_most) {
    cancel_at(detail::steady::time_point{detail::after(at_most)});
  }
  void cancel_with(std::stop_token by) {
    causes().by.emplace(std::move(by), detail::cancel_causes::canceller{&node_});
  }

  /// Tells all fibers to stop and waits until they have; from inside, by one of these fibers or
  /// what it has forked, it does not wait. For ever, and as often as one likes. The first call's
  /// reason is kept, if there is memory for it (cancel_reason in cancel.h).
  /// @throws cancelled if the calling strand is cancelled while it waits; the destructor waits.
  /// @par Threads
  /// Any thread, any strand.
  void cancel(std::exception_ptr reason = nullptr) {
    node_.cancel(std::move(reason));
    if (const auto* const seen =
            node_.seen_by.load(base::acquire)) // if another one cancels it, too
      seen->tells(seen);
  }
  /// Whether this one, or one above it, was cancelled, and why: null if nobody said so. Any thread.
  [[nodiscard]] bool cancelled() const noexcept { return node_.cancelled(); }
  [[nodiscard]] std::exception_ptr reason() const noexcept { return node_.reason(); }
  /// A stop is requested of it when this one, or one above it, is cancelled: at the latest before
  /// `cancel` returns, and before a fiber ends that was stopped.
  /// @par Threads
  /// Its owner.
  [[nodiscard]] std::stop_token token() {
    if (!causes().seen_by) {
      causes().seen_by.emplace(node_.placed(), std::vector<const join::cancelable*>{&node_});
      node_.seen_by.store(&*causes().seen_by, base::release);
    }
    return causes().seen_by->token();
  }

private:
  friend fiber cancel_wrapper(cancelable& owner, fiber unwrapped);

  detail::cancel_causes& causes() {
    if (causes_ == nullptr)
      causes_ = std::make_unique<detail::cancel_causes>();
    return *causes_;
  }

  cancel::tree_node node_;
  std::unique_ptr<detail::cancel_causes> causes_; // end before the node does
};

/// The fiber, which `owner` cancels from now on. It has not begun, or belongs to `owner` already,
/// or to a cancelable below that. What has cancelled it so far does so still.
[[nodiscard]] inline fiber cancel_wrapper(cancelable& owner, fiber unwrapped) {
  vproc::fiber* const wrapped = detail::fiber_access::take(unwrapped);
  owner.node_.take_in(*wrapped);
  return detail::fiber_access::make(wrapped);
}

/// As spawn(f, args...), with a cancelable.
template <class F, class... Args>
  requires forkable<F, Args...>
void spawn(cancelable& owner, F&& f, Args&&... args) {
  auto call = base::closure_of(std::forward<F>(f), std::forward<Args>(args)...);
  cancel_wrapper(owner, make_fiber(std::move(call))).start();
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
