// SPDX-License-Identifier: MIT
// A pipeline: items go through stages one after the other, and several items are under way.
//
//     nopal::pipeline(
//         16,                                                         // items in flight
//         [&]() -> std::optional<block> { return read_block(in); },   // the source
//         nopal::parallel_stage([](block b) { return compress(b); }), // several at a time
//         nopal::ordered_stage([&](block b) { write(out, b); }));     // in the source's order
//
// The source is called by one strand at a time; what it gives, if it gives something, is an item: a
// std::optional, or a pointer to an item, which is copied. Each stage is given what the one before
// returned; what the last one returns is dropped. An ordered stage has one item at a time, in the
// order in which the source gave them; an unordered stage one at a time, in any order; a parallel
// stage any number.
//
// A strand takes an item through all stages, unless the item has to wait for its turn at an ordered
// stage: then the strand that brings the turn takes it on. So on one worker the pipeline is a loop
// over the items, as the serial elision is. Items are children of forks (fork.h), and a stage may
// fork.
//
// Exceptions: as of the serial elision: the first item that fails throws, after all that had begun
// have ended; the source is not called any more, and items behind it come to no end. Cancellation:
// between two stages (cancel.h).
// Papers: Lee, Leiserson, Schardl, Sukha, Zhang (SPAA 2013), whose bound on items in flight and
// whose order of work this has.
#pragma once

#include "nopal/base/closure.h"
#include "nopal/concepts.h"
#include "nopal/config.h"
#include "nopal/fork.h"

#if !defined(NOPAL_SERIAL)
#include "nopal/algorithms/turns.h"
#include "nopal/mutex.h"
#include "nopal/preemption.h"
#include "nopal/semaphore.h"
#endif

#include <concepts>
#include <cstddef>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

namespace detail {

enum class stage_order { parallel, ordered, unordered };

template <stage_order Order, class F> struct stage_of_pipeline {
  F f;
};

template <class Stage> inline constexpr bool is_stage = false;
template <stage_order Order, class F>
inline constexpr bool is_stage<stage_of_pipeline<Order, F>> = true;

// Several strands call the function of a parallel stage.
template <stage_order Order, class F>
using called_as = std::conditional_t<Order == stage_order::parallel, const F, F>;

template <class F, class In>
using stage_result = std::conditional_t<std::is_void_v<std::invoke_result_t<F&, In>>,
                                        std::monostate, std::decay_t<std::invoke_result_t<F&, In>>>;

template <class Source>
using item_of = std::remove_cvref_t<decltype(*std::declval<std::invoke_result_t<Source&>>())>;

// Whether items that are made of a Given can go through all of these stages.
template <class Given, class... Stages> inline constexpr bool items_pass = true;
template <class Given, stage_order Order, class F, class... Rest>
inline constexpr bool items_pass<Given, stage_of_pipeline<Order, F>, Rest...> = [] {
  using called = called_as<Order, F>;
  using in = std::decay_t<Given>;
  if constexpr (!std::move_constructible<in> || !std::is_convertible_v<Given, in> ||
                !std::is_invocable_v<called&, in>)
    return false;
  else if constexpr (std::is_void_v<std::invoke_result_t<called&, in>>)
    return sizeof...(Rest) == 0;
  else
    return items_pass<std::invoke_result_t<called&, in>, Rest...>;
}();

// False: the source gives none.
template <class Source, class Item> bool draw(Source& source, std::optional<Item>& item) {
  auto&& given = source();
  if (given)
    item.emplace(*std::forward<decltype(given)>(given));
  return item.has_value();
}

#if defined(NOPAL_SERIAL)
template <class In, stage_order Order, class F, class... Rest>
void go_through(In&& item, stage_of_pipeline<Order, F>& stage, Rest&... rest) {
  using called = called_as<Order, F>;
  called& f = stage.f;
  if constexpr (sizeof...(Rest) == 0) {
    static_cast<void>(base::call(f, std::forward<In>(item)));
  } else {
    stage_result<called, In> next = base::call(f, std::forward<In>(item));
    go_through(std::move(next), rest...);
  }
}
#else
// The stage is done with the item, and the item is gone, when this returns.
template <class F, class In>
void pass_through(F& f, std::optional<In>& item, std::optional<stage_result<F, In>>& result) {
  if constexpr (std::is_void_v<std::invoke_result_t<F&, In>>) {
    base::call(f, *std::move(item));
    result.emplace();
  } else {
    result.emplace(base::call(f, *std::move(item)));
  }
  item.reset();
}

// How many items are in flight. Where one fails, some never end; the strand that waits for them is
// cancelled then, as all that is serially behind a failed child.
class flights {
public:
  explicit flights(std::size_t most) noexcept
      : most_(most > 0 ? most : 1), free_{static_cast<std::ptrdiff_t>(most_)} {}

  std::size_t most() const noexcept { return most_; }
  void begin() { free_.acquire(); }
  void end() noexcept { free_.release(); }

private:
  const std::size_t most_;
  semaphore free_;
};

// The stages that are left for an item that is an In. `run` takes the item through all of them, or
// leaves it where another strand takes it on.
template <class In, class... Stages> class rest_of_pipeline;

template <class In> class rest_of_pipeline<In> {
public:
  explicit rest_of_pipeline(flights& all) noexcept : all_(all) {}
  void run(std::optional<In>& item, std::size_t) {
    item.reset();
    all_.end();
  }

private:
  flights& all_;
};

template <class In, class F, class... Rest>
class rest_of_pipeline<In, stage_of_pipeline<stage_order::parallel, F>, Rest...> {
public:
  rest_of_pipeline(flights& all, stage_of_pipeline<stage_order::parallel, F>& stage, Rest&... rest)
      : f_(stage.f), next_(all, rest...) {}

  void run(std::optional<In>& item, std::size_t number) {
    poll();
    std::optional<stage_result<const F, In>> result;
    pass_through(f_, item, result);
    next_.run(result, number);
  }

private:
  const F& f_;
  rest_of_pipeline<stage_result<const F, In>, Rest...> next_;
};

template <class In, class F, class... Rest>
class rest_of_pipeline<In, stage_of_pipeline<stage_order::unordered, F>, Rest...> {
public:
  rest_of_pipeline(flights& all, stage_of_pipeline<stage_order::unordered, F>& stage, Rest&... rest)
      : f_(stage.f), next_(all, rest...) {}

  void run(std::optional<In>& item, std::size_t number) {
    std::optional<stage_result<F, In>> result;
    {
      const std::lock_guard whole{one_at_a_time_}; // a strand that waits for it leaves its thread
      pass_through(f_, item, result);
    }
    next_.run(result, number);
  }

private:
  F& f_;
  mutex one_at_a_time_;
  rest_of_pipeline<stage_result<F, In>, Rest...> next_;
};

template <class In, class F, class... Rest>
class rest_of_pipeline<In, stage_of_pipeline<stage_order::ordered, F>, Rest...> {
public:
  rest_of_pipeline(flights& all, stage_of_pipeline<stage_order::ordered, F>& stage, Rest&... rest)
      : f_(stage.f), count_(all.most()), places_(all.most()), next_(all, rest...) {
    places_[0].turn.begin();
  }

  void run(std::optional<In>& item, std::size_t number) {
    poll();
    place& own = place_of(number);
    if (own.turn.has_turn())
      return serve(item, number);
    own.item.emplace(*std::move(item));
    item.reset();
    if (own.turn.leave_item())
      serve(own.item, number);
  }

private:
  using result = stage_result<F, In>;
  struct alignas(64) place {
    algorithms::turn_of_place turn;
    std::optional<In> item;
  };

  place& place_of(std::size_t number) noexcept { return places_[number % count_]; }

  // The item has the turn. True: the next one, which has it now, waits in its place.
  bool serve_one(std::optional<In>& item, std::size_t number, std::optional<result>& served) {
    pass_through(f_, item, served);
    place_of(number).turn.take_item();
    return place_of(number + 1).turn.pass_turn();
  }
  void serve(std::optional<In>& item, std::size_t number) {
    std::optional<result> served;
    if (serve_one(item, number, served)) [[unlikely]]
      serve_those_that_wait(served, number);
    else
      next_.run(served, number);
  }

  // Forks what is left for the item, and goes on with the next one. The frame of its scope is this
  // function's.
  [[gnu::noinline]] void serve_those_that_wait(std::optional<result>& served, std::size_t number) {
    structured_scope s;
    for (bool more = true; more;) {
      s.fork([this, number, own = std::move(served)]() mutable { next_.run(own, number); });
      served.reset();
      more = false;
      ++number;
      s.call_last([&] { more = serve_one(place_of(number).item, number, served); });
    }
    if (served)
      s.call_last([&] { next_.run(served, number); });
    s.join();
  }

  F& f_;
  const std::size_t count_;
  std::vector<place> places_;
  rest_of_pipeline<result, Rest...> next_;
};

template <class Source, class Item, class... Stages> class pipeline_of_items {
public:
  pipeline_of_items(std::size_t most, Source& source, Stages&... stages)
      : all_{most}, source_(source), stages_(all_, stages...) {}

  // Below a fork: those of a thread that runs no strands cost more.
  [[gnu::noinline]] void run() {
    structured_scope s;
    s.fork([this] { draw_all(); });
    s.join();
  }

private:
  // The frame of its scope is this function's.
  [[gnu::noinline]] void draw_all() {
    std::optional<Item> item;
    draw_one(item);
    structured_scope s;
    for (std::size_t number = 0; item; ++number) {
      s.fork([this, number, own = std::move(item)]() mutable { stages_.run(own, number); });
      item.reset();
      s.call_last([&] { draw_one(item); });
    }
    s.join();
  }

  void draw_one(std::optional<Item>& item) {
    all_.begin();
    draw(source_, item);
  }

  flights all_;
  Source& source_;
  rest_of_pipeline<Item, Stages...> stages_;
};
#endif

} // namespace detail

/// A stage that has any number of items at a time: f(item) is what the next stage is given. f is
/// called as const, by several strands at a time.
template <std::move_constructible F> auto parallel_stage(F f) {
  return detail::stage_of_pipeline<detail::stage_order::parallel, F>{std::move(f)};
}
/// A stage that has one item at a time, in the order in which the source gave them. A call sees
/// what the call before did, so f may keep a state.
template <std::move_constructible F> auto ordered_stage(F f) {
  return detail::stage_of_pipeline<detail::stage_order::ordered, F>{std::move(f)};
}
/// A stage that has one item at a time, in the order in which they come. f may keep a state.
template <std::move_constructible F> auto unordered_stage(F f) {
  return detail::stage_of_pipeline<detail::stage_order::unordered, F>{std::move(f)};
}

/// What a pipeline draws items from: it is called without arguments, and gives something that tells
/// whether there is an item, and has it: a std::optional, a pointer.
template <class Source>
concept pipeline_source = std::invocable<Source&> && detail::maybe<std::invoke_result_t<Source&>>;

/// Calls the source until it gives no item, and takes each item through the stages, `in_flight`
/// items at a time at most, and at least one.
/// @throws what the first item throws that throws, in the source or in a stage; cancelled.
/// @par Threads
/// Any thread, any strand.
/// @par Cost
/// An item costs a fork, a permit of a semaphore, an exchange for each ordered stage and a mutex
/// for each unordered one, and no memory. An item that waits for its turn holds no stack; one that
/// waits for an unordered stage does. Each ordered stage has a cache line for each item in flight.
/// @par Paper
/// Lee, Leiserson, Schardl, Sukha, Zhang (SPAA 2013).
template <pipeline_source Source, class... Stages>
  requires(sizeof...(Stages) > 0) && (detail::is_stage<std::remove_reference_t<Stages>> && ...) &&
          detail::items_pass<detail::item_of<Source>, std::remove_reference_t<Stages>...>
void pipeline(std::size_t in_flight, Source&& source, Stages&&... stages) {
  using item = detail::item_of<Source>;
#if defined(NOPAL_SERIAL)
  static_cast<void>(in_flight);
  for (std::optional<item> next; detail::draw(source, next); next.reset())
    detail::go_through(*std::move(next), stages...);
#else
  detail::pipeline_of_items<std::remove_reference_t<Source>, item,
                            std::remove_reference_t<Stages>...>{in_flight, source, stages...}
      .run();
#endif
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
