// SPDX-License-Identifier: MIT
// Partial values: what a strand has added to reducers (nopal/reducer.h) since it was stolen or
// began.
//
// A strand that is not stolen goes on adding to what it has. A thief begins with nothing. So what a
// strand has is an interval of the serial order, and a join puts the intervals of its children and
// of the main path together: those of a child whose continuation was stolen lie in front of that
// continuation's. Nothing is done for it at a fork, or at a join without a steal.
//
// Invariant: a strand that runs has its values in its worker (vproc/worker.h); one that waits for
//            anything but a join, in its fiber; a main path that waits at a join, and a detached
//            child that has ended, in the scope's list, until the main path goes on.
// Ownership: the strand. A list: many strands add; one takes all after they have ended.
//            Who takes is ordered behind these by the scope's counter (wait_free.h: D, J), or by
//            that of a computation's fibers (vproc/computation.h: E).
//
// Paper: Frigo, Halpern, Leiserson, Lewin-Berlin: Reducers and Other Cilk++ Hyperobjects
// (SPAA 2009), section 4, whose maps are attached to frames at steals and joins, too.
#pragma once

#include "nopal/base/gathering.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::join {

// What a reducer's type can do with its values.
struct partial_calls {
  void (*combine)(void* low, void* high) noexcept; // adds `high` to `low`, in this order
  void (*destroy)(void* value) noexcept;
};

// The place of a reducer's values, and its own number, which is never used again.
struct reducer_name {
  std::uint32_t index;
  std::uint64_t number;
};
reducer_name take_reducer_name();
void return_reducer_name(reducer_name unused) noexcept;

struct partial {
  std::uint64_t number = 0; // of its reducer; 0: there is none
  void* value = nullptr;
  const partial_calls* calls = nullptr;
};

// The values of one strand, by their reducers' indices. They follow this object in memory.
class partials {
public:
  // Null: the strand has no value of this reducer.
  [[gnu::always_inline]] void* find(reducer_name name) noexcept {
    if (name.index >= room_ || all()[name.index].number != name.number) [[unlikely]]
      return nullptr;
    return all()[name.index].value;
  }

  // The next three take the place where a strand has its values, which may be null.
  static void put(partials*& in, reducer_name name, partial added);
  // The value, which is the caller's now; null: there is none.
  static void* take(partials* from, reducer_name name) noexcept;
  static void destroy(partials* unused) noexcept;

  // Adds what lies serially behind. `high` is gone then.
  static partials* combine(partials* low, partials* high) noexcept;

private:
  friend class base::gathering<partials>;
  friend class partials_list;

  explicit partials(std::uint32_t room) noexcept : room_{room} {}
  partial* all() noexcept { return reinterpret_cast<partial*>(this + 1); }
  static partials* make(std::uint32_t room);

  base::handed_over<partials*> next{nullptr};
  std::int64_t order_ = 0;
  std::uint32_t const room_;
};

class partials_list {
public:
  // Takes what the strand has. Of equal orders what was added first comes first.
  void add(partials*& from, std::int64_t order) noexcept;
  // All in their order, as one; null: there are none. Called when nobody adds any more.
  partials* take() noexcept;

private:
  base::gathering<partials> all_;
};

} // namespace nopal::inline NOPAL_ABI::join
NOPAL_HIDDEN_END
