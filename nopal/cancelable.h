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
// parent is cancelled when the parent is.
//
// For schedulers (scheduler.h; section 6.2 of the paper): (1) wrap a fiber when it is made;
// (2) wrap what is resumed after it was blocked, which has no effect here, since a fiber keeps its
// cancelable; (3) a fiber ends by returning, as all do.
//
// A cancelable outlives its fibers. As long as one exists that is cancelled, forks, joins and waits
// of other strands are a little slower now and then, since they look whether they are meant.
//
// Paper: manticore-icfp08, sections 6.1 and 6.2.
#pragma once

#include "nopal/cancel.h"
#include "nopal/cancel/cancel_tree.h"
#include "nopal/config.h"
#include "nopal/fiber.h"

#include <utility>

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

  /// Tells all fibers to stop and waits until they have; from inside, by one of these fibers or
  /// what it has forked, it does not wait. For ever, and as often as one likes.
  /// @par Threads
  /// Any thread, any strand.
  void cancel() { node_.cancel(); }
  /// Whether this one, or one above it, was cancelled. Any thread.
  [[nodiscard]] bool cancelled() const noexcept { return node_.cancelled(); }

private:
  friend fiber cancel_wrapper(cancelable& owner, fiber unwrapped);

  cancel::tree_node node_;
};

/// The fiber, which `owner` cancels from now on. It has not begun, or belongs to `owner` already,
/// or to a cancelable below that.
[[nodiscard]] inline fiber cancel_wrapper(cancelable& owner, fiber unwrapped) {
  vproc::fiber* const wrapped = detail::fiber_access::take(unwrapped);
  owner.node_.take_in(*wrapped);
  return detail::fiber_access::make(wrapped);
}

/// As spawn(f), with a cancelable.
template <class F>
  requires spawnable<F>
void spawn(cancelable& owner, F&& f) {
  cancel_wrapper(owner, make_fiber(std::forward<F>(f))).start();
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
