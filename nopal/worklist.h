// SPDX-License-Identifier: MIT
// A loop whose body adds work: graphs and trees that become known as they are walked.
//
//     nopal::for_worklist({root}, [&](node* at, nopal::worklist<node*>& more) {
//       for (node* next : at->neighbours)
//         if (!next->seen.exchange(true))
//           more.add(next);
//     });
//
// The loop ends when the body has been called with each of the first items and with all that was
// added, in any order and possibly at the same time. A strand takes the newest item that it has, so
// it keeps no more items than lie beside one path of additions, and what a body touches is likely
// to be in a cache. A thief is given the older half.
//
// Exceptions: one that leaves a body ends the loop, which throws it; bodies that have begun come to
// their end, and the rest is dropped. Of several the serially first is thrown, the others count as
// suppressed (runtime.h). Cancellation: as of other loops (cancel.h), between two calls.
#pragma once

#include "nopal/config.h"
#include "nopal/loop.h"

#if !defined(NOPAL_SERIAL)
#include "nopal/algorithms/halves.h"
#include "nopal/base/atomic.h"
#include "nopal/base/flag.h"
#include "nopal/base/spin_lock.h"
#endif

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <list>
#include <type_traits>
#include <utility>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// What the body of for_worklist adds items to.
/// @par Threads
/// The strand that the body was called in; what the body forks returns its items to that one.
template <class T> class NOPAL_TYPE worklist {
public:
  /// The body will be called with this item, too, unless the loop ends early.
  void add(T item) { items_.push_back(std::move(item)); }

  explicit worklist(std::vector<T>& items) noexcept : items_(items) {}
  worklist(const worklist&) = delete;
  worklist& operator=(const worklist&) = delete;

private:
  std::vector<T>& items_;
};

namespace detail {

// Calls the body with the newest item. A function of its own: what the body needs of the stack is
// free again when the strand's list is split.
template <class T, class F>
[[gnu::noinline]] void take_newest(std::vector<T>& items, const F& body, worklist<T>& more) {
  T item(std::move(items.back()));
  items.pop_back();
  static_cast<void>(call(body, std::move(item), more));
}

#if defined(NOPAL_SERIAL)
template <class T, class F> void run_worklist(std::vector<T> items, const F& body) {
  worklist<T> more{items};
  while (!items.empty())
    take_newest(items, body, more);
}
#else
// Each strand has a list. It keeps a fork open whose continuation is the older half of what it had,
// as a loop does (algorithms/lazy.h), and opens another when that was taken. The forks that were
// taken nest: a strand that has given away so often sets its list aside, for the next strand of the
// loop that has none, and begins anew as a thief. So the stack that it takes has a bound.
template <class T, class F> class worklist_loop {
public:
  explicit worklist_loop(const F& body) noexcept : body_(body) {}

  // The frame of its scopes is this function's. The calling thread may run no strands: its forks
  // cost more than those below its first child.
  [[gnu::noinline]] void run_all(std::vector<T> items) {
    while (!items.empty()) {
      structured_scope s;
      s.fork([&] { return run(items, nullptr, 0) ? join::ended::well : join::ended::stopped; });
      if (!s.try_join())
        join::throw_cancelled();
      adopt(items); // lists that were set aside last
    }
  }

private:
  using list = std::vector<T>;
  static constexpr unsigned deepest = 128;

  // Runs all of this, and what that adds. `above`: the fork whose continuation is the strand's
  // older half; null: none is open. `depth`: how often the strand has split on this stack. False:
  // the strand is cancelled.
  bool run(list& own, const algorithms::halves* above, unsigned depth) {
    try {
      worklist<T> more{own};
      while (!own.empty()) {
        if (ended_.taken()) {
          own.clear();
          return true;
        }
        if (stops_at_poll())
          return false;
        if (own.size() > 1 && (above == nullptr || above->upper_begun())) {
          if (depth < deepest)
            return split(own, depth);
          if (above != nullptr) {
            set_aside(own);
            return true;
          }
        }
        take_newest(own, body_, more);
        if (own.empty() && depth < deepest)
          adopt(own);
      }
      return true;
    } catch (...) {
      ended_.take();
      throw;
    }
  }

  [[gnu::noinline]] bool split(list& own, unsigned depth) {
    list older = take_older(own);
    algorithms::halves both;
    bool complete = false;
    structured_scope s;
    s.fork([&] { return run(own, &both, depth + 1) ? join::ended::well : join::ended::stopped; });
    both.begin_upper();
    s.call_last([&] { complete = run(older, nullptr, s.stolen() ? 0 : depth + 1); });
    return s.try_join() && complete;
  }

  // Elements need not be assignable.
  static list take_older(list& own) {
    const auto middle = std::next(own.begin(), static_cast<std::ptrdiff_t>(own.size() / 2));
    list newer(std::make_move_iterator(middle), std::make_move_iterator(own.end()));
    for (std::size_t left = newer.size(); left > 0; --left)
      own.pop_back();
    own.swap(newer);
    return newer;
  }

  void set_aside(list& own) {
    std::list<list> one; // the lock is not held while memory is allocated
    one.push_back(std::move(own));
    own.clear();
    const base::locked guard{lock_};
    aside_.splice(aside_.begin(), one);
    set_aside_.store(true, base::relaxed);
  }
  void adopt(list& own) {
    if (!set_aside_.load(base::relaxed)) // the join shows all of them to the last strand
      return;
    std::list<list> one;
    {
      const base::locked guard{lock_};
      if (!aside_.empty())
        one.splice(one.begin(), aside_, aside_.begin());
      set_aside_.store(!aside_.empty(), base::relaxed);
    }
    if (!one.empty())
      own = std::move(one.front());
  }

  const F& body_;
  base::flag ended_; // by an exception
  base::atomic<bool> set_aside_{false};
  base::spin_lock lock_;
  std::list<list> aside_;
};

template <class T, class F> void run_worklist(std::vector<T> items, const F& body) {
  worklist_loop<T, F>{body}.run_all(std::move(items));
}
#endif

template <class Range, class T = std::ranges::range_value_t<Range>>
concept lists = std::is_same_v<Range, std::vector<T>> ||
                std::constructible_from<T, std::ranges::range_reference_t<Range>>;
template <class Range> std::vector<std::ranges::range_value_t<Range>> list_of(Range&& range) {
  using list = std::vector<std::ranges::range_value_t<Range>>;
  if constexpr (std::is_same_v<Range, list>) {
    return std::forward<Range>(range);
  } else {
    list items;
    if constexpr (std::ranges::sized_range<Range>)
      items.reserve(count_of(std::ranges::distance(range)));
    for (auto&& each : range)
      items.emplace_back(std::forward<decltype(each)>(each));
    return items;
  }
}

} // namespace detail

/// body(item, worklist) for every item of the range, and for every one that a body adds. A
/// std::vector that is moved to it is taken over, so its items need not be copied.
/// @throws what a body throws; cancelled.
/// @par Threads
/// Any thread, any strand. `body` is called as const, by several strands at a time.
/// @par Cost
/// n items take O(n) beside their bodies, and a move of half of a strand's list for each steal.
/// Where additions nest d deep and a body adds at most b items, a strand keeps b d items beside the
/// first ones, and at most 128 frames of a fork.
/// @par Paper
/// Kulkarni, Pingali, et al. (PLDI 2007), whose unordered sets are these.
template <std::ranges::input_range Range, class F>
  requires std::move_constructible<std::ranges::range_value_t<Range>> && detail::lists<Range> &&
           std::invocable<const F&, std::ranges::range_value_t<Range>,
                          worklist<std::ranges::range_value_t<Range>>&>
void for_worklist(Range&& first, const F& body) {
  detail::run_worklist(detail::list_of(std::forward<Range>(first)), body);
}
template <std::copy_constructible T, class F>
  requires std::invocable<const F&, T, worklist<T>&>
void for_worklist(std::initializer_list<T> first, const F& body) {
  detail::run_worklist(std::vector<T>(first), body);
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
