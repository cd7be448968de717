// SPDX-License-Identifier: MIT
// Lazy splitting: a loop runs serially, piece by piece, and gives half of its rest away when a
// thief wants some. So nobody tunes a grain.
//
// A strand keeps a fork open for the loop, whose continuation is the other half of what the strand
// has begun. It opens the next one when a thief has taken that (halves.h), or asks for work (the
// deque's limit), and never where the rest is short (pace). So a loop of any length forks about
// five times where no thief comes, and a thief takes the largest part there is: that of an outer
// loop before those of inner ones.
//
// A fork is public, and may wake a thread, where a thief has asked. So what is left must be worth a
// steal (pace.h): a short loop ends alone. While it heeds no request, a strand runs at most half of
// its rest before it looks again, so that it sees soon where iterations get dearer.
//
// Where the loop is split depends on the schedule. What a Work computes does not, if its sums are
// associative: parts are united in their order.
//
// A Work provides:
//   part                         what consecutive iterations have computed
//   begin()                      a part of no iterations, to go on with behind others
//   extend(part&, from, count)   runs iterations, those behind the part's
//   unite(part&, part&&)         appends a part that another strand has computed
//   stops(part)                  if it is there: whether no iteration behind the part is wanted.
//                                Those before it are run, and those behind it are cancelled
//   least_piece(part)            if it is there: pieces are no shorter, since to extend the part is
//                                dear however few iterations are added
// Invariant: of a fork's two halves, the lower runs before or beside the upper one. So the upper
// half goes on with the lower half's part exactly if that has ended.
// Paper: lazy binary splitting (PPoPP 2010) asks whether the deque is empty; ours asks the limit.
#pragma once

#include "nopal/algorithms/pace.h"
#include "nopal/config.h"
#include "nopal/invoke.h"
#include "nopal/leaf.h"

#if !defined(NOPAL_SERIAL)
#include "nopal/algorithms/halves.h"
#include "nopal/sched/preemption.h"
#include "nopal/vproc/worker_deque.h"
#endif

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::algorithms {

#if !defined(NOPAL_SERIAL)
template <class Work> struct lazy_loop {
  using part = typename Work::part;
  const Work& work;
  pace& steps;
};

template <class Work> bool stops(const Work& work, const typename Work::part& sum) {
  if constexpr (requires { work.stops(sum); })
    return work.stops(sum);
  else
    return false;
}

// A piece of `count` iterations, or a longer one, if the part is to be extended by more.
template <class Work>
std::size_t at_least(const Work& work, const typename Work::part& sum, std::size_t count,
                     std::size_t rest) {
  if constexpr (requires { work.least_piece(sum); })
    return std::min(std::max(count, work.least_piece(sum)), rest);
  else
    return count;
}

template <bool Outermost, class Work>
bool split(const lazy_loop<Work>& all, std::size_t from, std::size_t to, typename Work::part& low);
template <class Work>
bool run_outermost(const lazy_loop<Work>& all, std::size_t from, std::size_t to,
                   typename Work::part& sum);

template <class Work>
void run_piece(const lazy_loop<Work>& all, std::size_t from, std::size_t count,
               typename Work::part& sum) {
  nopal::leaf([work = &all.work, at = &sum, from, count] { work->extend(*at, from, count); });
}

// Iterations [from, to), by pieces. `above`: the fork whose continuation is the other half; null:
// none is open. False: what is behind is not to run, since the part stops or the strand does.
template <class Work>
bool run_pieces(const lazy_loop<Work>& all, std::size_t from, std::size_t to,
                typename Work::part& sum, const halves* above) {
  const pace& steps = all.steps;
  own_pace own{all.steps};
  while (from < to) {
    const std::size_t rest = to - from;
    std::size_t count = own.piece(rest);
    const bool asked = !vproc::current_deque()->deque.allows_here();
    if (asked || (above != nullptr ? above->upper_begun() : rest > steps.unasked)) {
      if (asked && sched::stops_at_poll_slow())
        return false;
      if (rest > steps.smallest) {
        if (own.pays(rest, asked))
          return split<false>(all, from, to, sum);
        count = own.unheeded(rest);
      } else if (asked) { // always, where a seed decides what runs next, and not the clock
        count = std::min<std::size_t>(rest, 65536);
      }
    }
    count = at_least(all.work, sum, count, rest);
    own.begin(asked);
    run_piece(all, from, count, sum);
    own.end(count, rest - count);
    if (stops(all.work, sum))
      return false;
    from += count;
  }
  return true;
}

// Forks the lower half. The scope's frame is this function's: inlined into a coroutine, the scope
// would lie on the heap.
template <bool Outermost, class Work>
[[gnu::noinline]] bool split(const lazy_loop<Work>& all, std::size_t from, std::size_t to,
                             typename Work::part& low) {
  const std::size_t middle = to - std::max((to - from) / 2, std::size_t{1});
  if (!all.steps.shared)
    all.steps.shared = true;
  halves both;
  std::optional<typename Work::part> high;
  bool complete = false;
  detail::structured_scope s;
  s.fork([&] {
    if (!run_pieces(all, from, middle, low, &both))
      return join::ended::stopped;
    both.end_lower();
    return join::ended::well;
  });
  both.begin_upper();
  s.call_last([&] {
    if (!both.lower_ended()) {
      complete = run_pieces(all, middle, to, high.emplace(all.work.begin()), nullptr);
    } else if constexpr (Outermost) { // no thief has come, or just now
      complete = run_outermost(all, middle, to, low);
    } else {
      complete = run_pieces(all, middle, to, low, nullptr);
    }
  });
  if (!s.try_join() || !(complete || (high && stops(all.work, *high))))
    return false;
  if (high)
    all.work.unite(low, *std::move(high));
  return complete;
}

// Runs iterations until half of the rest is worth a steal, and returns where it stopped: `to` where
// the part stops. It neither polls nor forks.
template <class Work>
std::size_t run_unshared(const lazy_loop<Work>& all, std::size_t from, std::size_t to,
                         typename Work::part& sum) {
  if (sched::seed_decides())
    return from;
  own_pace own{all.steps};
  while (from < to && !own.pays(to - from, true)) {
    const std::size_t rest = to - from;
    const std::size_t count = at_least(all.work, sum, own.unheeded(rest), rest);
    own.begin(true);
    run_piece(all, from, count, sum);
    own.end(count, rest - count);
    if (stops(all.work, sum))
      return to;
    from += count;
  }
  return from;
}

// On a thread that runs no strands: a group begins, which costs more than many a loop, where what
// is left is worth a steal.
template <class Work>
bool run_outermost(const lazy_loop<Work>& all, std::size_t from, std::size_t to,
                   typename Work::part& sum) {
  from = run_unshared(all, from, to, sum);
  if (to - from > 1)
    return split<true>(all, from, to, sum);
  return from == to || run_pieces(all, from, to, sum, nullptr);
}
#endif

// How a loop runs in its strand.
struct in_place {};

// Runs `count` iterations, or up to where they stop, and adds to the part. Throws cancelled, if the
// strand is. `length`: the elements of each iteration. `past`: what an element took in loops that
// are likely to take as long. `apart`: how a strand runs what is not worth a steal, and the rest.
template <class Work, class Apart = in_place>
void fold_lazily(std::size_t count, const Work& work, typename Work::part& sum,
                 [[maybe_unused]] std::size_t length = 1,
                 [[maybe_unused]] past_cost& past = past_cost_of<Work>,
                 [[maybe_unused]] const Apart& apart = {}) {
  if (count == 0)
    return;
#if defined(NOPAL_SERIAL)
  work.extend(sum, 0, count);
#else
  if constexpr (std::is_same_v<Apart, in_place>) {
    if (count == 1)
      return work.extend(sum, 0, 1);
  }
  pace steps{count, length, past.get()};
  const lazy_loop<Work> all{work, steps};
  const bool outermost = !vproc::current_deque()->deque.allows_here() && !sched::runs_strand();
  bool complete = true;
  if (outermost) {
    complete = run_outermost(all, 0, count, sum);
  } else if constexpr (std::is_same_v<Apart, in_place>) {
    complete = run_pieces(all, 0, count, sum, nullptr);
  } else {
    std::size_t from = 0;
    apart.unshared([&] { from = run_unshared(all, 0, count, sum); });
    if (from < count)
      apart([&] { complete = run_pieces(all, from, count, sum, nullptr); });
  }
  if (!steps.unmeasured)
    past.note(steps.average(), steps.cycles.load(base::relaxed));
  if (!complete && !stops(work, sum))
    join::throw_cancelled();
#endif
}

// How a loop holds a function. A copy of one that is small and no more than bytes lies in registers
// in a piece; behind a reference each store of the loop might change it.
template <class F> consteval bool held_by_value() {
  if constexpr (std::is_trivially_copyable_v<F> && std::is_copy_constructible_v<F>)
    return sizeof(F) <= 64;
  else
    return false;
}
template <class F> using held = std::conditional_t<held_by_value<F>(), F, const F&>;
template <class F> auto hold(const F& f) {
  if constexpr (std::is_reference_v<held<F>>)
    return std::cref(f);
  else
    return f;
}

// body(from, count) for pieces of [0, count), in any order and possibly at the same time.
template <class Body> struct pieces {
  struct part {};
  const Body& body;

  part begin() const noexcept { return {}; }
  void extend(part&, std::size_t from, std::size_t count) const {
    const held<Body> own = body;
    own(from, count);
  }
  void unite(part&, part&&) const noexcept {}
};
template <class Body, class Apart = in_place>
void for_pieces(std::size_t count, const Body& body, std::size_t length = 1,
                past_cost& past = past_cost_of<Body>, const Apart& apart = {}) {
  typename pieces<Body>::part none;
  fold_lazily(count, pieces<Body>{body}, none, length, past, apart);
}

// A function of two numbers without its type.
class piece_ref {
public:
  template <class F>
  explicit piece_ref(const F& f) noexcept
      : f_{&f}, call_{[](const void* body, std::size_t i, std::size_t j) {
          const held<F> own = *static_cast<const F*>(body);
          own(i, j);
        }} {}
  void operator()(std::size_t i, std::size_t j) const { call_(f_, i, j); }

private:
  const void* f_;
  void (*call_)(const void* f, std::size_t i, std::size_t j);
};
// As for_pieces, where a call more does not count. All such loops are one function.
template <class Body>
void for_long_pieces(std::size_t count, const Body& body, std::size_t length = 1,
                     past_cost& past = past_cost_of<Body>) {
  for_pieces(count, piece_ref{body}, length, past);
}

} // namespace nopal::inline NOPAL_ABI::algorithms
NOPAL_HIDDEN_END
