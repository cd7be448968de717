// SPDX-License-Identifier: MIT
// The atomics of the models: the names of nopal/base/atomic.h, standing for Relacy's.
//
// Models are compiled with NOPAL_ATOMICS, which makes atomic.h include this file. Each operation is
// a point at which Relacy may run another thread, and carries the place in the checked header that
// made it, so that a failing execution reads like the source. docs/model_checking.md says what is
// checked.
#pragma once

// Relacy renames these for programs written in its own dialect; ours are not.
#include "nopal/config.h"

#include <cassert>
#include <cerrno>
#pragma push_macro("assert")
#pragma push_macro("errno")
#define RL_DO_ASSERT 1
#include <relacy/relacy.hpp>
#undef $
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst
#pragma pop_macro("errno")
#pragma pop_macro("assert")

#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

using order = rl::memory_order;
inline constexpr order relaxed = rl::mo_relaxed;
inline constexpr order acquire = rl::mo_acquire;
inline constexpr order release = rl::mo_release;
inline constexpr order acq_rel = rl::mo_acq_rel;
inline constexpr order seq_cst = rl::mo_seq_cst;

using place = std::source_location;

inline rl::debug_info model_info(const place& at) noexcept {
  return {at.function_name(), at.file_name(), at.line()};
}

template <class T> struct as_kept {
  using type = T;
};
template <class T> struct as_kept<const T*> {
  using type = T*;
};

template <class T> class atomic {
  using kept = typename as_kept<T>::type; // Relacy's history takes no pointer to const
  using difference = typename rl::atomic_add_type<T>::type;

public:
  atomic() : value_{kept{}} {}
  atomic(T value) : value_{keep(value)} {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(order how = seq_cst, place at = place::current()) const noexcept {
    return value_.load(how, model_info(at));
  }
  void store(T value, order how = seq_cst, place at = place::current()) noexcept {
    value_.store(keep(value), how, model_info(at));
  }
  T exchange(T value, order how = seq_cst, place at = place::current()) noexcept {
    return value_.exchange(keep(value), how, model_info(at));
  }
  T fetch_add(difference value, order how = seq_cst, place at = place::current()) noexcept {
    return value_.fetch_add(value, how, model_info(at));
  }
  T fetch_sub(difference value, order how = seq_cst, place at = place::current()) noexcept {
    return value_.fetch_sub(value, how, model_info(at));
  }
  T fetch_and(T value, order how = seq_cst, place at = place::current()) noexcept {
    return value_.fetch_and(value, how, model_info(at));
  }
  T fetch_or(T value, order how = seq_cst, place at = place::current()) noexcept {
    return value_.fetch_or(value, how, model_info(at));
  }
  bool compare_exchange_weak(T& expected, T desired, order success, order failure,
                             place at = place::current()) noexcept {
    return compare_exchange(rl::bool_t<true>{}, expected, desired, success, failure, at);
  }
  bool compare_exchange_strong(T& expected, T desired, order success, order failure,
                               place at = place::current()) noexcept {
    return compare_exchange(rl::bool_t<false>{}, expected, desired, success, failure, at);
  }

  // The newest value, without a step of the model: the kernel reads this one.
  T newest() const noexcept { return value_.debug_value(); }

private:
  static kept keep(T value) noexcept {
    if constexpr (std::is_same_v<T, kept>)
      return value;
    else
      return const_cast<kept>(value);
  }

  // Relacy knows no failure order above the success order, as C++ does since C++17: there a fence
  // after the failure makes up for it.
  template <bool Spurious>
  bool compare_exchange(rl::bool_t<Spurious> spurious, T& expected, T desired, order success,
                        order failure, const place& at) noexcept {
    const rl::debug_info info = model_info(at);
    const bool above = (success == relaxed || success == release) && failure == acquire;
    kept found = keep(expected);
    const bool done = value_.compare_exchange(spurious, found, keep(desired), success,
                                              above ? relaxed : failure, info);
    expected = found;
    if (!done && above)
      rl::atomic_thread_fence(acquire, info);
    return done;
  }

  rl::atomic<kept> value_;
};

using lock_word = atomic<std::uint32_t>;

// Plain data: reading or writing it concurrently with a write is reported as a data race.
template <class T> class handed_over {
public:
  // A value with the place of the assignment: an assignment operator takes no second argument.
  struct placed {
    T value;
    place at;
    placed(T assigned, place where = place::current()) noexcept : value{assigned}, at{where} {}
  };

  handed_over() : value_{T{}} {}
  explicit handed_over(T value) : value_{value} {}
  handed_over(const handed_over&) = delete;

  handed_over& operator=(placed from) noexcept {
    value_(model_info(from.at)).store(from.value);
    return *this;
  }
  handed_over& operator=(const handed_over&) = delete;
  handed_over& operator+=(placed amount) noexcept {
    return *this = placed{static_cast<T>(*this + amount.value), amount.at};
  }

  operator T() const noexcept { return value_(model_info(place::current())).load(); }
  T operator->() const noexcept
    requires std::is_pointer_v<T>
  {
    return *this;
  }

private:
  rl::var<T> value_;
};

// The same for a type that Relacy cannot keep: a number is read and written with each value.
template <class T>
  requires(!std::is_trivially_copyable_v<T>)
class handed_over<T> {
public:
  struct placed {
    T value;
    place at;
    placed(T assigned, place where = place::current()) noexcept
        : value{std::move(assigned)}, at{where} {}
  };

  handed_over() = default;
  handed_over(const handed_over&) = delete;

  handed_over& operator=(placed from) noexcept {
    mark_ = {0, from.at};
    value_ = std::move(from.value);
    return *this;
  }
  handed_over& operator=(const handed_over&) = delete;

  operator T() const noexcept { return static_cast<int>(mark_) == 0 ? value_ : T{}; }

private:
  handed_over<int> mark_{0};
  T value_{};
};

inline void full_fence(place at = place::current()) noexcept {
  rl::atomic_thread_fence(seq_cst, model_info(at));
}

inline void spin_pause(place at = place::current()) noexcept { rl::yield(1, model_info(at)); }

// The halves of an asymmetric fence promise what two full fences do, and no more; but the heavy one
// finds other threads between two instructions.
inline void light_barrier(place at = place::current()) noexcept {
  rl::atomic_thread_fence(seq_cst, model_info(at));
}

// All that a thread does while this object lives counts as one instruction of the thread: the heavy
// barrier finds it done or not begun. For other threads' accesses it is a sequence like any other.
class one_instruction {
public:
  explicit one_instruction(place at = place::current()) noexcept : at_{at} {
    ++under_way;
    light_barrier(at_);
  }
  ~one_instruction() {
    light_barrier(at_);
    --under_way;
  }
  one_instruction(const one_instruction&) = delete;
  one_instruction& operator=(const one_instruction&) = delete;

  static inline int under_way = 0; // the model's threads take turns on one

private:
  place at_;
};

inline void heavy_barrier(place at = place::current()) noexcept {
  for (;;) {
    rl::atomic_thread_fence(seq_cst, model_info(at));
    if (one_instruction::under_way == 0) // others run before a step of the model, not after it
      return;
    spin_pause(at);
  }
}

inline void wait_briefly(unsigned, place at = place::current()) noexcept { spin_pause(at); }

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
