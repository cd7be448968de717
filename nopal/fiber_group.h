// SPDX-License-Identifier: MIT
// Fibers that end together, and fibers with a handle.
//
//     nopal::fiber_group all;
//     all.spawn([&] { produce(values); });
//     all.spawn(consume, std::ref(values));
//     all.join();                        // throws what the first that failed threw
//
//     nopal::task price{ask, shop};      // a fiber; nopal::task<int>
//     ...
//     use(price.get());                  // what ask(shop) returned, or threw
//
// Where one fails, the others are cancelled (cancel.h), with all that they have spawned. So are all
// that run when a group or a task is destroyed, which waits for them: also where an exception
// unwinds the function that declares it.
#pragma once

#include "nopal/base/check.h"
#include "nopal/base/result_place.h"
#include "nopal/cancel/cancel.h"
#include "nopal/cancel/cancel_tree.h"
#include "nopal/config.h"
#include "nopal/fiber.h"
#include "nopal/future.h"

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// In engine.h.
template <class T>
  requires std::is_void_v<T> || std::is_move_constructible_v<T>
class engine;

namespace detail {

template <class F> void spawn_below(cancel::tree_node& node, F&& call) {
  fiber made = make_fiber(std::forward<F>(call));
  vproc::fiber* const taken = fiber_access::take(made);
  node.take_in(*taken);
  fiber_access::make(taken).start();
}

} // namespace detail

/// Fibers of which the first failure cancels the others, and those that they spawn.
/// @pre Made in a strand of nopal::run. Checked: it is joined by no fiber of its own.
/// @throws cancelled from `join` if the calling strand is cancelled.
/// @par Threads
/// Any strand of that computation.
class NOPAL_TYPE fiber_group {
public:
  fiber_group() = default;

  /// f(args...) in a fiber of its own, with copies. It does not begin if the group is cancelled.
  template <class F, class... Args>
    requires forkable<F, Args...>
  void spawn(F&& f, Args&&... args) {
    detail::spawn_below(node_, base::closure_of(std::forward<F>(f), std::forward<Args>(args)...));
  }
  /// Tells all to stop, and does not wait for them. The first reason is kept (cancel.h).
  void cancel(std::exception_ptr reason = nullptr) noexcept {
    cancel::cancel(node_, std::move(reason));
  }
  [[nodiscard]] bool cancelled() const noexcept { return node_.cancelled(); }
  /// Why: what `cancel` was given, or what the first that failed threw; null if nobody said so.
  [[nodiscard]] std::exception_ptr reason() const noexcept { return node_.reason(); }
  /// Waits until all have ended; throws what the first that failed threw.
  void join() {
    node_.join();
    if (node_.failure() != nullptr)
      std::rethrow_exception(node_.failure());
  }

private:
  cancel::failing_node node_;
};

/// A fiber with a handle: to wait for it, for its result or exception, and to cancel it. If the
/// handle is destroyed before, the fiber is cancelled and awaited; nopal::spawn begins one that is
/// left alone.
/// @pre Made in a strand of nopal::run, which returns after it is destroyed or joined.
/// @throws cancelled from a wait if the calling strand is cancelled.
/// @par Threads
/// Any strand of that computation, one at a time; `cancel` and `done` any thread.
template <class T> class NOPAL_TYPE task {
public:
  template <class F, class... Args>
    requires(!std::is_same_v<std::remove_cvref_t<F>, task>) && forkable<F, Args...> &&
            std::is_same_v<T, std::invoke_result_t<std::decay_t<F>&, std::decay_t<Args>...>>
  explicit task(F&& f, Args&&... args) : state_{std::make_unique<state>()} {
    detail::spawn_below(
        state_->node,
        [own = state_.get(),
         call = base::closure_of(std::forward<F>(f), std::forward<Args>(args)...)]() mutable {
          own->value.make([&call]() -> place {
            if constexpr (std::is_void_v<T>) {
              call();
              return {};
            } else if constexpr (std::is_reference_v<T>) {
              return std::addressof(call());
            } else {
              return call();
            }
          });
        });
  }

  task(task&&) noexcept = default;
  task& operator=(task&&) noexcept = default;

  /// Waits until it has ended, and returns what f returned, or throws what f or a fiber that it
  /// spawned threw; broken_future if it was cancelled before.
  /// @pre Checked: it has not returned or thrown that before, and, for all that follow, the task
  /// was not moved from.
  T get() {
    state& own = used();
    NOPAL_ASSERT(!own.given, "a nopal::task was asked for its result a second time, but it gives "
                             "its value or its exception once; keep that");
    own.node.join();
    own.given = true;
    if (own.node.failure() != nullptr)
      std::rethrow_exception(own.node.failure());
    if (!own.value)
      throw broken_future{};
    if constexpr (std::is_reference_v<T>)
      return static_cast<T>(**own.value);
    else if constexpr (!std::is_void_v<T>)
      return std::move(*own.value);
  }
  /// Waits until it has ended, with all that it has spawned, however that was. As often as one
  /// likes, before and after `get`.
  void join() { used().node.join(); }
  [[nodiscard]] bool done() noexcept { return !used().node.has_members(); }
  /// Tells it to stop, and does not wait. The first reason is kept (cancel.h).
  void cancel(std::exception_ptr reason = nullptr) noexcept {
    cancel::cancel(used().node, std::move(reason));
  }

private:
  template <class U>
    requires std::is_void_v<U> || std::is_move_constructible_v<U>
  friend class engine;

  using place =
      std::conditional_t<std::is_void_v<T>, std::monostate,
                         std::conditional_t<std::is_reference_v<T>, std::add_pointer_t<T>, T>>;
  struct state {
    bool given = false; // `get` has returned the value, or has thrown
    base::result_place<place> value;
    cancel::failing_node node; // is destroyed first, and waits
  };
  state& used() const noexcept {
    NOPAL_ASSERT(state_ != nullptr, "a nopal::task was used that was moved from, and has no fiber "
                                    "any more; use the one that it was moved to");
    return *state_;
  }

  std::unique_ptr<state> state_;
};
template <class F, class... Args>
task(F&&, Args&&...) -> task<std::invoke_result_t<std::decay_t<F>&, std::decay_t<Args>...>>;

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
