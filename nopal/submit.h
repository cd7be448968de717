// SPDX-License-Identifier: MIT
// Work that nobody waits for where it is begun, and what is to follow it.
//
//     nopal::future<image> picture = nopal::submit(load, path);      // any thread; returns at once
//     nopal::future<void> shown =
//         std::move(picture).then([](image all) { return scaled(all); }).then(show);
//     nopal::when_all(std::move(shown), nopal::submit(log)).get();   // waits, and throws
//
//     task<long> answer() {                              // a coroutine type of any library
//       long x = co_await nopal::submit(fib, 30);        // forks; no thread waits meanwhile
//       co_return x + 1;                                 // in a fiber, so what it calls may fork
//     }
//
// Each function runs in a fiber: it may fork, wait and block, and functions may wait for each
// other. Those that neither wait nor are preempted run in one fiber in turn, so a fiber_local may
// have the value that another function has left. All fibers are of one computation, in which a
// thread of Nopal's own takes part (work_queue.h). nopal::run waits for what is spawned within it,
// and for nothing that is submitted.
//
// A future that is destroyed lets its work run on; what that throws is lost then. task_group.h has
// functions that are awaited together.
#pragma once

#include "nopal/base/check.h"
#include "nopal/base/closure.h"
#include "nopal/base/result_place.h"
#include "nopal/concepts.h"
#include "nopal/config.h"
#include "nopal/fibers/waits.h"
#include "nopal/sched/stop.h"
#include "nopal/work_queue.h"

#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

template <class T> class future;

namespace detail {

// A result, and what waits for it: strands and threads, and items of work.
template <class T> class promised {
public:
  using given = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

  // The function is destroyed before the result comes.
  template <class F, class... Args> void compute(std::optional<F>& f, Args&&... args) noexcept {
    try {
      value_.make([&]() -> stored {
        if constexpr (std::is_void_v<T>) {
          base::call(*f, std::forward<Args>(args)...);
          return {};
        } else if constexpr (std::is_reference_v<T>) {
          T&& refers = base::call(*f, std::forward<Args>(args)...);
          return std::addressof(refers);
        } else {
          return base::call(*f, std::forward<Args>(args)...);
        }
      });
    } catch (...) {
      thrown_ = join::handled_exception();
    }
    f.reset();
    deliver_partials();
    come();
  }
  void fail(std::exception_ptr thrown) noexcept {
    thrown_ = std::move(thrown);
    come();
  }

  [[nodiscard]] bool has_come() const noexcept { return come_.happened(); }
  void wait() { come_.wait(sync::wanted::result); }
  // False: the result has come, and is seen.
  bool follow(dependency* by) noexcept { return followers_.add(by); }
  bool forget(dependency* only) noexcept { return followers_.forget(only); }

  // After it has come.
  bool has_failed() const noexcept { return thrown_ != nullptr; }
  std::exception_ptr take_failure() noexcept { return std::exchange(thrown_, nullptr); }
  given&& value() noexcept {
    if constexpr (std::is_reference_v<T>)
      return static_cast<T>(**value_);
    else
      return std::move(*value_);
  }
  T take() {
    if (has_failed())
      std::rethrow_exception(take_failure());
    if constexpr (!std::is_void_v<T>)
      return value();
  }

private:
  using stored = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, given>;

  void come() noexcept {
    come_.happen();
    work_queue::of_all().release(followers_);
  }

  fibers::event come_; // first: reports name its address
  sync::dependents<work_item> followers_;
  base::result_place<stored> value_;
  std::exception_ptr thrown_;
};

// An item that gives a result when all its dependencies have come: body(promise) does so. It keeps
// itself until then.
template <class T, class Body, class Dependencies>
struct promising_item final : promised<T>, work_item {
  promising_item(Body&& does, Dependencies&& awaited)
      : work_item{call_it, static_cast<std::uint32_t>(awaited.size()) + 1}, body(std::move(does)),
        awaits(std::move(awaited)) {}

  static work_item* call_it(work_item* self, work_queue&) noexcept {
    auto* const own = static_cast<promising_item*>(self);
    const auto kept = std::move(own->itself);
    (*own->body)(*own);
    own->body.reset(); // with what it awaited: a chain of items would end as deep as it is long
    return nullptr;
  }
  // Each of the promises is a dependency, from this one on.
  template <class... Before>
  void follow([[maybe_unused]] std::size_t first, const Before&... promises) noexcept {
    (depend(awaits[first++], *promises), ...);
  }
  template <class Before> void depend(dependency& by, promised<Before>& on) noexcept {
    by.item = this;
    if (!on.follow(&by))
      work_queue::of_all().arrive(this);
  }

  std::optional<Body> body;
  Dependencies awaits;
  std::shared_ptr<promising_item> itself;
};
template <class T, class Dependencies, class Body> auto make_item(Dependencies awaits, Body body) {
  using item = promising_item<T, Body, Dependencies>;
  auto made = std::make_shared<item>(std::move(body), std::move(awaits));
  made->itself = made;
  return made;
}
template <std::size_t Number> using dependencies = std::array<dependency, Number>;

template <class F, class T> struct result_after : std::invoke_result<F&, T> {};
template <class F> struct result_after<F, void> : std::invoke_result<F&> {};

// What a future may be of.
template <class T>
concept promisable = std::is_void_v<T> || std::is_reference_v<T> || std::is_move_constructible_v<T>;
template <class F, class T>
concept follows = base::copied<F> && requires {
  typename result_after<std::decay_t<F>, T>::type;
} && promisable<typename result_after<std::decay_t<F>, T>::type>;

struct future_access {
  template <class T> static future<T> make(std::shared_ptr<promised<T>> promise) noexcept {
    return future<T>{std::move(promise)};
  }
  template <class T> static std::shared_ptr<promised<T>> take(future<T>& from) {
    static_cast<void>(from.state()); // checks that there is one
    return std::move(from.state_);
  }
};
// Its dependencies are known: it runs when they have come.
template <class T, class Body, class Dependencies>
future<T> start_item(std::shared_ptr<promising_item<T, Body, Dependencies>> made) {
  promising_item<T, Body, Dependencies>* const item = made.get();
  future<T> result = future_access::make<T>(std::move(made));
  work_queue::of_all().arrive(item);
  return result;
}

// What co_await is given. It lies in the coroutine's frame, and is the item that resumes it.
template <class T> class NOPAL_TYPE awaited_future : work_item {
public:
  explicit awaited_future(std::shared_ptr<promised<T>> from) noexcept
      : work_item{resume}, from_{std::move(from)} {}
  awaited_future(const awaited_future&) = delete;
  awaited_future& operator=(const awaited_future&) = delete;
  ~awaited_future() {
    NOPAL_ASSERT(caller_ == nullptr || from_->forget(&awaits_),
                 "a coroutine was destroyed in which co_await had a nopal::future whose result has "
                 "come, so that it is to go on; let it go on, or destroy it before");
  }

  bool await_ready() const {
    sched::stop_point();
    return vproc::on_strand() && from_->has_come();
  }
  // False: the coroutine goes on here. It may go on elsewhere before this returns. A Caller is a
  // std::coroutine_handle, whose header some compilers lack.
  template <class Caller> bool await_suspend(Caller caller) noexcept {
    deliver_partials_of_coroutine();
    caller_ = caller.address();
    resume_ = [](void* at) { Caller::from_address(at).resume(); };
    awaits_.item = this;
    if (from_->follow(&awaits_))
      return true;
    if (vproc::on_strand())
      return false;
    work_queue::of_all().add(this);
    return true;
  }
  T await_resume() {
    caller_ = nullptr;
    return from_->take();
  }

private:
  static work_item* resume(work_item* self, work_queue&) noexcept {
    const auto* const own = static_cast<awaited_future*>(self);
    own->resume_(own->caller_);
    return nullptr;
  }

  std::shared_ptr<promised<T>> from_;
  dependency awaits_;
  void* caller_ = nullptr; // null: the coroutine runs
  void (*resume_)(void*) = nullptr;
};

} // namespace detail

/// The result of what was submitted, or follows it: a value, or a reference, that one strand,
/// thread or coroutine takes.
/// @pre `get`, `wait`, `then` and co_await have one that has not been moved from. Checked.
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
    return std::exchange(state_, nullptr)->take();
  }

  /// f(value), or f() for void, in a fiber, when the result has come. What the function before has
  /// thrown passes f by.
  template <class F>
    requires detail::follows<F, T>
  future<typename detail::result_after<std::decay_t<F>, T>::type> then(F&& f) && {
    using result = typename detail::result_after<std::decay_t<F>, T>::type;
    const auto before = detail::future_access::take(*this);
    const auto made = detail::make_item<result>(
        detail::dependencies<1>{}, [before, f = std::optional{std::decay_t<F>(std::forward<F>(f))}](
                                       detail::promised<result>& to) mutable {
          if (before->has_failed()) {
            f.reset();
            to.fail(before->take_failure());
          } else if constexpr (std::is_void_v<T>) {
            to.compute(f);
          } else {
            to.compute(f, before->value());
          }
        });
    made->follow(0, before);
    return detail::start_item(made);
  }

  /// For a coroutine: it goes on with the result, or the exception, when that has come. That is
  /// always in a fiber: in the caller's, if the caller runs in one and need not wait, else in
  /// another one of what is submitted, which is in no region and no cancelable of the caller's. A
  /// coroutine that waits may be destroyed until the result has come.
  /// @throws what the function has thrown; cancelled if the calling strand is cancelled.
  detail::awaited_future<T> operator co_await() && {
    return detail::awaited_future<T>{detail::future_access::take(*this)};
  }

private:
  friend detail::future_access;
  explicit future(std::shared_ptr<detail::promised<T>> from) noexcept : state_{std::move(from)} {}

  detail::promised<T>& state() const {
    NOPAL_ASSERT(state_ != nullptr, "a nopal::future was used that has no result: it was moved "
                                    "from, or has given its result by get, then or co_await");
    return *state_;
  }

  std::shared_ptr<detail::promised<T>> state_;
};

/// Begins f(args...), with copies or what is moved, in a fiber, and returns at once.
/// @throws what their copies throw, std::bad_alloc.
/// @par Threads
/// Any thread, any strand.
/// @par Cost
/// An allocation and a lock, held for a few steps.
template <class F, class... Args>
  requires forkable<F, Args...> &&
           detail::promisable<std::invoke_result_t<std::decay_t<F>&, std::decay_t<Args>...>>
auto submit(F&& f, Args&&... args) {
  using result = std::invoke_result_t<std::decay_t<F>&, std::decay_t<Args>...>;
  return detail::start_item(detail::make_item<result>(
      detail::dependencies<0>{},
      [call = std::optional{base::closure_of(std::forward<F>(f), std::forward<Args>(args)...)}](
          detail::promised<result>& to) mutable { to.compute(call); }));
}

/// The results of all, when all have come, with std::monostate for void.
/// @throws from `get` what the first in the list has thrown that has.
/// @par Threads
/// Any thread, any strand.
template <class... T>
future<std::tuple<typename detail::promised<T>::given...>> when_all(future<T>... each) {
  using all = std::tuple<typename detail::promised<T>::given...>;
  const std::tuple from{detail::future_access::take(each)...};
  const auto made = detail::make_item<all>(
      detail::dependencies<sizeof...(T)>{}, [from](detail::promised<all>& to) {
        std::apply(
            [&to](const auto&... promises) {
              std::exception_ptr thrown;
              ((thrown = thrown == nullptr ? promises->take_failure() : std::move(thrown)), ...);
              if (thrown != nullptr)
                return to.fail(std::move(thrown));
              std::optional values{[&] { return all{promises->value()...}; }};
              to.compute(values);
            },
            from);
      });
  std::apply([&made](const auto&... promises) { made->follow(0, promises...); }, from);
  return detail::start_item(made);
}

/// The same of any number, but of no references.
template <class T>
  requires(!std::is_reference_v<T>)
future<std::vector<typename detail::promised<T>::given>> when_all(std::vector<future<T>> each) {
  using all = std::vector<typename detail::promised<T>::given>;
  std::vector<std::shared_ptr<detail::promised<T>>> from;
  for (future<T>& next : each)
    from.push_back(detail::future_access::take(next));
  const auto made = detail::make_item<all>(std::vector<detail::dependency>(from.size()),
                                           [from](detail::promised<all>& to) {
                                             for (const auto& promise : from)
                                               if (promise->has_failed())
                                                 return to.fail(promise->take_failure());
                                             std::optional values{[&] {
                                               all gathered;
                                               gathered.reserve(from.size());
                                               for (const auto& promise : from)
                                                 gathered.push_back(promise->value());
                                               return gathered;
                                             }};
                                             to.compute(values);
                                           });
  for (std::size_t i = 0; i < from.size(); ++i)
    made->follow(i, from[i]);
  return detail::start_item(made);
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
