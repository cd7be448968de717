// SPDX-License-Identifier: MIT
// either(f, g, ...): parallel-or. The alternatives run in parallel; the first value is the answer,
// and what still runs is cancelled (cancel.h).
//
//     std::optional<path> found = nopal::either([&] { return search(left); },
//                                               [&] { return search(right); });
//
//     nopal::either(servers, [&](server& each) { return each.ask(question); });   // a range
//
// An alternative that returns a std::optional fails by returning none; one that throws has failed,
// too; any other result is a value. Where all have failed there is no answer: the serially first
// exception is thrown, if any threw; so an empty range gives none. std::monostate stands for void.
//
// Returns when all alternatives have stopped, with all that they forked and their destructors. With
// a cancel_scope as its first argument it returns as soon as there is an answer: copies of the
// functions may still run. These belong to that scope, which is cancelled, and whose join waits for
// them. What the functions refer to outlives that scope's join.
//
// No alternative that forks or polls starves another one, also on one worker, as long as the timer
// runs (NOPAL_TICK). Thread rules: any thread, any strand. Compiled with NOPAL_SERIAL the
// alternatives are called one after another, up to the first value.
//
// Paper: manticore-icfp08, section 6.4.
#pragma once

#include "nopal/cancel.h"
#include "nopal/config.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#if !defined(NOPAL_SERIAL)
#include "nopal/base/flag.h"
#include "nopal/cancel/cancel.h"
#include "nopal/fibers/waits.h"
#include "nopal/sched/forks.h"
#include "nopal/sched/stop.h"
#include "nopal/vproc/timer.h"
#endif

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

namespace detail {

template <class T> struct value_of {
  using type = T;
};
template <class T> struct value_of<std::optional<T>> {
  using type = T;
};
template <> struct value_of<void> {
  using type = std::monostate;
};
template <class F>
using alternative_value = typename value_of<std::decay_t<std::invoke_result_t<F&>>>::type;
template <class... F> using answer_of = std::optional<std::common_type_t<alternative_value<F>...>>;

template <class F, class Answer>
concept answers =
    std::is_constructible_v<typename Answer::value_type, alternative_value<F>> &&
    std::is_move_constructible_v<typename Answer::value_type> &&
    std::is_move_constructible_v<alternative_value<F>> &&
    (std::is_void_v<std::invoke_result_t<F&>> ||
     std::is_constructible_v<std::optional<alternative_value<F>>, std::invoke_result_t<F&>>);
template <class... F>
concept give_answers =
    requires { typename answer_of<F...>; } && (answers<F, answer_of<F...>> && ...);

template <class F> std::optional<alternative_value<F>> ask(F& alternative) {
  if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
    alternative();
    return std::monostate{};
  } else {
    return std::optional<alternative_value<F>>{alternative()};
  }
}

// The alternative that an element of a range stands for.
template <class At, class F, class Kept = base::kept_result<F&, std::iter_reference_t<At>>>
struct applied {
  At at;
  F* f;
  Kept operator()() { return base::call(*f, *at); }
};
template <class Range, class F>
using applied_in = applied<std::ranges::iterator_t<Range>, std::remove_reference_t<F>>;

// The same with copies.
template <class Element, class F> struct copied_application {
  Element element;
  F f;
  std::invoke_result_t<F&, Element&> operator()() { return base::call(f, element); }
};
template <class Range, class F>
concept copied_elements = std::is_convertible_v<std::ranges::range_reference_t<Range>,
                                                std::ranges::range_value_t<Range>> &&
                          std::is_invocable_v<F&, std::ranges::range_value_t<Range>&>;
template <class Range, class F>
using copy_applied = copied_application<std::ranges::range_value_t<Range>, std::decay_t<F>>;

// Calls elements that are functions.
struct calls_it {
  template <class F>
    requires std::is_invocable_v<F>
  decltype(auto) operator()(F&& f) const {
    return base::call(std::forward<F>(f));
  }
};

#if defined(NOPAL_SERIAL)
// What the alternatives that were asked so far have found.
template <class Answer> struct serial_cell {
  template <class F> void call(F& alternative) {
    try {
      if (!answer)
        if (auto given = ask(alternative))
          answer.emplace(*std::move(given));
    } catch (...) {
      if (thrown == nullptr)
        thrown = std::current_exception();
    }
  }
  Answer result() {
    if (!answer && thrown != nullptr)
      std::rethrow_exception(thrown);
    return std::move(answer);
  }
  Answer answer;
  std::exception_ptr thrown; // the first
};

template <class... F> answer_of<F...> first_answer(F&... f) {
  serial_cell<answer_of<F...>> cell;
  (cell.call(f), ...);
  return cell.result();
}
template <class Range, class F> auto first_answer_in(Range& range, F& f) {
  serial_cell<answer_of<applied_in<Range&, F>>> cell;
  for (auto at = std::ranges::begin(range); at != std::ranges::end(range) && !cell.answer; ++at) {
    applied_in<Range&, F> each{at, std::addressof(f)};
    cell.call(each);
  }
  return cell.result();
}
#else
// Where alternatives leave what they found. The first with a value claims the answer. Thrown: an
// exception of each.
template <class Answer, class Thrown> struct alternatives_cell {
  base::flag claimed;
  Answer answer;
  Thrown thrown{};

  // Calls `answered` if this is the answer, then cancels `region`.
  template <class F, class Region, class Then>
  join::ended call(std::size_t which, F& f, Region& region, Then answered) {
    try {
      if (auto given = ask(f); given && claimed.take()) {
        answer.emplace(*std::move(given));
        answered();
        region.cancel();
      }
      return join::ended::well;
    } catch (const cancelled& caught) {
      caught.note_kept();
      if (!region.cancelled() && !is_cancelled())
        thrown[which] = std::current_exception(); // of a region of its own
      else
        return join::ended::stopped;
    } catch (...) {
      thrown[which] = std::current_exception();
    }
    return join::ended::well;
  }
  Answer result() {
    if (!answer) // all have failed, or the first value threw when it was moved here
      for (const std::exception_ptr& each : thrown)
        if (each != nullptr)
          std::rethrow_exception(each);
    return std::move(answer);
  }
};

struct announced_alternatives {
  announced_alternatives() noexcept { cancel::begin_alternatives(); }
  ~announced_alternatives() { vproc::end_alternatives(); }
  announced_alternatives(const announced_alternatives&) = delete;
  announced_alternatives& operator=(const announced_alternatives&) = delete;
};

// A cancel_scope that is cancelled by its alternatives alone, and says so where its strand is.
class alternatives_scope : public any_scope<join::fork_kind::region, cancel_frame> {
public:
  [[gnu::always_inline]] inline alternatives_scope() noexcept {}
  [[gnu::always_inline]] inline ~alternatives_scope() noexcept(false) {
    if (frame_.needs_join()) [[unlikely]] { // a fork has thrown
      cancel();
      wait();
    }
    sched::end_region(arch::address_of(frame_));
  }

  void cancel() noexcept { cancel::cancel(frame_.node); }
  bool cancelled() const noexcept { return frame_.cancelled(); }

  // Waits for all alternatives. False: the calling strand is to stop.
  [[gnu::always_inline]] inline bool settle() {
    if (is_joined()) [[likely]]
      return true;
    wait();
    sched::finish_children(arch::address_of(frame_));
    return !sched::stops_here();
  }
};

template <class Answer> struct outcome {
  bool settled;
  Answer answer{};
};

// By now all is destroyed but what it returns, so that there is less to unwind at each level. Its
// scope's frame is this function's: inlined into a coroutine, the scope would lie on the heap.
template <class... F> [[gnu::noinline]] outcome<answer_of<F...>> try_alternatives(F&... f) {
  alternatives_cell<answer_of<F...>, std::array<std::exception_ptr, sizeof...(F)>> cell;
  const announced_alternatives announced;
  alternatives_scope s;
  std::size_t which = 0;
  (s.fork([&cell, &s, &f, number = which++] { return cell.call(number, f, s, [] {}); }), ...);
  if (!s.settle())
    return {false};
  return {true, cell.result()};
}

template <class At, class F>
[[gnu::noinline]] outcome<answer_of<applied<At, F>>> try_each(At at, std::size_t count, F& f) {
  alternatives_cell<answer_of<applied<At, F>>, std::vector<std::exception_ptr>> cell;
  cell.thrown.resize(count);
  const announced_alternatives announced;
  alternatives_scope s;
  for (std::size_t number = 0; number < count && !s.cancelled(); ++number, ++at)
    s.fork([&cell, &s, number, each = applied<At, F>{at, std::addressof(f)}]() mutable {
      return cell.call(number, each, s, [] {});
    });
  if (!s.settle())
    return {false};
  return {true, cell.result()};
}

template <class Answer> Answer answer_or_throw(outcome<Answer> all) {
  if (!all.settled)
    throw cancelled{};
  return std::move(all.answer);
}
template <class... F> [[gnu::always_inline]] inline answer_of<F...> first_answer(F&... f) {
  return answer_or_throw(try_alternatives(f...));
}
template <class Range, class F>
[[gnu::always_inline]] inline auto first_answer_in(Range& range, F& f) {
  const auto count = static_cast<std::size_t>(std::ranges::distance(range));
  return answer_or_throw(try_each(std::ranges::begin(range), count, f));
}

// The same, shared by the caller and the alternatives, which live longer.
template <class Answer, class Thrown> struct shared_cell : alternatives_cell<Answer, Thrown> {
  explicit shared_cell(std::size_t count) : left{count} {
    if constexpr (requires { this->thrown.resize(count); })
      this->thrown.resize(count);
  }

  fibers::event settled; // there is an answer, or none can come any more
  base::atomic<std::size_t> left;
  const announced_alternatives until_all_have_ended;

  Answer wait(const cancel_scope& losers) {
    settled.wait(sync::wanted::alternative);
    if (!this->claimed.taken() && (losers.cancelled() || is_cancelled()))
      join::throw_cancelled();
    return this->result();
  }

  // What an alternative holds, whether it is run or skipped.
  class share {
  public:
    explicit share(std::shared_ptr<shared_cell> all) noexcept : all_{std::move(all)} {}
    share(share&&) noexcept = default;
    share& operator=(share&&) = delete;
    ~share() {
      if (all_ && all_->left.fetch_sub(1, base::acq_rel) == 1 && !all_->settled.happened())
        all_->settled.happen();
    }

    template <class F> join::ended call(std::size_t which, F& f, cancel_scope& losers) {
      return all_->call(which, f, losers, [this] { all_->settled.happen(); });
    }

  private:
    std::shared_ptr<shared_cell> all_;
  };
};
#endif

} // namespace detail

/// What either takes: each function can be called without arguments, and the values that they
/// return have a common type, to which each can be converted.
template <class... F>
concept alternatives = sizeof...(F) > 0 &&
                       (std::is_invocable_v<F&> && ...) && detail::give_answers<F...>;

/// What either takes instead of them: a range, and a function that can be called with each of its
/// elements, by several strands at the same time, and returns what an alternative does.
template <class Range, class F>
concept range_of_alternatives = std::ranges::forward_range<Range> && !std::is_invocable_v<Range> &&
                                std::is_invocable_v<F&, std::ranges::range_reference_t<Range>> &&
                                alternatives<detail::applied_in<Range, F>>;

template <class... F>
  requires alternatives<F...>
[[gnu::always_inline]] inline auto either(F&&... f) {
  return detail::first_answer(f...);
}
/// f(element) of each element of the range is an alternative.
template <class Range, class F>
  requires range_of_alternatives<Range&, F&>
[[gnu::always_inline]] inline auto either(Range&& range, F&& f) {
  return detail::first_answer_in(range, f);
}
/// The elements are the alternatives.
template <class Range>
  requires range_of_alternatives<Range&, const detail::calls_it&>
[[gnu::always_inline]] inline auto either(Range&& range) {
  return nopal::either(range, detail::calls_it{});
}

/// Returns at once. Only the function that declares `losers` calls this, since it forks there.
template <class... F>
  requires alternatives<std::decay_t<F>...> && base::copied<F...> &&
           (std::is_move_constructible_v<std::decay_t<F>> && ...)
[[gnu::always_inline]] inline auto either(cancel_scope& losers, F&&... f) {
#if defined(NOPAL_SERIAL)
  const auto of_copies = [](std::decay_t<F>... own) { return detail::first_answer(own...); };
  auto answer = of_copies(std::forward<F>(f)...);
  losers.cancel();
  return answer;
#else
  using cell_type = detail::shared_cell<detail::answer_of<std::decay_t<F>...>,
                                        std::array<std::exception_ptr, sizeof...(F)>>;
  const auto cell = std::make_shared<cell_type>(sizeof...(F));
  std::size_t which = 0;
  (losers.fork([share = typename cell_type::share(cell), &losers, number = which++,
                own = std::decay_t<F>(std::forward<F>(f))]() mutable {
    return share.call(number, own, losers);
  }),
   ...);
  return cell->wait(losers);
#endif
}
/// The same with copies of the elements and of f, of which each alternative has its own.
template <class Range, class F>
  requires range_of_alternatives<Range&, F&> && base::copied<F&> &&
           detail::copied_elements<Range&, std::decay_t<F>>
[[gnu::always_inline]] inline auto either(cancel_scope& losers, Range&& range, F&& f) {
  using function = detail::copy_applied<Range, F>;
#if defined(NOPAL_SERIAL)
  std::vector<function> copies;
  for (auto&& each : range)
    copies.push_back({std::forward<decltype(each)>(each), f});
  auto answer = nopal::either(copies);
  losers.cancel();
  return answer;
#else
  using cell_type =
      detail::shared_cell<detail::answer_of<function>, std::vector<std::exception_ptr>>;
  const auto count = static_cast<std::size_t>(std::ranges::distance(range));
  const auto cell = std::make_shared<cell_type>(count);
  auto at = std::ranges::begin(range);
  for (std::size_t number = 0; number < count; ++number, ++at)
    losers.fork([share = typename cell_type::share(cell), &losers, number,
                 own = function{*at, f}]() mutable { return share.call(number, own, losers); });
  return count == 0 ? detail::answer_of<function>{} : cell->wait(losers);
#endif
}
template <class Range>
  requires range_of_alternatives<Range&, const detail::calls_it&> &&
           detail::copied_elements<Range&, detail::calls_it>
[[gnu::always_inline]] inline auto either(cancel_scope& losers, Range&& range) {
  return nopal::either(losers, range, detail::calls_it{});
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
