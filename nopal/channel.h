// SPDX-License-Identifier: MIT
// Channels without a buffer: a send and a receive wait for each other, and the value goes from the
// one to the other.
//
//     nopal::channel<job> jobs;
//     nopal::channel<int> stop;
//     ...
//     nopal::select(nopal::recv(jobs, [&](job next) { run(next); }),    // does one of them
//                   nopal::recv(stop, [&](int) { running = false; }));
//
// Those who wait are served in the order in which they came. A strand waits as for a mutex: it is
// taken from its thread, which runs others. A thread that runs no strands waits itself. What was
// done before a send is seen after the receive.
//
// Thread rules: any thread, any strand. To be destroyed when no strand waits there.
// After Concurrent ML: J. Reppy, Concurrent Programming in ML (synchronous channels, choose).
#pragma once

#include "nopal/config.h"

#if defined(NOPAL_SERIAL)
#error "nopal/channel.h: strands at a channel wait for one another, which no serial elision can do"
#endif

#include "nopal/fibers/channels.h"

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

template <class T> class channel;

namespace detail {

// A sender's place is a T, a receiver's an empty optional.
template <class T> void hand_over(void* from, void* to) noexcept {
  static_cast<std::optional<T>*>(to)->emplace(std::move(*static_cast<T*>(from)));
}

template <class T> fibers::alternative to_send(channel<T>& to, T& value) noexcept;
template <class T>
fibers::alternative to_receive(channel<T>& from, std::optional<T>& place) noexcept;

template <class T, class F> struct receiving_case {
  channel<T>& from;
  F then;
  std::optional<T> received{};

  fibers::alternative begin() noexcept { return to_receive(from, received); }
  void finish() { std::invoke(then, *std::move(received)); }
};

template <class T, class F> struct sending_case {
  channel<T>& to;
  T value;
  F then;

  fibers::alternative begin() noexcept { return to_send(to, value); }
  void finish() { std::invoke(then); }
};

template <class F> struct otherwise_case {
  F then;
};

struct nothing {
  void operator()() const noexcept {}
};

template <class... Cases> std::size_t select_one(std::tuple<Cases&...> cases, bool may_wait) {
  auto all = std::apply([](auto&... each) { return std::array{each.begin()...}; }, cases);
  const std::size_t taken = fibers::do_one(all.data(), all.size(), may_wait);
  const auto finish = [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((I == taken ? std::get<I>(cases).finish() : static_cast<void>(0)), ...);
  };
  finish(std::index_sequence_for<Cases...>{});
  return taken;
}

template <class Case> inline constexpr bool is_otherwise = false;
template <class F> inline constexpr bool is_otherwise<otherwise_case<F>> = true;
template <class Case> inline constexpr bool meets_another = false;
template <class T, class F> inline constexpr bool meets_another<receiving_case<T, F>> = true;
template <class T, class F> inline constexpr bool meets_another<sending_case<T, F>> = true;

// Each but the last one waits for another strand.
template <class First> consteval bool in_order() { return meets_another<First>; }
template <class First, class Second, class... Rest> consteval bool in_order() {
  if constexpr (sizeof...(Rest) == 0)
    return meets_another<First> && (meets_another<Second> || is_otherwise<Second>);
  else
    return meets_another<First> && in_order<Second, Rest...>();
}

} // namespace detail

/// Where a send and a receive meet. It keeps no values.
/// @pre To move a T does not throw. Nobody waits at a channel that is destroyed.
/// @throws cancelled where a strand is cancelled while it waits.
/// @par Threads
/// Any thread, any strand.
template <class T> class NOPAL_TYPE channel {
  static_assert(std::is_nothrow_move_constructible_v<T>,
                "a value changes hands while its strand waits, so to move it must not throw");

public:
  channel() = default;
  ~channel() { fibers::check_nobody_waits(place_); }
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  /// Returns when a receiver has the value.
  /// Both throw `cancelled` if the strand is cancelled while it waits (cancel.h).
  void send(T value) {
    fibers::alternative only = detail::to_send(*this, value);
    fibers::do_one(&only, 1, true);
  }
  T recv() {
    std::optional<T> received;
    fibers::alternative only = detail::to_receive(*this, received);
    fibers::do_one(&only, 1, true);
    return *std::move(received);
  }

private:
  friend fibers::alternative detail::to_send<T>(channel&, T&) noexcept;
  friend fibers::alternative detail::to_receive<T>(channel&, std::optional<T>&) noexcept;

  fibers::meeting_place place_;
};

namespace detail {

template <class T> fibers::alternative to_send(channel<T>& to, T& value) noexcept {
  return {&to.place_, sync::side::sending, hand_over<T>, {.value = std::addressof(value)}};
}
template <class T>
fibers::alternative to_receive(channel<T>& from, std::optional<T>& place) noexcept {
  return {&from.place_, sync::side::receiving, hand_over<T>, {.value = std::addressof(place)}};
}

} // namespace detail

/// A case of a select: what nopal::recv, nopal::send and nopal::otherwise return.
template <class Case>
concept select_case = detail::meets_another<Case> || detail::is_otherwise<Case>;

/// The cases of one select: at least one of a channel, and `otherwise` stands last, if at all.
template <class... Cases>
concept selectable = (select_case<Cases> && ...) && sizeof...(Cases) > 0 &&
                     detail::in_order<Cases...>();

/// The case of a select that receives a value, and calls `then` with it.
template <class T, class F> [[nodiscard]] auto recv(channel<T>& from, F then) {
  return detail::receiving_case<T, F>{from, std::move(then)};
}
/// The case that sends this value, then calls `then`.
template <class T, class F = detail::nothing>
[[nodiscard]] auto send(channel<T>& to, std::type_identity_t<T> value, F then = {}) {
  return detail::sending_case<T, F>{to, std::move(value), std::move(then)};
}
/// The case that is taken where no other one is possible at once.
template <class F = detail::nothing> [[nodiscard]] auto otherwise(F then = {}) {
  return detail::otherwise_case<F>{std::move(then)};
}

/// Does one of the cases that are possible, chosen at random, and returns its number, from 0. If
/// none is possible, it waits for the first that is; or, if the last case is an `otherwise`, does
/// that. Throws what `then` throws.
template <class... Cases>
  requires selectable<Cases...>
std::size_t select(Cases... cases) {
  std::tuple<Cases&...> all{cases...};
  constexpr std::size_t last = sizeof...(Cases) - 1;
  if constexpr (detail::is_otherwise<std::tuple_element_t<last, std::tuple<Cases...>>>) {
    const auto but_last = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return detail::select_one(std::tie(std::get<I>(all)...), false);
    };
    const std::size_t taken = but_last(std::make_index_sequence<last>{});
    if (taken != fibers::none_possible)
      return taken;
    std::invoke(std::get<last>(all).then);
    return last;
  } else {
    return detail::select_one(all, true);
  }
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
