// SPDX-License-Identifier: MIT
// Cancellation: stopping what was forked.
//
//     nopal::cancel_scope s{std::chrono::milliseconds(50)};   // a deadline, if wanted
//     s.fork(best, search, left);                             // children, with all that they fork
//     s.fork(other, search, right);
//     if (good_enough())
//       s.cancel();                                           // any thread that may use s
//     if (!s.try_join())                                      // waits until all have stopped
//       say("not finished");                                  // best and other may be untouched
//
// A strand that is cancelled stops at its next fork, join, poll, wait or piece of a loop. What may
// wait counts as a wait, and so do `yield`, `run` and `is_set`. A fork skips its child and throws
// nothing, so that the results of that child stay as they were; the others throw `cancelled`, which
// unwinds the strand like any exception, so that destructors run. If a handler catches it and does
// not throw it again, the next join does. Where nothing is cancelled, a fork does nothing for it.
//
// A canceller may say why: s.cancel(std::make_exception_ptr(too_dear{})). What is stopped reads it
// by cancel_reason(), others by s.reason().
//
// A destructor that an exception runs is not cancelled by what began outside of it, so it forks and
// joins as ever. What begins inside (a cancel_scope, an `either`) cancels as anywhere.
//
// A function that no exception may leave (noexcept, a destructor that forks while no exception
// unwinds, foreign code without unwind tables) ends the program with a sentence if it joins while
// it is cancelled. What has to be done there all the same is `shielded`. A child that neither forks
// nor polls does not stop.
//
// Paper: manticore-icfp08, section 6.
#pragma once

#include "nopal/concepts.h"
#include "nopal/config.h"
#include "nopal/deadline.h"
#include "nopal/fork.h"
#include "nopal/join/cancelled.h"

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <vector>

#if !defined(NOPAL_SERIAL)
#include "nopal/affine.h"
#include "nopal/cancel/alarms.h"
#include "nopal/cancel/cancel.h"
#include "nopal/cancel/observers.h"
#include "nopal/sched/forks.h"
#include "nopal/sched/stop.h"
#endif

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

#if defined(NOPAL_SERIAL)
[[nodiscard]] inline bool is_cancelled() noexcept { return false; }
[[nodiscard]] inline std::exception_ptr cancel_reason() noexcept { return nullptr; }

template <class F>
  requires callable<F>
typename detail::result_of_call<F>::type shielded(F&& f) {
  return base::call(std::forward<F>(f));
}
#else
/// Whether the calling strand is to stop.
/// @par Threads
/// Any thread, any strand.
[[nodiscard]] inline bool is_cancelled() noexcept { return sched::stops_here(); }

/// Why the calling strand is to stop: what `cancel` was given; `deadline_passed`; the exception of
/// the fiber that has failed first in a fiber_group, or of the function that `run` was given. Where
/// several things stop the strand, the reason of the innermost that has one. Null: it is not to
/// stop, or nobody said why. A strand that is to stop asks, say where it catches `cancelled`.
/// @par Threads
/// Any thread, any strand.
/// @par Cost
/// A walk through all forks above the strand.
[[nodiscard]] inline std::exception_ptr cancel_reason() noexcept { return cancel::reason(); }

namespace detail {

// Of a scope whose children are cancelled together. Each fork looks at the mark, so what is skipped
// does not depend on where the strand has looked before (sched/stop.h).
struct NOPAL_TYPE cancel_frame : join::region_frame {
  join::cancelable node;

  [[gnu::always_inline]] inline cancel_frame() noexcept { region = &node; }
  bool cancelled() const noexcept { return node.marked(); }
};

class NOPAL_TYPE shield : public any_scope<join::fork_kind::region, join::region_frame> {
public:
  [[gnu::always_inline]] inline shield() noexcept { cancel::begin_shield(); }
  [[gnu::always_inline]] inline ~shield() noexcept(false) { cancel::end_shield(); }

  [[gnu::always_inline]] inline void join() {
    if (!frame_.needs_join())
      return;
    wait();
    if (!sched::finish_children(arch::address_of(frame_)))
      join::throw_cancelled(); // by a cancel_scope in what it called
  }
};

// Its scope's frame is this function's.
template <class Body> [[gnu::noinline]] void call_shielded(Body& body) {
  shield s;
  s.fork([&body] { body(); });
  s.join();
}

} // namespace detail

/// Calls f, and returns or throws what f does. What f does is not cancelled, with all that it
/// forks, but for what it cancels itself.
/// @par Threads
/// Any thread, any strand; f may return on another thread, as a fork may.
template <class F>
  requires callable<F>
typename detail::result_of_call<F>::type shielded(F&& f) {
  return detail::call_through([](auto& body) { detail::call_shielded(body); }, std::forward<F>(f));
}
#endif

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END

#if defined(NOPAL_SERIAL)
NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

class NOPAL_TYPE cancel_scope : public scope {
public:
  using clock = std::chrono::steady_clock;

  cancel_scope() = default;
  template <class Clock, class Duration>
  explicit cancel_scope(std::chrono::time_point<Clock, Duration> deadline)
      : is_late_{late(deadline)} {}
  template <class Rep, class Period>
  explicit cancel_scope(std::chrono::duration<Rep, Period> at_most)
      : is_late_{late(clock::time_point{detail::after(at_most)})} {}
  explicit cancel_scope(std::stop_token by) : by_{std::move(by)} {}
  template <class Clock, class Duration>
  cancel_scope(std::chrono::time_point<Clock, Duration> deadline, std::stop_token by)
      : is_late_{late(deadline)}, by_{std::move(by)} {}
  template <class Rep, class Period>
  cancel_scope(std::chrono::duration<Rep, Period> at_most, std::stop_token by)
      : is_late_{late(clock::time_point{detail::after(at_most)})}, by_{std::move(by)} {}

  using detail::refused_forks::fork;
  template <class... Parts>
    requires(detail::refusal_of<Parts...>() == detail::refusal::none)
  void fork(Parts&&... parts) {
    look();
    if (cancelled())
      skipped_ = true;
    else
      scope::fork(std::forward<Parts>(parts)...);
  }
  void cancel(std::exception_ptr reason = nullptr) noexcept {
    if (!out_.stop_requested())
      reason_ = std::move(reason);
    out_.request_stop();
  }
  [[nodiscard]] bool cancelled() const noexcept { return out_.stop_requested(); }
  [[nodiscard]] std::exception_ptr reason() const noexcept { return reason_; }
  [[nodiscard]] std::stop_token token() { return out_.get_token(); }
  [[nodiscard]] bool try_join() noexcept { return !std::exchange(skipped_, false); }
  void join() {
    if (!try_join())
      throw ::nopal::cancelled{};
  }

private:
  void look() {
    if (by_.stop_requested())
      cancel();
    else if (is_late_ && is_late_())
      cancel(std::make_exception_ptr(deadline_passed{}));
  }

  template <class Clock, class Duration>
  static std::function<bool()> late(std::chrono::time_point<Clock, Duration> deadline) {
    if (detail::at(deadline) == detail::never)
      return {};
    return [deadline] { return !(Clock::now() < deadline); };
  }

  const std::function<bool()> is_late_; // null: there is no deadline
  const std::stop_token by_{};          // Clang 14 makes no const one without the braces
  std::stop_source out_;
  std::exception_ptr reason_;
  bool skipped_ = false;
};

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
#else
NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

namespace detail {

// What few scopes have: a deadline, a token that cancels them, a token that they cancel.
struct cancel_causes {
  struct canceller {
    join::cancelable* region;
    void operator()() const noexcept { cancel::cancel(*region); }
  };

  std::optional<cancel::alarm> deadline;
  std::optional<std::stop_callback<canceller>> by;
  std::optional<cancel::observer> seen_by;

  // `time` is when to look at the clock first.
  template <class Clock, class Duration>
  void begin(join::cancelable& node, steady::time_point time,
             const std::chrono::time_point<Clock, Duration>& end) {
    cancel::alarm::look again;
    if constexpr (!std::is_same_v<Clock, steady>)
      again = [looked = end_time<Clock, Duration>{end}]() mutable {
        return looked.has_come() ? passed : looked.look_at();
      };
    deadline.emplace(node, time, std::move(again));
  }
  // Of a scope that is cancelled: its token was told, with all callbacks, when this returns.
  [[gnu::noinline]] void settle() const noexcept {
    if (seen_by)
      seen_by->settle();
  }

  // Out of line, so that the end of a scope without causes is inlined.
  struct deleter {
    [[gnu::noinline]] void operator()(cancel_causes* causes) const noexcept { delete causes; }
  };
};

} // namespace detail

/// A scope whose children stop when it is cancelled: by `cancel`, at its deadline, or when a stop
/// is requested of the token that it is given. It is cancelled for ever: what it would fork after
/// that is skipped. The rules of scope hold (fork.h); the strand that owns it is not cancelled with
/// it.
/// @par Threads
/// `cancel`, `cancelled` any thread, as long as the scope lives; the rest the function that
/// declares it.
class NOPAL_TYPE cancel_scope
    : public detail::any_scope<join::fork_kind::region, detail::cancel_frame> {
public:
  using clock = std::chrono::steady_clock;

  [[gnu::always_inline]] inline cancel_scope() noexcept {}
  // Of any clock, and from now on; what the clock cannot count never comes, or has passed.
  template <class Clock, class Duration>
  [[gnu::always_inline]] inline explicit cancel_scope(
      std::chrono::time_point<Clock, Duration> deadline)
      : cancel_scope() {
    cancel_at(deadline);
  }
  template <class Rep, class Period>
  [[gnu::always_inline]] inline explicit cancel_scope(std::chrono::duration<Rep, Period> at_most)
      : cancel_scope() {
    cancel_at(clock::time_point{detail::after(at_most)});
  }
  [[gnu::always_inline]] inline explicit cancel_scope(std::stop_token by) : cancel_scope() {
    causes().by.emplace(std::move(by),
                        detail::cancel_causes::canceller{cancel::seen(&frame_.node)});
  }
  // When one of the two comes.
  template <class When>
  [[gnu::always_inline]] inline cancel_scope(When deadline, std::stop_token by)
      : cancel_scope(deadline) {
    causes().by.emplace(std::move(by),
                        detail::cancel_causes::canceller{cancel::seen(&frame_.node)});
  }

  // Joins, and rethrows the exceptions of children as a join does, but takes no notice of children
  // that were cancelled. Where an exception unwinds the function, its children are cancelled first.
  [[gnu::always_inline]] inline ~cancel_scope() noexcept(false) {
    if (frame_.needs_join()) [[unlikely]] {
      if (sched::is_unwound(arch::address_of(frame_)))
        cancel();
      wait();
    }
    if (causes_ != nullptr) [[unlikely]] {
      causes_->settle();
      causes_.reset();
    }
    if (frame_.needs_join() || frame_.node.marked()) [[unlikely]]
      sched::end_region(arch::address_of(frame_));
  }

  // The children that run are told to stop, and others are not begun. Does not wait for them. The
  // first call's reason is kept, if there is memory for it.
  NOPAL_OWN void cancel(std::exception_ptr reason = nullptr) noexcept {
    cancel::cancel(frame_.node, std::move(reason));
  }
  // Whether it was cancelled itself, and why: null if nobody said so.
  [[nodiscard]] bool cancelled() const noexcept { return frame_.node.marked(); }
  [[nodiscard]] std::exception_ptr reason() const noexcept { return frame_.node.reason(); }
  // A stop is requested of it when this scope is cancelled, or a cancel_scope, `either` or
  // `cancelable` that it lies in, up to the nearest `shielded`. Not when an exception stops its
  // strand. Of what was cancelled its callbacks have been called when the join returns: where the
  // canceller has not called them yet, the joining strand does.
  [[nodiscard]] std::stop_token token() {
    if (!causes().seen_by) {
      std::vector<const join::cancelable*> nodes = cancel::enclosing_nodes();
      nodes.push_back(cancel::seen(&frame_.node));
      causes().seen_by.emplace(cancel::placed_region(arch::address_of(frame_)), std::move(nodes));
    }
    return causes().seen_by->token();
  }

  // Waits for all children. True: all were completed. False: the scope was cancelled before that.
  // Rethrows the serially first exception of the children before the first that was cancelled;
  // later ones count as suppressed. Throws `cancelled` if the calling strand is.
  [[nodiscard, gnu::always_inline]] inline bool try_join() {
    if (is_joined()) [[likely]]
      return true;
    wait();
    if (causes_ != nullptr) [[unlikely]]
      causes_->settle();
    return sched::finish_region(arch::address_of(frame_));
  }
  // The same; throws `cancelled` instead of returning false.
  [[gnu::always_inline]] inline void join() {
    if (!try_join())
      join::throw_cancelled();
  }

private:
  template <class Clock, class Duration>
  void cancel_at(const std::chrono::time_point<Clock, Duration>& deadline) {
    if (const auto time = detail::at(deadline); time != detail::never)
      causes().begin(frame_.node, time, deadline);
  }
  detail::cancel_causes& causes() {
    if (causes_ == nullptr)
      causes_.reset(new detail::cancel_causes);
    return *causes_;
  }

  std::unique_ptr<detail::cancel_causes, detail::cancel_causes::deleter> causes_;
};

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
#endif
