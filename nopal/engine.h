// SPDX-License-Identifier: MIT
// Computations that run for as long as their fuel lasts, and then go on.
//
//     std::deque<nopal::engine<long>> all;           // in a strand of nopal::run
//     for (const query& each : queries)
//       all.emplace_back(answer, each);              // begins when it has fuel
//     while (!all.empty()) {                         // round robin
//       auto ran = std::move(all.front()).run(1000); // a std::variant
//       all.pop_front();
//       if (auto* const goes_on = std::get_if<nopal::engine<long>>(&ran))
//         all.push_back(std::move(*goes_on));
//       else
//         use(std::get<long>(ran));
//     }
//
// A fork, a nopal::poll and a nopal::yield cost a unit of fuel each, in the engine's function and
// in all that it forks and spawns. So fuel follows from the program, and not from a clock. A strand
// that has none gives way there, and stays in the engine; so does a fiber that is to begin, or to
// go on after a wait. Waits cost nothing, nor does code under `no_preemption` or in an affine
// region.
//
// Engines nest: what one spends is also taken from the engine in which it was made. If that one has
// no more, its `run` returns it with the inner one inside, which keeps the fuel that it has left.
//
// A strand that runs on another worker when the fuel ends goes on to its next fork or poll; and of
// engines that nest, an outer one may then end a unit early for each such strand. With one worker,
// or virtual ones (NOPAL_VIRTUAL_WORKERS), fuel is exact.
//
// Paper: manticore-icfp08, section 3.3.2 (engines of Haynes and Friedman; nested ones of Dybvig and
// Hieb).
#pragma once

#include "nopal/base/check.h"
#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/fiber_group.h"
#include "nopal/policies.h"
#include "nopal/sched/preemption.h"
#include "nopal/vproc/meter.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

namespace detail {

// The scheduler of an engine's computation: its action is told `preempt` of a fiber without fuel,
// which stays here until there is some.
class NOPAL_TYPE fueled : public scheduler {
public:
  // Called in a fiber around the engine. Returns when all that runs in the engine has ended.
  template <class F> decltype(auto) call(F& f) {
    struct end {
      fueled* self;
      ~end() {
        const base::locked guard{self->lock_};
        self->ended_ = true;
        self->tell(false);
      }
    } const at_end{this};
    meter_.outer = sched::current_meter();
    body<F&> all{f};
    const fibers::chosen_by chosen{schedulers::instances_of(*this), all.fibers()};
    all.fibers().meter = &meter_;
    all.run();
    return all.take();
  }

  // Returns whether the fuel has ended. False: the function has.
  bool go_on(std::uint64_t fuel) {
    NOPAL_ASSERT(fuel != 0, "a nopal::engine was run without fuel, so that it could not go on");
    NOPAL_ASSERT(computation_here() == around_,
                 "a nopal::engine was run outside the nopal::run in which it was made, whose fiber "
                 "it is");
    if (!fill(fuel, true))
      return false;
    sched::stop_point();
    turn_->ended.wait(sync::wanted::engine);
    return turn_->fuel_has_ended;
  }
  void go_on_to_the_end() { fill(vproc::meter::unlimited, false); }

protected:
  void put(fiber ready) override {
    const base::locked guard{lock_};
    kept_.put_last(std::move(ready));
  }
  fiber take() override {
    const base::locked guard{lock_};
    if (!meter_.empty())
      return kept_.take_first();
    if (!kept_.empty())
      tell(true);
    return {};
  }

private:
  static const vproc::computation* computation_here() {
    const vproc::fiber_context* const caller = sched::current_context();
    NOPAL_ASSERT(caller != nullptr, "a nopal::engine was made or run outside nopal::run");
    return caller->computation;
  }

  // False: the function has ended.
  bool fill(std::uint64_t fuel, bool awaited) {
    fiber_deque ready;
    {
      const base::locked guard{lock_};
      if (ended_)
        return false;
      meter_.fill(fuel);
      turn_.emplace();
      awaited_ = awaited;
      ready = std::exchange(kept_, {});
    }
    while (fiber next = ready.take_first())
      std::move(next).start(); // an instance begins to ask
    return true;
  }
  // Lock held: nobody destroys the turn before `happen` has returned.
  void tell(bool fuel_has_ended) {
    if (!std::exchange(awaited_, false))
      return;
    turn_->fuel_has_ended = fuel_has_ended;
    turn_->ended.happen();
  }
  struct turn {
    turn() noexcept {}   // a defaulted one is not known within this class
    fibers::event ended; // first: reports name its address
    bool fuel_has_ended = false;
  };

  const vproc::computation* const around_ = computation_here();
  vproc::meter meter_;
  base::spin_lock lock_;     // of the rest
  fiber_deque kept_;         // those that may go on if there is fuel
  std::optional<turn> turn_; // of the last call of go_on
  bool awaited_ = false;
  bool ended_ = false;
};

} // namespace detail

/// A function that runs for as long as it is given fuel: by forks, polls and yields.
/// @pre Made, run and destroyed in strands of one call of nopal::run, which returns after that. If
/// it is destroyed before its function has ended, that is cancelled and awaited.
/// @par Threads
/// Any strand of that computation, one at a time.
/// @par Cost
/// A fork or a poll in an engine takes the slow path. While an engine exists, any strand does so
/// once after each switch.
/// @par Paper
/// manticore-icfp08, section 3.3.2.
template <class T>
  requires std::is_void_v<T> || std::is_move_constructible_v<T>
class NOPAL_TYPE engine {
public:
  using value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

  /// f(args...) with copies, or what is moved; it begins when there is fuel.
  template <class F, class... Args>
    requires(!std::is_same_v<std::remove_cvref_t<F>, engine>) && forkable<F, Args...> &&
                std::is_same_v<T, std::invoke_result_t<std::decay_t<F>&, std::decay_t<Args>...>>
  explicit engine(F&& f, Args&&... args)
      : fuel_{std::make_unique<detail::fueled>()},
        all_{[own = fuel_.get(),
              call = base::closure_of(std::forward<F>(f), std::forward<Args>(args)...)]() mutable
                 -> T { return own->call(call); }} {}

  engine(engine&&) noexcept = default;
  engine& operator=(engine&& other) noexcept {
    std::swap(fuel_, other.fuel_);
    std::swap(all_, other.all_);
    return *this;
  }
  ~engine() {
    if (fuel_ == nullptr || all_.done())
      return;
    all_.cancel();
    fuel_->go_on_to_the_end(); // to where each strand sees that it is cancelled
  }

  /// Gives it so much fuel, and waits until its function has returned, or wants more. Returns what
  /// the function returned, or this engine.
  /// @pre The fuel is not 0. Checked, as is where it is called.
  /// @throws what the function, or the first of its fibers that failed, threw; cancelled, if the
  /// calling strand is cancelled.
  [[nodiscard]] std::variant<value, engine> run(std::uint64_t fuel) && {
    NOPAL_ASSERT(
        fuel_ != nullptr && !all_.used().given,
        "a nopal::engine was run that had been moved from, or whose function had ended; run "
        "the one that the last call of `run` returned, if it returned one");
    if (fuel_->go_on(fuel))
      return std::variant<value, engine>{std::in_place_index<1>, std::move(*this)};
    if constexpr (std::is_void_v<T>) {
      all_.get();
      return std::variant<value, engine>{std::in_place_index<0>};
    } else {
      return std::variant<value, engine>{std::in_place_index<0>, all_.get()};
    }
  }

private:
  std::unique_ptr<detail::fueled> fuel_;
  task<T> all_; // is destroyed first, and waits
};
template <class F, class... Args>
engine(F&&, Args&&...) -> engine<std::invoke_result_t<std::decay_t<F>&, std::decay_t<Args>...>>;

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
