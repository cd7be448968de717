// SPDX-License-Identifier: MIT
// The cases of a select. Part of channel.h, which has the contract.
#pragma once

#include "nopal/base/check.h"
#include "nopal/base/closure.h"
#include "nopal/config.h"
#include "nopal/fibers/channels.h"
#include "nopal/sched/given.h"

#include <exception>
#include <memory>
#include <optional>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// In channel.h.
template <class T> class channel;
class any_case;

/// Thrown by a send to a channel that is closed, and by a receive where it is closed and empty.
class closed_channel final : public std::exception {
public:
  const char* what() const noexcept override {
    return "a nopal::channel is closed: it takes no value any more, and has none left to receive";
  }
};

namespace detail {

// A sender's place is a T, a receiver's and a slot an empty optional.
template <class T> void hand_over(void* from, void* to) noexcept {
  static_cast<std::optional<T>*>(to)->emplace(std::move(*static_cast<T*>(from)));
}
template <class T> void take_out(void* slot, void* to) noexcept {
  auto* const kept = static_cast<std::optional<T>*>(slot);
  static_cast<std::optional<T>*>(to)->emplace(*std::move(*kept));
  kept->reset();
}

template <class T> void* begin_aside(sync::side wants, void* place) {
  if (wants == sync::side::sending)
    return new T(std::move(*static_cast<T*>(place)));
  return new std::optional<T>;
}
template <class T> void end_aside(sync::side wants, void* aside, void* place, bool met) noexcept {
  if (wants == sync::side::sending) {
    const std::unique_ptr<T> kept{static_cast<T*>(aside)};
    if (met)
      return;
    std::destroy_at(static_cast<T*>(place));
    std::construct_at(static_cast<T*>(place), std::move(*kept));
  } else {
    const std::unique_ptr<std::optional<T>> kept{static_cast<std::optional<T>*>(aside)};
    if (met && *kept)
      static_cast<std::optional<T>*>(place)->emplace(*std::move(*kept));
  }
}
template <class T> inline constexpr fibers::values_aside aside_of{begin_aside<T>, end_aside<T>};

template <class T> fibers::alternative to_send(channel<T>& to, T& value) noexcept;
template <class T>
fibers::alternative to_receive(channel<T>& from, std::optional<T>& place) noexcept;

struct nothing {
  void operator()() const noexcept {}
};
struct throws_closed {
  [[noreturn]] void operator()() const { throw closed_channel{}; }
};

template <class T, class F, class AtEnd> struct receiving_case {
  channel<T>& from;
  F then;
  AtEnd at_end;
  std::optional<T> received{};

  fibers::alternative begin() noexcept { return to_receive(from, received); }
  void finish(bool closed) {
    NOPAL_IF_CHECKED(if (received) sched::check_given(sched::given_to::strand, *received));
    if (closed)
      base::call(at_end);
    else
      base::call(then, *std::move(received));
  }
  receiving_case owned() && { return std::move(*this); }
};

// The case has a T of its own, or refers to one (T&), and lives no longer than a call of `select`.
template <class T> struct sent_value {
  T value;
};
template <class T> struct sent_value<T&> {
  explicit sent_value(T& from) noexcept : value{from} {}
  sent_value(const sent_value&) = delete;
  sent_value& operator=(const sent_value&) = delete;
  T& value;
};

template <class T, class Value, class F> struct sending_case {
  channel<T>& to;
  sent_value<Value> sent;
  F then;

  fibers::alternative begin() noexcept { return to_send(to, sent.value); }
  void finish(bool closed) {
    if (closed)
      throw closed_channel{};
    base::call(then);
  }
  sending_case<T, T, F> owned() && { return {to, {std::move(sent.value)}, std::move(then)}; }
};

// Is done where none of the others is until that time (deadline.h).
template <class End, class F> struct last_case {
  End until;
  F then;
};
struct at_once {
  static fibers::time_point look_at() noexcept { return fibers::at_once; }
  static bool has_come() noexcept { return true; }
};

template <class Case> inline constexpr bool is_last = false;
template <class End, class F> inline constexpr bool is_last<last_case<End, F>> = true;
template <class Case> inline constexpr bool meets_another = false;
template <class T, class F, class G>
inline constexpr bool meets_another<receiving_case<T, F, G>> = true;
template <class T, class V, class F>
inline constexpr bool meets_another<sending_case<T, V, F>> = true;
template <> inline constexpr bool meets_another<any_case> = true;

// Each but the last one waits for another strand.
template <class First> consteval bool in_order() { return meets_another<First>; }
template <class First, class Second, class... Rest> consteval bool in_order() {
  if constexpr (sizeof...(Rest) == 0)
    return meets_another<First> && (meets_another<Second> || is_last<Second>);
  else
    return meets_another<First> && in_order<Second, Rest...>();
}

// What a case offers: nothing if it is the last one, which waits for no other strand.
template <class Case> fibers::alternative begin_case(Case& made) noexcept {
  if constexpr (is_last<Case>)
    return {};
  else
    return made.begin();
}
// When a select looks at its last case; and whether its time has come then.
template <class Case> fibers::time_point look_at(Case& made) {
  if constexpr (is_last<Case>)
    return made.until.look_at();
  else
    return fibers::never;
}
template <class Case> bool has_come(Case& made) {
  if constexpr (is_last<Case>)
    return made.until.has_come();
  else
    return true;
}
template <class First, class... Rest> auto& last_of(First& first, Rest&... rest) noexcept {
  if constexpr (sizeof...(Rest) == 0)
    return first;
  else
    return last_of(rest...);
}
// Does one of the alternatives, or none_possible: then the time of the last case has come.
template <class Last> std::size_t do_one(fibers::alternative* all, std::size_t count, Last& last) {
  for (;;)
    if (const std::size_t done = fibers::do_one(all, count, look_at(last));
        done != fibers::none_possible || has_come(last))
      return done;
}
template <class Case> void finish_case(Case& made, const fibers::alternative& done) {
  if constexpr (is_last<Case>)
    base::call(made.then);
  else
    made.finish(done.own.closed);
}

} // namespace detail

/// A case of a channel, whatever its type: what a program keeps in a std::vector to select from
/// cases that it knows at run time. It owns the value that it is to send.
/// @par Threads
/// Not shared.
class NOPAL_TYPE any_case {
public:
  template <class Case>
    requires detail::meets_another<Case>
  any_case(Case&& made)
      : case_{new owned_case<decltype(std::move(made).owned())>{std::move(made).owned()}} {}

private:
  template <class Case> friend fibers::alternative detail::begin_case(Case&) noexcept;
  template <class Case> friend void detail::finish_case(Case&, const fibers::alternative&);

  struct any {
    virtual ~any() = default;
    virtual fibers::alternative begin() noexcept = 0;
    virtual void finish(bool closed) = 0;
  };
  template <class Case> struct owned_case final : any {
    explicit owned_case(Case&& from) : made{std::move(from)} {}
    fibers::alternative begin() noexcept override { return made.begin(); }
    void finish(bool closed) override { made.finish(closed); }
    Case made;
  };
  fibers::alternative begin() noexcept {
    NOPAL_ASSERT(case_ != nullptr,
                 "nopal::select was given a nopal::any_case that was moved from, "
                 "and has no case any more; give it the one that it was moved to");
    return case_->begin();
  }
  void finish(bool closed) { case_->finish(closed); }

  std::unique_ptr<any> case_;
};

/// A case of a select: what nopal::recv, nopal::send, nopal::otherwise and nopal::timeout return.
template <class Case>
concept select_case = detail::meets_another<Case> || detail::is_last<Case>;

/// The cases of one select: at least one of a channel, and `otherwise` or `timeout` stands last.
template <class... Cases>
concept selectable = (select_case<Cases> && ...) && sizeof...(Cases) > 0 &&
                     detail::in_order<Cases...>();

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
