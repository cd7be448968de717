// SPDX-License-Identifier: MIT
// Values that fibers wait for.
//
//     nopal::ivar<int> answer;                       // empty until it is set, once
//     nopal::spawn([&] { answer.set(compute()); });
//     use(answer.get());                             // waits; ivar<void> is set without a value
//
//     nopal::future1<int> later{[] { return compute(); }};
//     ...
//     use(later.touch());                            // its value, or computes it here
//
// Thread rules: any strand of nopal::run; `set`, `get` and `is_set` from any thread.
// Paper: manticore-icfp08, section 4.3 (one-touch futures) and Figure 5 (ivars).
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/check.h"
#include "nopal/base/closure.h"
#include "nopal/base/flag.h"
#include "nopal/base/result_place.h"
#include "nopal/config.h"
#include "nopal/fiber.h"
#include "nopal/fibers/waits.h"
#include "nopal/join/cancelled.h"
#include "nopal/sched/stop.h"

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// A variable that is set once; a strand that asks before that waits. It lives until `set` and all
/// `get` have returned, but the one that `get` returned to first may destroy it.
template <class T> class NOPAL_TYPE ivar {
public:
  /// To be called once.
  template <class... From> void set(From&&... from) {
    NOPAL_ASSERT(begun_.exchange(1, base::relaxed) == 0,
                 "a nopal::ivar was set a second time, but it has one value for ever; set it once");
    try {
      value_.emplace(std::forward<From>(from)...);
    } catch (...) {
      begun_.store(0, base::relaxed); // it has no value yet
      throw;
    }
    event_.happen();
  }
  /// Throws `cancelled`, as `get` does, if the strand is cancelled: a loop that asks ends.
  [[nodiscard]] bool is_set() const {
    sched::stop_point();
    return event_.happened();
  }
  std::add_lvalue_reference_t<T> get() {
    sched::stop_point();
    event_.wait();
    if constexpr (!std::is_void_v<T>)
      return *value_;
  }

private:
  fibers::event event_;                  // first: reports name its address
  base::atomic<std::uint32_t> begun_{0}; // a call of `set` has
  std::optional<std::conditional_t<std::is_void_v<T>, std::monostate, T>> value_;
};

/// Thrown where a value was to come from a strand that was cancelled, to one that is not.
class broken_future final : public std::exception {
public:
  const char* what() const noexcept override {
    return "the fiber of a nopal::future1 or a nopal::task that was to compute a value was "
           "cancelled";
  }
};

/// A computation that runs in a fiber of its own or in the toucher, whichever is first. It is
/// touched at most once. An exception of f is thrown by `touch`; where nobody touches it, it is
/// lost. If the fiber has begun f and was cancelled, `touch` throws `broken_future`.
template <class T>
  requires std::is_void_v<T> || std::is_lvalue_reference_v<T> || std::is_move_constructible_v<T>
class NOPAL_TYPE future1 {
public:
  /// f's result converts to T, and refers to no temporary.
  template <class F>
    requires spawnable<F> && std::is_invocable_r_v<T, std::decay_t<F>> &&
             (!std::is_reference_v<T> ||
              std::is_lvalue_reference_v<std::invoke_result_t<std::decay_t<F>>>)
  explicit future1(F&& f) : state_{std::make_shared<body<std::decay_t<F>>>(std::forward<F>(f))} {
    spawn([shared = state_] {
      if (shared->begun.take())
        shared->compute();
    });
  }

  /// @throws what f throws; broken_future; cancelled, if the calling strand is cancelled.
  T touch() {
    sched::stop_point();
    const std::shared_ptr<state> shared = std::move(state_);
    NOPAL_ASSERT(shared != nullptr,
                 "a nopal::future1 was touched a second time, or after it was moved from, but it "
                 "gives its value once; keep the value, or let others share a nopal::ivar");
    if (shared->begun.take())
      shared->compute();
    else
      shared->done.wait();
    if (shared->broken) {
      sched::stop_if_told(); // it may be this strand that was to stop in f
      throw broken_future{};
    }
    if (shared->thrown != nullptr)
      std::rethrow_exception(std::exchange(shared->thrown, nullptr));
    if constexpr (std::is_reference_v<T>)
      return **shared->value;
    else if constexpr (!std::is_void_v<T>)
      return std::move(*shared->value);
  }

private:
  using place = std::conditional_t<
      std::is_void_v<T>, std::monostate,
      std::conditional_t<std::is_reference_v<T>, std::add_pointer_t<T>, std::remove_cv_t<T>>>;

  struct state {
    virtual ~state() = default;
    virtual T call() = 0;
    void compute() noexcept {
      try {
        value.make([this]() -> place {
          if constexpr (std::is_void_v<T>) {
            call();
            return {};
          } else if constexpr (std::is_reference_v<T>) {
            return std::addressof(call());
          } else {
            return call();
          }
        });
      } catch (const cancelled& caught) {
        caught.note_kept();
        broken = sched::stops_here(); // else f has thrown it: of a region of its own
        thrown = join::handled_exception();
      } catch (...) {
        thrown = join::handled_exception();
      }
      done.happen();
    }

    base::flag begun;
    bool broken = false; // the strand that has begun f was cancelled
    base::result_place<place> value;
    std::exception_ptr thrown;
    fibers::event done;
  };
  template <class F> struct body : state {
    template <class From> explicit body(From&& from) : f(std::forward<From>(from)) {}
    T call() override {
      if constexpr (std::is_void_v<T>)
        static_cast<void>(base::call(std::move(f)));
      else
        return base::call(std::move(f));
    }
    F f;
  };

  std::shared_ptr<state> state_;
};

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
