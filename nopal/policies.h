// SPDX-License-Identifier: MIT
// Schedulers to choose from (scheduler.h says how to write another one).
//
//     nopal::round_robin order;
//     nopal::run(order, [&] { ... nopal::spawn(f); ... });
//
// Each serves one call of `run` at a time. They nest: a fiber of one may call `run` with another.
// None is told of forks; a continuation that is stolen runs beyond its scheduler until it waits.
//
// Paper: manticore-icfp08, sections 3.3 and 4.
#pragma once

#include "nopal/base/check.h"
#include "nopal/base/clock.h"
#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/fiber.h"
#include "nopal/scheduler.h"
#include "nopal/vproc/spares.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

namespace detail {

// The fibers that a policy keeps, taken from either end.
class fiber_deque {
public:
  bool empty() const noexcept { return fibers_.empty(); }
  void put_last(fiber ready) { fibers_.push_back(std::move(ready)); }
  // As the newest, at the end; but one that gave way counts as the oldest.
  void put_by_age(fiber ready) {
    if (ready.gave_way())
      fibers_.push_front(std::move(ready));
    else
      put_last(std::move(ready));
  }
  // Empty: there is none.
  fiber take_first() { return empty() ? fiber{} : taken(fibers_.front(), &queue::pop_front); }
  fiber take_last() { return empty() ? fiber{} : taken(fibers_.back(), &queue::pop_back); }

private:
  using queue = std::deque<fiber>;

  fiber taken(fiber& from, void (queue::*pop)()) {
    fiber next = std::move(from);
    (fibers_.*pop)();
    return next;
  }

  queue fibers_;
};

} // namespace detail

/// In the order in which they became ready. A fiber whose turn has ended comes last (section
/// 3.3.1).
class NOPAL_TYPE round_robin : public scheduler {
public:
  using scheduler::scheduler;

protected:
  void put(fiber ready) override { ready_.put_last(std::move(ready)); }
  fiber take() override { return ready_.take_first(); }

private:
  detail::fiber_deque ready_;
};

/// A gang (section 4): one queue for all, and a vproc for each of so many instances, which the
/// computation is given by `provision`. For data parallelism by one-touch futures (future.h).
class NOPAL_TYPE gang : public round_robin {
public:
  explicit gang(unsigned most_vprocs = any_number)
      : round_robin{most_vprocs, placement::provisioned} {}
};

/// The one that became ready last: depth first, so that few have begun at a time. One that gave way
/// or was preempted comes last.
class NOPAL_TYPE newest_first : public scheduler {
public:
  using scheduler::scheduler;

protected:
  void put(fiber ready) override { ready_.put_by_age(std::move(ready)); }
  fiber take() override { return ready_.take_last(); }

private:
  detail::fiber_deque ready_;
};

/// Work stealing (section 5): each vproc keeps those that became ready on it, and takes the newest;
/// one that has none yields to the scheduler outside, then takes the oldest that another one keeps.
/// One that gave way or was preempted counts as the oldest, so that others take it meanwhile
/// ("mugging"). For fibers that wait for ivars (future.h); forks are stolen below all schedulers.
class NOPAL_TYPE work_stealing : public concurrent_scheduler {
public:
  using concurrent_scheduler::concurrent_scheduler;

protected:
  void begin(unsigned vprocs) override { shares_ = std::vector<share>(vprocs); }
  void put(fiber ready, unsigned at) override {
    share& own = share_at(at);
    const base::locked guard{own.lock};
    own.kept.put_by_age(std::move(ready));
  }
  fiber take(unsigned at) override {
    share& own = share_at(at);
    const base::locked guard{own.lock};
    return own.kept.take_last();
  }
  fiber steal(unsigned at) override {
    const std::size_t first = random_number(share_at(at));
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      share& victim = share_at(first + i);
      const base::locked guard{victim.lock};
      if (!victim.kept.empty())
        return victim.kept.take_first();
    }
    return {};
  }
  bool any() override {
    return std::ranges::any_of(shares_, [](share& each) {
      const base::locked guard{each.lock};
      return !each.kept.empty();
    });
  }

private:
  struct alignas(64) share {
    base::spin_lock lock;
    detail::fiber_deque kept; // the oldest first
    std::minstd_rand random;
  };

  share& share_at(std::size_t number) { return shares_[number % shares_.size()]; }
  static std::size_t random_number(share& own) {
    const base::locked guard{own.lock};
    return own.random();
  }

  std::vector<share> shares_;
};

/// Processor time in proportion to the fibers' shares (section 3.3.2): the fiber that has used
/// least for its share goes first, for a tick at most. What it spends in nopal::blocking does not
/// count. So two computations that each are a fiber here, and have a scheduler of their own, share
/// the machine:
///
///     nopal::proportional_share by_shares;
///     nopal::run(by_shares, [&] {
///       nopal::spawn([&] { by_shares.set_share(3); nopal::run(first, f); });
///       nopal::spawn([&] { by_shares.set_share(1); nopal::run(second, g); });
///     });
class NOPAL_TYPE proportional_share : public scheduler {
public:
  using scheduler::scheduler;

  /// Of the calling fiber, from now on: a positive number; 1 until it is set.
  void set_share(double share) {
    // By its bits, since -ffast-math takes every number for finite; a sign makes them largest.
    constexpr std::uint64_t infinite = std::uint64_t{0x7ff} << 52;
    NOPAL_ASSERT(std::bit_cast<std::uint64_t>(share) - 1 < infinite - 1,
                 "a share of a nopal::proportional_share is %g, but it must be a positive number",
                 share);
    share_.value() = share;
  }
  /// Seconds of the calling fiber's turns that have ended, less those in nopal::blocking.
  double used() { return opened(used_.value())->seconds; }

protected:
  void put(fiber ready) override {
    const auto& owner = opened(used_.value_of(ready));
    if (turn* const last = last_turn(); last != nullptr && last->owner == owner)
      end(*last, thread_time());
    owner->level = std::max(owner->level, level_); // a fiber that waited does not save it up
    ready_.push_back(std::move(ready));
  }
  fiber take() override {
    turn* last = last_turn();
    const double now = thread_time();
    if (last != nullptr)
      end(*last, now);
    if (ready_.empty())
      return {};
    const auto next = std::ranges::min_element(
        ready_, {}, [this](const fiber& each) { return used_.value_of(each)->level; });
    const auto& owner = used_.value_of(*next);
    level_ = owner->level;
    if (last == nullptr)
      last = &turns_.emplace_back();
    *last = {std::this_thread::get_id(), owner, share_.value_of(*next), now};
    fiber chosen = std::move(*next);
    ready_.erase(next);
    return chosen;
  }

private:
  struct account {
    double seconds = 0;
    double level = 0; // seconds over share
  };
  // What a thread has been given last; none: that turn has ended.
  struct turn {
    std::thread::id thread;
    std::shared_ptr<account> owner; // the fiber may have ended
    double share = 1;
    double begin = 0; // by thread_time
  };

  // A clock of the calling thread, in seconds, which stands still while its place is lent.
  static double thread_time() noexcept {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now - vproc::time_lent()).count();
  }

  static std::shared_ptr<account>& opened(std::shared_ptr<account>& used) {
    if (used == nullptr)
      used = std::make_shared<account>();
    return used;
  }
  // The calling thread's.
  turn* last_turn() {
    const auto found = std::ranges::find(turns_, std::this_thread::get_id(), &turn::thread);
    return found == turns_.end() ? nullptr : &*found;
  }
  static void end(turn& last, double now) {
    if (last.owner == nullptr)
      return;
    const double seconds = now - last.begin;
    last.owner->seconds += seconds;
    last.owner->level += seconds / last.share;
    last.owner = nullptr;
  }

  fiber_local<double> share_{1};
  fiber_local<std::shared_ptr<account>> used_;
  std::vector<fiber> ready_;
  std::vector<turn> turns_;
  double level_ = 0; // of the fiber that was chosen last
};

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
