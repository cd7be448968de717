// SPDX-License-Identifier: MIT
// Values that fibers wait for.
//
//     nopal::ivar<int> answer;                       // empty until it is set, once
//     nopal::spawn([&] { answer.set(compute()); });
//     use(answer.get());                             // waits
//
//     nopal::future1<int> later{[] { return compute(); }};
//     ...
//     use(later.touch());                            // its value, or computes it here
//
// Thread rules: any strand of nopal::run; `set`, `get` and `is_set` from any thread.
// Paper: manticore-icfp08, section 4.3 (one-touch futures) and Figure 5 (ivars).
#pragma once

#include "nopal/base/flag.h"
#include "nopal/config.h"
#include "nopal/fiber.h"
#include "nopal/sched/park.h"
#include "nopal/sync/once_event.h"
#include "nopal/vproc/action.h"
#include "nopal/vproc/ready.h"

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

namespace detail {

// Set by one, awaited by many.
class NOPAL_TYPE event {
public:
  event() = default;
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  ~event() {
    if (event_.happened())
      event_.settle();
  }

  bool happened() const noexcept { return event_.happened(); }
  // Throws `cancelled` if the strand is cancelled while it waits (cancel.h).
  void wait() {
    if (event_.happened())
      return;
    const auto join = [this](vproc::fiber* strand) {
      return event_.join(strand) ? vproc::signal::stop() : vproc::signal::enter(strand);
    };
    if (!sched::park_or_stop(join, [this](vproc::fiber* strand) { event_.leave(strand); }))
      join::throw_cancelled();
  }
  void happen() noexcept {
    for (vproc::fiber* one = event_.happen(); one != nullptr;) {
      vproc::fiber* const next = one->next_waiting;
      vproc::make_ready(one);
      one = next;
    }
  }

private:
  sync::once_event<vproc::fiber> event_;
};

} // namespace detail

// A variable that is set once; who asks before waits. It lives until `set` and all `get` have
// returned, but the one that `get` returned to first may destroy it.
template <class T> class NOPAL_TYPE ivar {
public:
  // To be called once.
  template <class... From> void set(From&&... from) {
    value_.emplace(std::forward<From>(from)...);
    event_.happen();
  }
  bool is_set() const noexcept { return event_.happened(); }
  T& get() {
    event_.wait();
    return *value_;
  }

private:
  std::optional<T> value_;
  detail::event event_;
};

// A computation that is begun by a fiber of its own, or by who touches it, whoever comes first. It
// is touched at most once. An exception of f is thrown by `touch`;
// where nobody touches it, it is lost.
template <class T>
  requires std::is_void_v<T> || std::is_lvalue_reference_v<T> || std::is_move_constructible_v<T>
class NOPAL_TYPE future1 {
public:
  // f's result converts to T, and refers to no temporary.
  template <class F>
    requires detail::spawns<F> && std::is_invocable_r_v<T, std::decay_t<F>> &&
             (!std::is_reference_v<T> ||
              std::is_lvalue_reference_v<std::invoke_result_t<std::decay_t<F>>>)
  explicit future1(F&& f) : of_{std::make_shared<body<std::decay_t<F>>>(std::forward<F>(f))} {
    spawn([of = of_] {
      if (of->begun.take())
        of->compute();
    });
  }

  T touch() {
    const std::shared_ptr<state> of = std::move(of_);
    if (of->begun.take())
      of->compute();
    else
      of->done.wait();
    if (of->thrown != nullptr)
      std::rethrow_exception(std::exchange(of->thrown, nullptr));
    if constexpr (std::is_reference_v<T>)
      return **of->value;
    else if constexpr (!std::is_void_v<T>)
      return *std::move(of->value);
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
        if constexpr (std::is_void_v<T>) {
          call();
          value.emplace();
        } else if constexpr (std::is_reference_v<T>) {
          value.emplace(std::addressof(call()));
        } else {
          value.emplace(call());
        }
      } catch (...) {
        thrown = join::handled_exception();
      }
      done.happen();
    }

    base::flag begun;
    std::optional<place> value;
    std::exception_ptr thrown;
    detail::event done;
  };
  template <class F> struct body : state {
    template <class From> explicit body(From&& from) : f(std::forward<From>(from)) {}
    T call() override {
      if constexpr (std::is_void_v<T>)
        static_cast<void>(std::invoke(std::move(f)));
      else
        return std::invoke(std::move(f));
    }
    F f;
  };

  std::shared_ptr<state> of_;
};

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
