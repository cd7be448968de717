// SPDX-License-Identifier: MIT
// Reducers: variables that strands add to without a lock, with the result of the serial elision.
//
//     nopal::reducer<nopal::appending<std::string>> out;
//     nopal::for_index(0, n, [&](int i) { *out += line(i); });   // also in what this calls
//     print(*out.value());                                       // after the join: in serial order
//
// A strand adds to the value that it has; a thief begins with an identity of its own, and the join
// combines the two in serial order. So `combine` must be associative, not commutative, and what one
// strand reads of a value is a part of it. Where nothing is stolen there is one value.
//
//     struct largest {                                           // a monoid: stateless
//       static int identity() { return INT_MIN; }
//       static void combine(int& low, int&& high) { low = std::max(low, high); }
//     };
//
// What a child has added before it threw stays. What fibers add (fiber.h) is combined when the
// nopal::run returns that waits for them: that of the function that `run` was given comes first,
// that of other fibers in the order in which these ended.
//
// Where there is no serial order, what others add comes behind what is joined, in the order in
// which they ended: the fibers of the `run` in which the reducer was made; tasks of a group and
// what is submitted, when their function has returned; other threads, when they end. `value` is
// right where the program waits for that: join, get, wait. Where one goes on that has added, it
// ends the program with a sentence.
// Paper: Reducers and Other Cilk++ Hyperobjects (SPAA 2009).
#pragma once

#include "nopal/config.h"

#if !defined(NOPAL_SERIAL)
#include "nopal/base/check.h"
#include "nopal/base/sanitizer.h"
#include "nopal/join/partials.h"
#include "nopal/sched/ancestry.h"
#include "nopal/vproc/context.h"
#include "nopal/vproc/strand.h"
#include "nopal/vproc/worker.h"
#endif

#include <concepts>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// The monoid of a reducer: an empty class, of which an object returns identity(), and adds a value
/// to the one that lies serially before it by combine(low, high). combine neither forks, waits,
/// throws, nor uses a reducer.
template <class M>
concept monoid = std::is_empty_v<M> && std::default_initializable<M> && requires(M m) {
  { m.identity() } -> std::move_constructible;
  m.combine(std::declval<std::add_lvalue_reference_t<decltype(m.identity())>>(), m.identity());
};

/// Numbers, and what else `+=` adds: T{} is the identity.
template <class T> struct NOPAL_TYPE adding {
  static T identity() { return T{}; }
  static void combine(T& low, T&& high) { low += std::move(high); }
};
/// Sequences, one behind the other: std::string, std::vector, std::list.
template <class T> struct NOPAL_TYPE appending {
  static T identity() { return T{}; }
  static void combine(T& low, T&& high) {
    if constexpr (requires { low.splice(low.end(), high); })
      low.splice(low.end(), high);
    else if (low.empty())
      low = std::move(high);
    else
      low.insert(low.end(), std::make_move_iterator(high.begin()),
                 std::make_move_iterator(high.end()));
  }
};

/// A variable that strands add to.
/// @pre What adds to it has ended before it is destroyed. Checked by `value` and `take`: it is
/// joined, or has ended as this page's head says.
/// @par Threads
/// `*` and `->` any strand and any thread; what they return is the strand's own until its next
/// fork, join or wait, and before the end of its function. `value` and `take` the strand that made
/// it, where it has joined all that adds.
/// @par Cost
/// `*` and `->`: some twenty instructions; a value for each steal, made when the thief adds, and
/// combined at the join. A fork costs nothing more.
/// @par Paper
/// Frigo, Halpern, Leiserson, Lewin-Berlin (SPAA 2009).
template <monoid M> class NOPAL_TYPE reducer {
public:
  using value_type = std::remove_cvref_t<decltype(M{}.identity())>;

  reducer() : reducer{M{}.identity()} {}
  explicit reducer(value_type first) : first_(std::move(first)) {}
  reducer(const reducer&) = delete;
  reducer& operator=(const reducer&) = delete;

#if defined(NOPAL_SERIAL)
  value_type& operator*() { return first_; }
  value_type& value() noexcept { return first_; }
#else
  ~reducer() {
    calls.destroy(join::partials::take(vproc::own_partials(), name_));
    join::return_reducer_name(name_); // what others have of it goes with them
  }

  /// A value that the strand may add to.
  /// @throws what M's identity throws.
  [[gnu::always_inline]] value_type& operator*() {
    join::partials* const own = vproc::current()->partials;
    if (own != nullptr) [[likely]]
      if (void* const found = own->find(name_); found != nullptr) [[likely]] {
        NOPAL_IF_SEEN(base::note_use(found));
        return *static_cast<value_type*>(found);
      }
    return find_or_make();
  }

  /// All that has been added, in serial order, and then what others have added.
  value_type& value() noexcept {
    add(join::partials::take(vproc::own_partials(), name_));
    const bool complete = name_.home->alone() || name_.home->alone_soon();
    add(name_.home->take_delivered());
    NOPAL_ASSERT(complete,
                 "the value of a nopal::reducer was asked for while a strand, a fiber or a thread "
                 "that has added to it goes on, or is not joined by the one that asks; ask where "
                 "it is: for fibers behind nopal::run, or make the reducer within it");
    return first_;
  }
#endif
  value_type* operator->() { return std::addressof(**this); }

  /// The same; it begins anew.
  [[nodiscard]] value_type take() { return std::exchange(value(), M{}.identity()); }

private:
#if !defined(NOPAL_SERIAL)
  static void combine(void* low, void* high) noexcept {
    M{}.combine(*static_cast<value_type*>(low), std::move(*static_cast<value_type*>(high)));
  }
  static void destroy(void* value) noexcept { delete static_cast<value_type*>(value); }
  static constexpr join::partial_calls calls{combine, destroy};

  static const void* computation_here() noexcept {
    const auto* const context = sched::current_context();
    return context == nullptr ? nullptr : context->computation;
  }

  void add(void* taken) noexcept {
    if (taken == nullptr)
      return;
    combine(std::addressof(first_), taken);
    destroy(taken);
  }

  [[gnu::noinline]] value_type& find_or_make() {
    join::partials* const own = vproc::own_partials();
    if (void* const found = own == nullptr ? nullptr : own->find(name_)) {
      NOPAL_IF_SEEN(base::note_use(found));
      return *static_cast<value_type*>(found);
    }
    auto made = std::make_unique<value_type>(M{}.identity());
    NOPAL_IF_SEEN(base::note_use(made.get()));
    NOPAL_IF_SEEN(const base::unseen while_it_is_put);
    join::partials::put(vproc::own_partials(), name_, made.get());
    return *made.release();
  }

  const join::reducer_name name_ = join::take_reducer_name(calls, computation_here());
#endif
  value_type first_;
};

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
