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
// What no join of the reducer's own strand reaches goes to the reducer itself when its strand, or
// thread, ends (`deliver`): the values of fibers of the computation in which the reducer was made,
// of what is submitted, and of other threads.
//
// Invariant: holders of a home = values of its reducer that lie in tables + (1: the reducer lives).
//            So where a reducer has taken its own strand's value, and what was delivered, it is the
//            only holder, or a value is missing.
// Orders: D  release: fetch_sub acq_rel. Partner: D. The last holder deletes what the others used.
//         `hold` and `alone` are relaxed: a value that `alone` is to miss was joined, which orders
//         its release, or was delivered under the lock before that. Who then takes the lock comes
//         behind: were it before, it could not have read what happened after.
//
// Paper: Frigo, Halpern, Leiserson, Lewin-Berlin: Reducers and Other Cilk++ Hyperobjects
// (SPAA 2009), section 4, whose maps are attached to frames at steals and joins, too.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/gathering.h"
#include "nopal/config.h"

#include <cstdint>
#include <mutex>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::join {

// What a reducer's type can do with its values.
struct partial_calls {
  void (*combine)(void* low, void* high) noexcept; // adds `high` to `low`, in this order
  void (*destroy)(void* value) noexcept;
};

// What values have of their reducer. It lives as long as one of them, or the reducer.
class reducer_home {
public:
  // `made_in` is the computation of the strand that makes the reducer; null: it is in none.
  reducer_home(const partial_calls& of, const void* made_in) noexcept
      : calls{of}, made_in_{made_in} {}

  const partial_calls& calls;
  bool was_made_in(const void* asked) const noexcept { return made_in_ == asked; }

  void hold() noexcept { holders_.fetch_add(1, base::relaxed); }
  void release() noexcept {
    if (holders_.fetch_sub(1, base::acq_rel) == 1) // D
      delete this;
  }
  bool alone() const noexcept { return holders_.load(base::relaxed) == 1; }
  // The same, but for up to a second it waits. A coroutine, or a sender of P2300, tells others of
  // its end before the item that has called it returns, which delivers what it has added.
  bool alone_soon() const noexcept;

  // A value from a table, which lies behind those that were delivered before.
  void deliver(void* value) noexcept;
  // All of these, as one, which is the caller's now; null: there are none.
  void* take_delivered() noexcept;
  // The reducer is gone.
  void end() noexcept;

private:
  const void* const made_in_;
  base::atomic<std::uint64_t> holders_{1};
  std::mutex lock_; // guards the rest; held while values are combined, so in their order
  void* delivered_ = nullptr;
  bool ended_ = false;
};

// The place of a reducer's values.
struct reducer_name {
  std::uint32_t index;
  reducer_home* home;
};
reducer_name take_reducer_name(const partial_calls& calls, const void* made_in);
void return_reducer_name(reducer_name unused) noexcept;

struct partial {
  reducer_home* home = nullptr; // null: there is none
  void* value = nullptr;
};

// The values of one strand, by their reducers' indices. They follow this object in memory.
class partials {
public:
  // Null: the strand has no value of this reducer.
  [[gnu::always_inline]] void* find(reducer_name name) noexcept {
    if (name.index >= room_ || all()[name.index].home != name.home) [[unlikely]]
      return nullptr;
    return all()[name.index].value;
  }

  // The next three take the place where a strand has its values, which may be null.
  static void put(partials*& in, reducer_name name, void* value);
  // The value, which is the caller's now; null: there is none.
  static void* take(partials* from, reducer_name name) noexcept;
  // Gives their reducers the values of those that were made in a computation.
  static void deliver(partials* from, const void* made_in) noexcept;
  // Gives their reducers all values.
  static void deliver_all(partials*& from) noexcept;

  // Adds what lies serially behind. `high` is gone then.
  static partials* combine(partials* low, partials* high) noexcept;

private:
  friend class base::gathering<partials>;
  friend class partials_list;

  explicit partials(std::uint32_t room) noexcept : room_{room} {}
  partial* all() noexcept { return reinterpret_cast<partial*>(this + 1); }
  static partials* make(std::uint32_t room);
  static partial& place(partials*& in, std::uint32_t index); // without a value
  template <class Which> static void deliver_those(partials* from, const Which& which) noexcept;

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
