// SPDX-License-Identifier: MIT
// Work that nobody waits for where it is begun, and what is to follow it.
//
//     nopal::future<image> picture = nopal::submit(load, path);      // any thread; returns at once
//     nopal::future<void> shown =
//         std::move(picture).then([](image all) { return scaled(all); }).then(show);
//     nopal::when_all(std::move(shown), nopal::submit(log)).get();   // waits, and throws
//
// Each function runs in a fiber of its own (fiber.h): it may fork, wait and block. All are fibers
// of one computation, in which a thread of Nopal's own takes part as one that computes; it begins
// with the first submission, and the computation with each that finds none. nopal::run waits for
// what is spawned within it, and for nothing that is submitted.
//
// A future that is destroyed lets its work run on; what that throws is lost then.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/check.h"
#include "nopal/base/closure.h"
#include "nopal/concepts.h"
#include "nopal/config.h"
#include "nopal/fiber.h"
#include "nopal/fibers/waits.h"
#include "nopal/sched/stop.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

template <class T> class future;

namespace detail {

// The computation of all that is submitted. It ends when nothing is left, so that the workers can
// be stopped, and begins anew with the next submission.
//
// Invariant: (lock held)  while fibers are kept, the thread has been woken, and opens the
//            computation when the one before has ended. `open_` exists only while `pending_` > 0,
//            but for the time until the last fiber has the lock.
class background {
public:
  static background& all() {
    static auto* const made = new background; // never destroyed: its thread uses it
    return *made;
  }

  void add(fibers::spawned* begun) {
    const std::lock_guard guard{lock_};
    if (!hosted_)
      std::thread{[this] { host(); }}.detach();
    hosted_ = true;
    if (!open_)
      kept_.push_back(begun);
    pending_.fetch_add(1, base::relaxed);
    if (open_)
      start(begun);
    else
      wanted_.notify_one();
  }
  // Called by each fiber as its last step.
  void ended() noexcept {
    if (pending_.fetch_sub(1, base::relaxed) != 1)
      return;
    const std::lock_guard guard{lock_};
    if (pending_.load(base::relaxed) == 0)
      open_.reset();
  }

private:
  [[noreturn]] void host() {
    for (;;) {
      {
        std::unique_lock guard{lock_};
        wanted_.wait(guard, [this] { return !kept_.empty(); });
      }
      run([this] { open(); }); // returns when all have ended
    }
  }
  void open() {
    const std::lock_guard guard{lock_};
    open_.emplace();
    for (fibers::spawned* const each : kept_)
      start(each);
    kept_.clear();
  }
  void start(fibers::spawned* begun) {
    open_->join(begun);
    fiber_access::make(begun).start();
  }

  std::mutex lock_; // of all but `pending_`
  std::condition_variable wanted_;
  bool hosted_ = false;
  std::vector<fibers::spawned*> kept_;    // until the computation is open
  std::optional<fibers::kept_open> open_; // the computation
  base::atomic<std::size_t> pending_{0};
};

template <class F> struct submitted_function : fibers::spawned {
  explicit submitted_function(F&& from) : spawned{call_it, free_it}, f(std::move(from)) {}

  static void call_it(spawned* self) { static_cast<submitted_function*>(self)->f(); }
  static void free_it(spawned* self) noexcept {
    delete static_cast<submitted_function*>(self);
    background::all().ended();
  }

  F f;
};
template <class F> void begin_in_background(F f) {
  auto made = std::make_unique<submitted_function<F>>(std::move(f));
  background::all().add(made.get());
  made.release();
}

// What happens when a result has come. Deletes itself.
struct continuation {
  virtual ~continuation() = default;
  virtual void go_on() noexcept = 0;
};

// A result, and what waits for it: strands and threads, or one continuation.
//
//   next: 0, or the address of the continuation, or 1 when the result has come
//
// Orders: the exchange and the CAS of `next` are acq_rel: whoever comes second calls the
//         continuation, and sees the result, or the continuation.
template <class T> class promised {
public:
  using place = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

  // The function is destroyed before the result comes.
  template <class F, class... Args> void compute(std::optional<F>& f, Args&&... args) noexcept {
    try {
      if constexpr (std::is_void_v<T>) {
        base::call(*f, std::forward<Args>(args)...);
        value_.emplace();
      } else {
        value_.emplace(base::call(*f, std::forward<Args>(args)...));
      }
    } catch (...) {
      thrown_ = join::handled_exception();
    }
    f.reset();
    come();
  }
  void fail(std::exception_ptr thrown) noexcept {
    thrown_ = std::move(thrown);
    come();
  }

  void follow(std::unique_ptr<continuation> next) {
    std::uintptr_t none = 0;
    continuation* const follows = next.release();
    if (!next_.compare_exchange_strong(none, reinterpret_cast<std::uintptr_t>(follows),
                                       base::acq_rel, base::acquire))
      follows->go_on();
  }

  [[nodiscard]] bool has_come() const noexcept { return come_.happened(); }
  void wait() { come_.wait(); }
  // After it has come.
  bool has_failed() const noexcept { return thrown_ != nullptr; }
  std::exception_ptr take_failure() noexcept { return std::exchange(thrown_, nullptr); }
  place&& value() noexcept { return std::move(*value_); }

private:
  void come() noexcept {
    come_.happen();
    if (const std::uintptr_t next = next_.exchange(1, base::acq_rel); next != 0)
      reinterpret_cast<continuation*>(next)->go_on();
  }

  fibers::event come_; // first: reports name its address
  base::atomic<std::uintptr_t> next_{0};
  std::optional<place> value_;
  std::exception_ptr thrown_;
};

template <class Call> struct calling_continuation : continuation {
  explicit calling_continuation(Call&& from) : call(std::move(from)) {}
  void go_on() noexcept override {
    call();
    delete this;
  }
  Call call;
};
template <class Call> std::unique_ptr<continuation> continuation_of(Call call) {
  return std::make_unique<calling_continuation<Call>>(std::move(call));
}

template <class F, class T> struct result_after : std::invoke_result<F&, T> {};
template <class F> struct result_after<F, void> : std::invoke_result<F&> {};

// What a future may be of: what a function returns, if not a reference.
template <class T>
concept promisable = std::is_void_v<T> || (std::is_object_v<T> && std::is_move_constructible_v<T>);
template <class F, class T>
concept follows = base::copied<F> && requires {
  typename result_after<std::decay_t<F>, T>::type;
} && promisable<typename result_after<std::decay_t<F>, T>::type>;

struct future_access {
  template <class T> static future<T> make(const std::shared_ptr<promised<T>>& of) noexcept {
    return future<T>{of};
  }
  template <class T> static std::shared_ptr<promised<T>> take(future<T>& from) {
    static_cast<void>(from.state()); // checks that there is one
    return std::move(from.state_);
  }
};

} // namespace detail

/// The result of what was submitted, or follows it: a value that one strand or thread takes.
/// @pre `get`, `wait` and `then` are called on one that has not been moved from. Checked.
/// @par Threads
/// Any thread, any strand, one at a time.
template <class T> class [[nodiscard]] NOPAL_TYPE future {
public:
  future() noexcept = default;
  future(future&&) noexcept = default;
  future& operator=(future&&) noexcept = default;

  /// Whether the result has come.
  [[nodiscard]] bool is_ready() const { return state().has_come(); }
  /// Waits until the result has come.
  /// @throws cancelled if the calling strand is cancelled.
  void wait() const {
    sched::stop_point();
    state().wait();
  }
  /// Waits, and returns what the function has returned.
  /// @throws what it has thrown; cancelled if the calling strand is cancelled.
  T get() {
    wait();
    const auto of = std::move(state_);
    if (of->has_failed())
      std::rethrow_exception(of->take_failure());
    if constexpr (!std::is_void_v<T>)
      return of->value();
  }

  /// f(value), or f() for void, in a fiber of its own, when the result has come. What the function
  /// before has thrown passes f by.
  template <class F>
    requires detail::follows<F, T>
  future<typename detail::result_after<std::decay_t<F>, T>::type> then(F&& f) && {
    using result = typename detail::result_after<std::decay_t<F>, T>::type;
    auto before = detail::future_access::take(*this);
    detail::promised<T>& first = *before;
    auto behind = std::make_shared<detail::promised<result>>();
    first.follow(
        detail::continuation_of([before = std::move(before), behind,
                                 f = std::optional{std::decay_t<F>(std::forward<F>(f))}]() mutable {
          detail::begin_in_background(
              [before = std::move(before), behind = std::move(behind), f = std::move(f)]() mutable {
                if (before->has_failed())
                  behind->fail(before->take_failure());
                else if constexpr (std::is_void_v<T>)
                  behind->compute(f);
                else
                  behind->compute(f, before->value());
              });
        }));
    return detail::future_access::make(behind);
  }

private:
  friend detail::future_access;
  explicit future(std::shared_ptr<detail::promised<T>> of) noexcept : state_{std::move(of)} {}

  detail::promised<T>& state() const {
    NOPAL_ASSERT(state_ != nullptr, "a nopal::future was used that has no result: it was moved "
                                    "from, or has given its result by get or then");
    return *state_;
  }

  std::shared_ptr<detail::promised<T>> state_;
};

/// Begins f(args...), with copies or what is moved, in a fiber of its own, and returns at once.
/// @throws what their copies throw, std::bad_alloc.
/// @par Threads
/// Any thread, any strand.
/// @par Cost
/// Two allocations and a lock, held for a few steps.
template <class F, class... Args>
  requires forkable<F, Args...> &&
           detail::promisable<std::invoke_result_t<std::decay_t<F>&, std::decay_t<Args>...>>
auto submit(F&& f, Args&&... args) {
  using result = std::invoke_result_t<std::decay_t<F>&, std::decay_t<Args>...>;
  auto to = std::make_shared<detail::promised<result>>();
  detail::begin_in_background(
      [to, call = std::optional{base::closure_of(
               std::forward<F>(f), std::forward<Args>(args)...)}]() mutable { to->compute(call); });
  return detail::future_access::make(to);
}

namespace detail {

// Calls `then` when all have come.
template <class Then> struct countdown {
  base::atomic<std::size_t> missing;
  Then then;

  void one_has_come() noexcept {
    if (missing.fetch_sub(1, base::acq_rel) == 1)
      then();
  }
};
template <class Then> auto make_countdown(std::size_t number, Then then) {
  return std::shared_ptr<countdown<Then>>{new countdown<Then>{number, std::move(then)}};
}

} // namespace detail

/// The results of all, when all have come, with std::monostate for void.
/// @throws from `get` what the first in the list has thrown that has.
/// @par Threads
/// Any thread, any strand.
template <class... T>
future<std::tuple<typename detail::promised<T>::place...>> when_all(future<T>... each) {
  using all = std::tuple<typename detail::promised<T>::place...>;
  auto to = std::make_shared<detail::promised<all>>();
  std::tuple from{detail::future_access::take(each)...};
  const auto gather = [to, from] {
    std::apply(
        [&to](const auto&... of) {
          std::exception_ptr thrown;
          ((thrown = thrown == nullptr ? of->take_failure() : std::move(thrown)), ...);
          if (thrown != nullptr)
            return to->fail(std::move(thrown));
          std::optional values{[&] { return all{of->value()...}; }};
          to->compute(values);
        },
        from);
  };
  const auto count = detail::make_countdown(sizeof...(T) + 1, gather);
  std::apply(
      [&count](const auto&... of) {
        (of->follow(detail::continuation_of([count] { count->one_has_come(); })), ...);
      },
      from);
  count->one_has_come();
  return detail::future_access::make(to);
}

/// The same of any number.
template <class T>
future<std::vector<typename detail::promised<T>::place>> when_all(std::vector<future<T>> each) {
  using all = std::vector<typename detail::promised<T>::place>;
  auto to = std::make_shared<detail::promised<all>>();
  std::vector<std::shared_ptr<detail::promised<T>>> from;
  for (future<T>& one : each)
    from.push_back(detail::future_access::take(one));
  const auto count = detail::make_countdown(from.size() + 1, [to, from] {
    for (const auto& of : from)
      if (of->has_failed())
        return to->fail(of->take_failure());
    std::optional values{[&] {
      all gathered;
      gathered.reserve(from.size());
      for (const auto& of : from)
        gathered.push_back(of->value());
      return gathered;
    }};
    to->compute(values);
  });
  for (const auto& of : from)
    of->follow(detail::continuation_of([count] { count->one_has_come(); }));
  count->one_has_come();
  return detail::future_access::make(to);
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
