// SPDX-License-Identifier: MIT
// The ledger of random_cancellation.h, and steps that are points of cancellation, checked by it.
#pragma once

#include "nopal/cancel.h"
#include "nopal/channel.h"
#include "nopal/future.h"
#include "nopal/loop.h"
#include "nopal/mutex.h"
#include "nopal/preemption.h"
#include "tests/api/endless.h"

#include <array>
#include <atomic>
#include <climits>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>

namespace nopal_test {

// What the ledger knows of a region, or of a cancelable.
struct cancelled_thing {
  std::atomic<bool> begun{false}; // it may be cancelled from now on
  std::atomic<bool> done{false};  // it is
};
// The children of a scope, the functions of an `invoke` or the iterations of a loop, in their
// serial order: what comes after one that has failed may be stopped.
struct serial_children {
  std::atomic<int> first_failed{INT_MAX};
  void fail(int number) noexcept {
    int least = first_failed;
    while (number < least && !first_failed.compare_exchange_weak(least, number))
      ;
  }
};

// What a strand stands in; the next one above it lives at least as long.
struct above {
  const above* next = nullptr;
  cancelled_thing* region = nullptr;
  nopal::cancel_scope* scope = nullptr; // the region's, if it is one of a scope
  const serial_children* among = nullptr;
  int number = 0;
  bool hides = false; // a shield, or a destructor that an exception runs

  bool must() const noexcept {
    for (const above* at = this; at != nullptr && !at->hides; at = at->next)
      if (at->region != nullptr && at->region->done)
        return true;
    return false;
  }
  bool may() const noexcept {
    for (const above* at = this; at != nullptr && !at->hides; at = at->next)
      if ((at->region != nullptr && at->region->begun) ||
          (at->among != nullptr && at->among->first_failed < at->number))
        return true;
    return false;
  }
};

class cancellation_points {
public:
  // Programs that stop nothing show nothing.
  int stopped() const noexcept { return stopped_; }

protected:
  struct thrown {};

  static std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    std::uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    return (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  }
  static int below(std::uint64_t seed, std::uint64_t salt, int bound) {
    return static_cast<int>(mixed(seed, salt) % static_cast<std::uint64_t>(bound));
  }

  void complain(const std::string& what) {
    const std::scoped_lock guard{lock_};
    if (wrong_.empty())
      wrong_ = what;
  }
  void check(bool holds, const char* what) {
    if (!holds)
      complain(what);
  }

  // What throws if the strand is to stop, and else does not throw `cancelled`.
  template <class F> void point(const above& around, const char* what, F f) {
    const bool must = around.must();
    try {
      f();
    } catch (const nopal::cancelled&) {
      if (!around.may())
        complain(std::string(what) + " has stopped a strand that is not cancelled");
      stopped_ += 1;
      throw;
    }
    if (must)
      complain(std::string(what) + " has not stopped a strand that is cancelled");
  }

  void small_step(const above& around, std::uint64_t seed) {
    switch (below(seed, 3, 13)) {
    case 0:
      if (below(seed, 4, 3) == 0)
        throw thrown{};
      return;
    case 1:
      return cancel_one(around, seed);
    case 2:
      return look(around);
    case 3:
      return point(around, "poll", [] { nopal::poll(); });
    case 4:
      return point(around, "fork and join", [] {
        nopal::scope s;
        s.fork([] {});
        s.join();
      });
    case 5:
      return point(around, "a loop", [] { nopal::for_index(0, 8, [](int) {}, 1); });
    case 6:
      // No poll under it: a strand in an affine region might wait for its thread's other strand.
      return point(around, "lock", [&] { const std::scoped_lock guard{mutex_}; });
    case 7:
      return point(around, "try_lock", [&] {
        if (mutex_.try_lock())
          mutex_.unlock();
      });
    case 8:
      return point(around, "yield", [] { nopal::yield(); });
    case 9:
      return point(around, "run", [] { nopal::run([] {}); });
    case 10:
      return point(around, "select", [] {
        nopal::channel<int> silent;
        nopal::select(nopal::recv(silent, [](int) {}), nopal::otherwise());
      });
    case 11:
      return point(around, "is_set", [] {
        const nopal::ivar<int> unset{};
        static_cast<void>(unset.is_set());
      });
    default:
      return point(around, "touch",
                   [] { nopal::run([] { nopal::future1<int>([] { return 1; }).touch(); }); });
    }
  }

  void look(const above& around) {
    const bool must = around.must();
    const bool found = nopal::is_cancelled();
    check(found || !must, "is_cancelled is false in a strand that is cancelled");
    check(!found || around.may(), "is_cancelled is true in a strand that is not cancelled");
  }

  static void cancel(nopal::cancel_scope& scope, cancelled_thing& ledger) {
    ledger.begun = true;
    scope.cancel();
    ledger.done = true;
  }
  // One of the regions around, also beyond a shield.
  void cancel_one(const above& around, std::uint64_t seed) {
    int skip = below(seed, 5, 3);
    for (const above* at = &around; at != nullptr; at = at->next)
      if (at->scope != nullptr && skip-- == 0)
        return cancel(*at->scope, *at->region);
  }

  // Where it ends by being cancelled alone, in one of many ways.
  void wait_for_ever(const above& around, std::uint64_t seed) {
    switch (below(seed, 7, 4)) {
    case 0:
      for (;;)
        small_step_without_exceptions(around, seed = mixed(seed, 8));
    case 1: {
      nopal::channel<int> silent;
      silent.recv();
      break;
    }
    case 2: {
      nopal::ivar<int> never;
      never.get();
      break;
    }
    default:
      poll_for_ever();
    }
  }
  void small_step_without_exceptions(const above& around, std::uint64_t seed) {
    nopal::poll(); // so that others have their turn on one worker
    try {
      small_step(around, seed);
    } catch (const thrown&) {
    }
  }

  enum class state : std::uint8_t { not_begun, begun, ended };
  static constexpr int most_children = 4;

  // The children of a scope since its last join.
  struct family {
    serial_children all;
    std::array<std::atomic<state>, most_children> states{};
    std::array<bool, most_children> must_skip{};
    int count = 0;
  };
  // After the join, which was complete or has thrown.
  void check_family(const family& children, const above& owner, const cancelled_thing* ledger,
                    bool complete) {
    const bool may = owner.may() || (ledger != nullptr && ledger->begun);
    for (int i = 0; i < children.count; ++i) {
      const state its = children.states[static_cast<std::size_t>(i)];
      const bool overtaken = children.all.first_failed <= i;
      check(its == state::not_begun || !children.must_skip[static_cast<std::size_t>(i)],
            "a child has run that was to be skipped");
      check(its == state::ended || may || overtaken,
            "a child has not run, though none is cancelled");
      check(its == state::ended || !complete, "a join is complete, and a child has not run");
    }
  }
  // In a handler: `cancelled` has a cause.
  void check_cause(const above& around, bool by_child) {
    try {
      throw;
    } catch (const nopal::cancelled&) {
      check(by_child || around.may(), "a join throws cancelled, and nothing is");
      throw_on();
    } catch (...) {
    }
  }
  // Check builds say where `cancelled` is swallowed; this handler's caller throws it on.
  static void throw_on() {
    try {
      throw;
    } catch (const nopal::cancelled& kept) {
      kept.note_kept();
    }
  }

  // An exception that unwinds the scope cancels it.
  struct unwinding {
    ~unwinding() {
      if (std::uncaught_exceptions() > before)
        ledger.begun = true;
    }
    cancelled_thing& ledger;
    const int before = std::uncaught_exceptions();
  };

  void check_mutex() {
    if (!mutex_.try_lock())
      return complain("the mutex is held");
    mutex_.unlock();
  }
  const std::string& what_is_wrong() const noexcept { return wrong_; }

private:
  nopal::mutex mutex_;
  std::atomic<int> stopped_{0};
  std::mutex lock_; // guards `wrong_`
  std::string wrong_;
};

} // namespace nopal_test
