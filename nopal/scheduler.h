// SPDX-License-Identifier: MIT
// Schedulers as small programs, which nest.
//
//     class newest_first : public nopal::scheduler {
//       void put(nopal::fiber ready) override { stack_.push_back(std::move(ready)); }
//       nopal::fiber take() override { ... }        // an empty one if there is none
//       ...
//     };
//     newest_first order;
//     nopal::run(order, [&] { nopal::spawn(f); nopal::spawn(g); });
//
// A `scheduler` keeps the fibers of a computation that are ready, and chooses among them; what it
// has to say fits a page. It lives on `action`, which says all: what a vproc, one of the threads
// that run strands, does when its fiber stops or gives way.
//
// To the scheduler outside, a scheduler is as many fibers as it has vprocs. So schedulers nest:
// `run` with a scheduler, called in a fiber of another one, takes part of what that one gives to
// it. Forks are not told of: a continuation that is stolen, or goes on after its join, goes on
// below the thief's own actions.
//
// Paper: manticore-icfp08, section 3. There an action is a continuation that is thrown to; here it
// is a function that returns what it has decided, so that its local objects are destroyed.
#pragma once

#include "nopal/config.h"
#include "nopal/fiber.h"
#include "nopal/fibers/actions.h"
#include "nopal/vproc/action.h"

#include <cstdint>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// What an action is told: the fiber that it ran has stopped (it has ended, or waits where others
/// will find it), or it was preempted (it gave way, and may go on at any time).
class NOPAL_TYPE action_signal {
public:
  static action_signal stop() noexcept { return action_signal{{}}; }
  static action_signal preempt(fiber strand) noexcept { return action_signal{std::move(strand)}; }

  [[nodiscard]] bool is_stop() const noexcept { return !preempted; }
  fiber preempted; // none: stop

private:
  explicit action_signal(fiber strand) noexcept : preempted{std::move(strand)} {}
};

/// What an action has decided: made by `run`, `forward` and `yield`, to be returned.
class NOPAL_TYPE [[nodiscard]] decision {
private:
  friend class action;
  explicit decision(vproc::signal next) noexcept : next_{next} {}

  vproc::signal next_;
};

/// An action: what one vproc does when the fiber that it runs stops. It is asked on that vproc's
/// thread, as code of no strand: to fork there ends the program with a sentence, and to wait, for a
/// nopal::mutex say, keeps the thread. An exception that leaves it ends the program with a
/// sentence. An action that was started counts as a fiber of its computation, until it forwards a
/// signal: then the vproc has left it.
class NOPAL_TYPE action : fibers::user_action {
public:
  action() noexcept : user_action{answer} {}
  virtual ~action() = default;

  /// What begins the action on the vproc that runs it: there the action is told `stop`. Made in a
  /// strand, and run in the computation that the strand is in, once at a time.
  [[nodiscard]] fiber starter() noexcept {
    fibers::prepare_here(this);
    return detail::fiber_access::make(&start);
  }

protected:
  virtual decision receive(action_signal received) = 0;

  /// This action is told when the fiber stops or is preempted on this vproc.
  decision run(fiber next) noexcept {
    fibers::push(this);
    return decision{vproc::signal::enter(detail::fiber_access::take(next))};
  }
  /// The action below is told, and this one no more.
  decision forward(action_signal received) noexcept {
    return decision{received.is_stop()
                        ? vproc::signal::stop()
                        : vproc::signal::preempt(detail::fiber_access::take(received.preempted))};
  }
  /// The action below may run others; then this one is told `stop` again, perhaps on another vproc.
  decision yield() noexcept {
    fibers::prepare_again(this);
    return decision{vproc::signal::preempt(&start)};
  }

private:
  static vproc::signal answer(vproc::action* asked, vproc::signal received) {
    auto* const self = static_cast<action*>(static_cast<user_action*>(asked));
    const decision made =
        self->receive(received.tag == vproc::signal::kind::stop
                          ? action_signal::stop()
                          : action_signal::preempt(detail::fiber_access::make(received.strand)));
    if (!self->pushed && !self->starting)
      fibers::leave_computation(self);
    return made.next_;
  }
};

namespace detail {
struct schedulers;
}

/// Where a scheduler's vprocs are: any ones; or as many as there are for it of those that the
/// computation is given by `provision` (vprocs.h), for as long as it lasts. So computations whose
/// schedulers have provisioned vprocs share the machine, as evenly as their numbers allow.
using fibers::placement;

/// A scheduler of one computation at a time. `put` and `take` are called by one thread at a time,
/// as code of no strand (above). A fiber is put when it is spawned, when it has waited and may go
/// on, and when it has given way.
class NOPAL_TYPE scheduler : fibers::instances {
public:
  /// It has at most so many vprocs at a time. Forks of its fibers may be stolen by others.
  explicit scheduler(unsigned most_vprocs = any_number, placement where = placement::anywhere)
      : instances{functions, most_vprocs, where} {}
  virtual ~scheduler() = default;

  static constexpr unsigned any_number = ~0u;

protected:
  virtual void put(fiber ready) = 0;
  virtual fiber take() = 0;

private:
  friend detail::schedulers;

  static void begin(instances*, std::uint32_t) {}
  static void keep(instances* self, vproc::fiber* ready, std::uint32_t) {
    static_cast<scheduler*>(self)->put(detail::fiber_access::make(ready));
  }
  static vproc::fiber* choose(instances* self, std::uint32_t) {
    fiber chosen = static_cast<scheduler*>(self)->take();
    return detail::fiber_access::take_any(chosen);
  }
  NOPAL_OWN static constexpr calls functions{begin, keep, choose, nullptr, nullptr};
};

/// A scheduler that keeps its fibers in several places, so that vprocs need not wait for one
/// another: all but `begin` are called by several threads at a time. `at` is the number of the
/// vproc that calls; two may have the same.
class NOPAL_TYPE concurrent_scheduler : fibers::instances {
public:
  explicit concurrent_scheduler(unsigned most_vprocs = scheduler::any_number,
                                placement where = placement::anywhere)
      : instances{functions, most_vprocs, where} {}
  virtual ~concurrent_scheduler() = default;

protected:
  /// Before the first fiber is put: about so many vprocs will call.
  virtual void begin(unsigned vprocs) = 0;
  virtual void put(fiber ready, unsigned at) = 0;
  virtual fiber take(unsigned at) = 0;
  /// Called if `take` has found none, and the scheduler outside has had its turn.
  virtual fiber steal(unsigned at) = 0;
  /// Whether `steal` would find one, on any vproc, of those that were put before the call.
  virtual bool any() = 0;

private:
  friend detail::schedulers;

  static concurrent_scheduler& scheduler_of(instances* self) {
    return *static_cast<concurrent_scheduler*>(self);
  }
  static void open(instances* self, std::uint32_t vprocs) { scheduler_of(self).begin(vprocs); }
  static void keep(instances* self, vproc::fiber* ready, std::uint32_t at) {
    scheduler_of(self).put(detail::fiber_access::make(ready), at);
  }
  static vproc::fiber* choose(instances* self, std::uint32_t at) {
    fiber chosen = scheduler_of(self).take(at);
    return detail::fiber_access::take_any(chosen);
  }
  static vproc::fiber* rob(instances* self, std::uint32_t at) {
    fiber stolen = scheduler_of(self).steal(at);
    return detail::fiber_access::take_any(stolen);
  }
  static bool keeps_any(instances* self) { return scheduler_of(self).any(); }
  NOPAL_OWN static constexpr calls functions{open, keep, choose, rob, keeps_any};
};

namespace detail {

struct NOPAL_TYPE schedulers {
  static fibers::instances& instances_of(scheduler& order) { return order; }
  static fibers::instances& instances_of(concurrent_scheduler& order) { return order; }
};

} // namespace detail

/// What `run` takes as a scheduler: a class that derives from one of the two.
template <class Scheduler>
concept any_scheduler = std::is_convertible_v<Scheduler*, scheduler*> ||
                        std::is_convertible_v<Scheduler*, concurrent_scheduler*>;

/// The same as run(f), under this scheduler. Ends the program with a sentence if it has a
/// computation already.
template <class Scheduler, class F>
  requires any_scheduler<Scheduler> && callable<F>
typename detail::result_of_call<F>::type run(Scheduler& order, F&& f) {
  detail::body<F> body{std::forward<F>(f)};
  const fibers::chosen_by chosen{detail::schedulers::instances_of(order), body.fibers()};
  body.run();
  return body.take();
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
