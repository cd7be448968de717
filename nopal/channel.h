// SPDX-License-Identifier: MIT
// Channels: values go from the strands that send to those that receive, each value to one.
//
//     nopal::channel<job> jobs{64};                  // keeps up to 64; none without a number
//     nopal::channel<int> stop;
//     ...
//     nopal::select(nopal::recv(jobs, [&](job next) { run(next); }),    // does one of them
//                   nopal::recv(stop, [&](int) { running = false; }));
//     for (job each : jobs)                          // until jobs.close(), and all were received
//       run(each);
//
// Without a buffer a send and a receive wait for each other; with one a send waits while that is
// full. Those who wait are served in the order in which they came. A strand waits as for a mutex:
// it is taken from its thread, which runs others. A thread that runs no strands waits itself. What
// was done before a send is seen after the receive.
//
// Thread rules: any thread, any strand. To be destroyed when no strand waits there.
// After Concurrent ML: J. Reppy, Concurrent Programming in ML (synchronous channels, choose).
#pragma once

#include "nopal/config.h"

#if defined(NOPAL_SERIAL)
#error "nopal/channel.h: strands at a channel wait for one another, which no serial elision can do"
#endif

#include "nopal/base/check.h"
#include "nopal/cases.h"
#include "nopal/deadline.h"
#include "nopal/fibers/channels.h"
#include "nopal/sched/given.h"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// Where sends and receives meet. It keeps as many values as it is told to; none by default.
/// @pre To move a T neither throws nor waits nor forks. Nobody waits at a channel that is
/// destroyed; the values that it keeps are destroyed with it.
/// @throws cancelled where a strand is cancelled while it waits; then the value was not sent.
/// @par Threads
/// Any thread, any strand.
template <class T> class NOPAL_TYPE channel {
  static_assert(std::is_nothrow_move_constructible_v<T>,
                "a value changes hands while its strand waits, so to move it must not throw");

public:
  using value_type = T;

  /// It keeps up to so many values that nobody has received yet.
  /// @throws std::bad_alloc if there is no memory for them.
  explicit channel(std::size_t buffer = 0)
      : place_{detail::aside_of<T>, buffer, buffer == 0 ? nullptr : new_slots(buffer),
               sizeof(std::optional<T>), detail::take_out<T>},
        slots_{static_cast<std::optional<T>*>(place_.slot(0))} {}
  ~channel() { fibers::check_nobody_waits(place_); }
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  /// Returns when a receiver or the buffer has the value. Throws closed_channel if that is not to
  /// be; then, and if it throws `cancelled`, the caller still has the value that it would have
  /// moved.
  void send(T&& value) {
    fibers::alternative only = detail::to_send(*this, value);
    fibers::do_one(&only, 1);
    if (only.own.closed) [[unlikely]]
      throw closed_channel{};
  }
  void send(const T& value)
    requires std::copy_constructible<T>
  {
    send(T(value));
  }
  /// The next value. Throws closed_channel if the channel is closed and empty.
  T recv() {
    std::optional<T> received;
    if (!receive(received)) [[unlikely]]
      throw closed_channel{};
    return *std::move(received);
  }
  /// The same, but returns nothing if it is closed and empty.
  std::optional<T> next() {
    std::optional<T> received;
    receive(received);
    return received;
  }

  /// Nobody sends after that: to send, also by a strand that waits to, throws closed_channel. What
  /// the buffer has is received still. To close it again does nothing.
  void close() noexcept { fibers::close(place_); }
  [[nodiscard]] bool closed() const noexcept { return place_.closed(); }

  /// Receives the values, up to the end: `for (T each : channel)`. Each is received once, also if
  /// several strands go over the channel.
  class iterator {
  public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    iterator() = default;
    T& operator*() const noexcept { return *current_; }
    iterator& operator++() {
      current_ = from_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& at, std::default_sentinel_t) noexcept {
      return !at.current_.has_value();
    }

  private:
    friend class channel;
    explicit iterator(channel& from) : from_{&from}, current_{from.next()} {}

    channel* from_ = nullptr;
    mutable std::optional<T> current_;
  };
  iterator begin() { return iterator{*this}; }
  std::default_sentinel_t end() const noexcept { return {}; }

private:
  friend fibers::alternative detail::to_send<T>(channel&, T&) noexcept;
  friend fibers::alternative detail::to_receive<T>(channel&, std::optional<T>&) noexcept;

  // False: it is closed and empty.
  bool receive(std::optional<T>& to) {
    fibers::alternative only = detail::to_receive(*this, to);
    fibers::do_one(&only, 1);
    NOPAL_IF_CHECKED(if (to) sched::check_given(sched::given_to::strand, *to));
    return !only.own.closed;
  }

  // The bound is stated for GCC 12, which warns of what a number out of it would allocate.
  static std::optional<T>* new_slots(std::size_t number) {
    if (number > PTRDIFF_MAX / sizeof(std::optional<T>))
      throw std::bad_array_new_length{};
    return new std::optional<T>[number];
  }

  fibers::meeting_place place_; // first: reports name its address
  const std::unique_ptr<std::optional<T>[]> slots_;
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

/// A range of cases of channels: a std::vector of any_case, or of what nopal::recv or nopal::send
/// returns.
template <class Range>
concept range_of_cases =
    std::ranges::forward_range<Range> && std::ranges::sized_range<Range> &&
    std::is_lvalue_reference_v<std::ranges::range_reference_t<Range>> &&
    detail::meets_another<std::remove_cvref_t<std::ranges::range_reference_t<Range>>>;

/// The case of a select that receives a value, and calls `then` with it; if the channel is closed
/// and empty, it calls `at_end` instead, or throws closed_channel if it was given none.
template <class T, class F, class AtEnd = detail::throws_closed>
[[nodiscard]] auto recv(channel<T>& from, F then, AtEnd at_end = {}) {
  return detail::receiving_case<T, F, AtEnd>{from, std::move(then), std::move(at_end)};
}
/// The case that sends this value, then calls `then`. What is moved to it is moved from only if it
/// is this case that is done: until then it belongs to the caller. So this case is used in the
/// expression that makes it; an any_case lives longer. Throws closed_channel if the channel is.
template <class T, class F = detail::nothing>
[[nodiscard]] auto send(channel<T>& to, std::type_identity_t<T>&& value, F then = {}) {
  return detail::sending_case<T, T&, F>{to, detail::sent_value<T&>{value}, std::move(then)};
}
/// The same with a copy.
template <class T, class F = detail::nothing>
[[nodiscard]] auto send(channel<T>& to, const std::type_identity_t<T>& value, F then = {}) {
  return detail::sending_case<T, T, F>{to, {value}, std::move(then)};
}
/// The case that is taken where no other one is possible at once.
template <class F = detail::nothing> [[nodiscard]] auto otherwise(F then = {}) {
  return detail::last_case<detail::at_once, F>{{}, std::move(then)};
}
/// The case that is taken where no other one has become possible for so long, or until that time.
template <class Clock, class Duration, class F = detail::nothing>
[[nodiscard]] auto timeout(std::chrono::time_point<Clock, Duration> until, F then = {}) {
  using end = detail::end_time<Clock, Duration>;
  return detail::last_case<end, F>{end{until}, std::move(then)};
}
template <class Rep, class Period, class F = detail::nothing>
[[nodiscard]] auto timeout(std::chrono::duration<Rep, Period> at_most, F then = {}) {
  return nopal::timeout(detail::steady::time_point{detail::after(at_most)}, std::move(then));
}

/// Does one of the cases that are possible, chosen at random, and returns its number, from 0. If
/// none is possible, it waits for the first that is; or, if the last case is an `otherwise` or a
/// `timeout`, does that, at once or at its time. Throws what `then` throws. A case that is not done
/// keeps its value, and may be used again.
/// @par Threads
/// Any thread, any strand.
template <class... Cases>
  requires selectable<std::remove_cvref_t<Cases>...>
std::size_t select(Cases&&... cases) {
  constexpr bool has_last = (detail::is_last<std::remove_cvref_t<Cases>> || ...);
  constexpr std::size_t count = sizeof...(Cases) - (has_last ? 1 : 0);
  fibers::alternative all[] = {detail::begin_case(cases)...};
  const std::size_t done = detail::do_one(all, count, detail::last_of(cases...));
  const std::size_t taken = done == fibers::none_possible ? count : done;
  std::size_t number = 0;
  ((number++ == taken ? detail::finish_case(cases, all[taken]) : static_cast<void>(0)), ...);
  return taken;
}

/// The same for a range of cases, and perhaps an `otherwise` or a `timeout` behind them, whose
/// number is that of the cases in the range.
/// @pre Checked: there is a case.
template <range_of_cases Range, class... Last>
  requires(sizeof...(Last) <= 1 && (detail::is_last<Last> && ...))
std::size_t select(Range&& cases, Last... last) {
  const std::size_t count = std::ranges::size(cases);
  NOPAL_ASSERT(count + sizeof...(Last) != 0,
               "nopal::select was given a range without a case, for which it would wait for ever");
  std::vector<fibers::alternative> all;
  all.reserve(count);
  for (auto& each : cases)
    all.push_back(detail::begin_case(each));
  detail::nothing none;
  const std::size_t done = detail::do_one(all.data(), count, detail::last_of(none, last...));
  if (done == fibers::none_possible) {
    (base::call(last.then), ...);
    return count;
  }
  const auto at = static_cast<std::ranges::range_difference_t<Range>>(done);
  detail::finish_case(*std::ranges::next(std::ranges::begin(cases), at), all[done]);
  return done;
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
