// SPDX-License-Identifier: MIT
// Random programs that cancel: trees of scopes, regions, alternatives, loops, shields, exceptions,
// destructors, fibers and mutexes. Beside the program runs a ledger of what is cancelled. Each
// strand knows what it stands in (`above`), and each region says before and after it is cancelled.
// The rule is stated on the ledger alone, whoever looked when:
//
//   must   a region above the strand was cancelled before: the next point throws, a fork skips
//   may    something above the strand is being cancelled, or a child before it has failed
//
// up to the nearest shield, or the nearest destructor that an exception runs. A strand that may not
// is not stopped, and where none may, all children run, as in the serial elision.
#pragma once

#include "nopal/affine.h"
#include "nopal/cancelable.h"
#include "nopal/either.h"
#include "nopal/invoke.h"
#include "nopal/loop.h"
#include "tests/api/cancellation_points.h"
#include "tests/api/first_seed.h"

#include <climits>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nopal_test {

class random_cancellation : cancellation_points {
public:
  using cancellation_points::stopped;

  explicit random_cancellation(std::uint64_t seed) noexcept : seed_{seed} {}

  // What was wrong; empty: nothing.
  std::string run(int depth) {
    above nothing;
    try {
      steps(nothing, seed_, depth);
    } catch (const thrown&) {
    } catch (const nopal::cancelled&) {
      complain("cancelled has left the program");
    }
    if (made_ != destroyed_)
      complain("not each object was destroyed once");
    check_mutex();
    return what_is_wrong();
  }

private:
  void steps(const above& around, std::uint64_t seed, int depth) {
    for (int i = 0, count = 1 + below(seed, 1, 3); i < count; ++i)
      step(around, mixed(seed, 100 + static_cast<unsigned>(i)), depth);
  }

  void step(const above& around, std::uint64_t seed, int depth) {
    if (depth <= 0)
      return small_step(around, seed);
    switch (below(seed, 2, 15)) {
    case 0:
    case 1:
      return forked(around, seed, depth);
    case 2:
    case 3:
    case 4:
      return region(around, seed, depth);
    case 5:
      return alternatives(around, seed, depth);
    case 6:
      return loop(around, seed, depth);
    case 7:
      return invoked(around, seed, depth);
    case 8:
      return shielded(around, seed, depth);
    case 9:
      return with_destructor(around, seed, depth);
    case 10:
      return caught(around, seed, depth);
    case 11:
      return computation(around, seed, depth);
    case 12:
      return cancelable(around, seed, depth);
    case 13:
      return in_affine_region(around, seed, depth);
    default:
      return small_step(around, seed);
    }
  }

  // A child or iteration with this number.
  void child(const above& around, serial_children& all, int number, std::uint64_t seed, int depth) {
    try {
      steps(around, seed, depth);
    } catch (...) {
      all.fail(number);
      throw;
    }
  }

  void run_child(const above& owner, cancelled_thing* ledger, nopal::cancel_scope* scope,
                 family& children, int number, std::uint64_t seed, int depth) {
    const above around{
        .next = &owner, .region = ledger, .scope = scope, .among = &children.all, .number = number};
    std::atomic<state>& own = children.states[static_cast<std::size_t>(number)];
    own = state::begun;
    child(around, children.all, number, seed, depth);
    own = state::ended;
  }
  // Inlined: the scope is forked by the function that declares it.
  template <class Scope>
  [[gnu::always_inline]] void fork_child(Scope& s, const above& owner, cancelled_thing* ledger,
                                         nopal::cancel_scope* scope, family& children,
                                         std::uint64_t seed, int depth) {
    const int number = children.count++;
    children.must_skip[static_cast<std::size_t>(number)] =
        owner.must() || (ledger != nullptr && ledger->done);
    s.fork([&owner, ledger, scope, &children, number, seed, depth, this] {
      run_child(owner, ledger, scope, children, number, seed, depth);
    });
  }
  void forked(const above& around, std::uint64_t seed, int depth) {
    family children;
    const bool must = around.must();
    try {
      nopal::scope s;
      for (int i = 0, count = 1 + below(seed, 6, most_children); i < count; ++i) {
        fork_child(s, around, nullptr, nullptr, children,
                   mixed(seed, 10 + static_cast<unsigned>(i)), depth - 1);
        if (below(seed, 20 + static_cast<unsigned>(i), 4) == 0)
          small_step(around, mixed(seed, 30 + static_cast<unsigned>(i)));
      }
      s.join();
    } catch (...) {
      check_family(children, around, nullptr, false);
      check_cause(around, children.all.first_failed != INT_MAX);
      throw;
    }
    check(!must, "a join has not stopped a strand that is cancelled");
    check_family(children, around, nullptr, true);
  }
  void region(const above& around, std::uint64_t seed, int depth) {
    cancelled_thing ledger;
    family children;
    const bool must = around.must();
    bool complete = false;
    bool joined = false;
    try {
      nopal::cancel_scope s;
      const unwinding end{ledger};
      for (int i = 0, count = 1 + below(seed, 6, most_children); i < count; ++i) {
        const auto salt = static_cast<unsigned>(i);
        fork_child(s, around, &ledger, &s, children, mixed(seed, 10 + salt), depth - 1);
        const int what = below(seed, 20 + salt, 6);
        if (what == 0)
          cancel(s, ledger);
        else if (what <= 3) // a look in vain, for one
          small_step(around, mixed(seed, 30 + salt));
      }
      joined = below(seed, 21, 3) != 0; // else the destructor joins
      if (joined)
        complete = s.try_join();
    } catch (...) {
      check_family(children, around, &ledger, false);
      check_cause(around, false);
      throw;
    }
    check(!must, "a join has not stopped a strand that is cancelled");
    check(complete || !joined || ledger.begun || children.all.first_failed != INT_MAX,
          "a region is not complete, and was not cancelled");
    check_family(children, around, &ledger, complete);
  }

  void alternatives(const above& around, std::uint64_t seed, int depth) {
    cancelled_thing ledger;
    const bool others_fail = below(seed, 9, 2) == 0;
    const auto finds = [&](std::uint64_t own) {
      return [&, own]() -> std::optional<int> {
        const above inside{.next = &around, .region = &ledger};
        try {
          steps(inside, own, depth - 1);
        } catch (const thrown&) {
        }
        ledger.begun = true;
        return 1;
      };
    };
    const auto other = [&](std::uint64_t own) {
      return [&, own]() -> std::optional<int> {
        const above inside{.next = &around, .region = &ledger};
        if (!others_fail)
          wait_for_ever(inside, own);
        steps(inside, own, depth - 1);
        return std::nullopt;
      };
    };
    std::optional<int> found;
    point(around, "either", [&] {
      if (below(seed, 8, 3) == 0) {
        const std::vector<std::function<std::optional<int>()>> all{
            other(mixed(seed, 11)), finds(mixed(seed, 12)), other(mixed(seed, 14))};
        found = nopal::either(all);
        return;
      }
      found = below(seed, 10, 2) == 0
                  ? nopal::either(other(mixed(seed, 11)), finds(mixed(seed, 12)))
                  : nopal::either(finds(mixed(seed, 13)), other(mixed(seed, 14)),
                                  finds(mixed(seed, 15)));
    });
    check(found.has_value(), "an either has no answer");
  }

  void loop(const above& around, std::uint64_t seed, int depth) {
    serial_children all;
    std::atomic<int> ran{0};
    const int count = 1 + below(seed, 16, 12);
    const bool must = around.must();
    try {
      nopal::for_index(
          0, count,
          [&](int i) {
            const above inside{.next = &around, .among = &all, .number = i};
            child(inside, all, i, mixed(seed, 300 + static_cast<unsigned>(i)), depth - 2);
            ran += 1;
          },
          1 + static_cast<std::size_t>(below(seed, 17, 3)));
    } catch (...) {
      check_cause(around, all.first_failed != INT_MAX);
      throw;
    }
    check(!must, "a loop has not stopped a strand that is cancelled");
    check(ran == count, "a loop has left out iterations");
  }

  void invoked(const above& around, std::uint64_t seed, int depth) {
    serial_children all;
    const bool must = around.must();
    const auto function = [&](int number) {
      return [&, number] {
        const above inside{.next = &around, .among = &all, .number = number};
        child(inside, all, number, mixed(seed, 400 + static_cast<unsigned>(number)), depth - 1);
      };
    };
    try {
      nopal::invoke(function(0), function(1), function(2));
    } catch (...) {
      check_cause(around, all.first_failed != INT_MAX);
      throw;
    }
    check(!must, "an invoke has not stopped a strand that is cancelled");
  }

  void shielded(const above& around, std::uint64_t seed, int depth) {
    const above inside{.next = &around, .hides = true};
    nopal::shielded([&] { steps(inside, mixed(seed, 18), depth - 1); });
  }

  void in_affine_region(const above& around, std::uint64_t seed, int depth) {
    const bool must = around.must();
    try {
      nopal::affine([&] { steps(around, mixed(seed, 19), depth - 1); });
    } catch (...) {
      check_cause(around, false);
      throw;
    }
    check(!must, "an affine region has not stopped a strand that is cancelled");
  }

  // Its destructor runs steps: as they are where an exception runs it, else shielded.
  struct runs_at_its_end {
    runs_at_its_end(random_cancellation& all, const above& owner, std::uint64_t own, int deep)
        : program{all}, around{owner}, seed{own}, depth{deep} {
      program.made_ += 1;
    }
    runs_at_its_end(const runs_at_its_end&) = delete;
    runs_at_its_end& operator=(const runs_at_its_end&) = delete;
    ~runs_at_its_end() {
      const above inside{.next = &around, .hides = true};
      try {
        if (std::uncaught_exceptions() > before)
          program.steps(inside, seed, depth);
        else
          nopal::shielded([&] { program.steps(inside, seed, depth); });
      } catch (const thrown&) {
      } catch (const nopal::cancelled&) {
        program.complain("a destructor was cancelled by what is outside");
      }
      program.destroyed_ += 1;
    }
    random_cancellation& program;
    const above& around;
    const std::uint64_t seed;
    const int depth;
    const int before = std::uncaught_exceptions();
  };
  void with_destructor(const above& around, std::uint64_t seed, int depth) {
    const runs_at_its_end end{*this, around, mixed(seed, 40), depth - 1};
    steps(around, mixed(seed, 41), depth - 1);
    if (below(seed, 42, 3) == 0)
      throw thrown{};
  }

  void caught(const above& around, std::uint64_t seed, int depth) {
    try {
      steps(around, mixed(seed, 50), depth - 1);
    } catch (const thrown&) {
      steps(around, mixed(seed, 51), depth - 2); // in a handler
      if (below(seed, 52, 3) == 0)
        throw;
    }
    small_step(around, mixed(seed, 53));
  }

  // Fibers that meet, both below what the caller stands in.
  void computation(const above& around, std::uint64_t seed, int depth) {
    serial_children any; // of the fibers: one that fails leaves `run`
    const auto meets = [&](std::uint64_t own, nopal::channel<int>& at, bool sends) {
      small_step_without_exceptions(around, own);
      if (sends)
        at.send(1);
      else
        at.recv();
    };
    point(around, "a computation", [&] {
      nopal::channel<int> at;
      nopal::run([&] {
        nopal::spawn([&] { meets(mixed(seed, 60), at, true); });
        meets(mixed(seed, 61), at, false);
      });
    });
    cancelled_thing ledger; // the spawned fiber is cancelled if the function throws
    const above inside{.next = &around, .region = &ledger};
    try {
      nopal::run([&] {
        nopal::spawn([&] { child(inside, any, 0, mixed(seed, 62), depth - 1); });
        try {
          child(around, any, 0, mixed(seed, 63), depth - 1);
        } catch (...) {
          ledger.begun = true;
          throw;
        }
      });
    } catch (...) {
      check_cause(around, false);
      throw;
    }
  }

  // Fibers that their computation's body cancels, while they may cancel regions around it.
  void cancelable(const above& around, std::uint64_t seed, int depth) {
    point(around, "a cancelable", [&] {
      nopal::run([&] {
        cancelled_thing ledger;
        std::atomic<int> begun{0};
        std::atomic<int> ended{0};
        const above inside{.next = &around, .region = &ledger};
        {
          nopal::cancelable some;
          const auto spawn = [&](std::uint64_t own) {
            nopal::spawn(some, [&, own] {
              begun += 1;
              const counted_end end{ended};
              try {
                steps(inside, own, depth - 2);
              } catch (const thrown&) {
              }
              wait_for_ever(inside, own);
            });
          };
          spawn(mixed(seed, 70));
          spawn(mixed(seed, 71));
          ledger.begun = true;
          some.cancel();
        }
        check(begun == ended, "a cancelable has ended before its fibers");
      });
    });
  }

  const std::uint64_t seed_;
  std::atomic<int> made_{0};
  std::atomic<int> destroyed_{0};
};

// Says what was wrong.
inline bool is_wrong(std::uint64_t seed, int depth) {
  const std::string wrong = random_cancellation{seed}.run(depth);
  if (!wrong.empty())
    std::fprintf(stderr, "seed %ju: %s\n", static_cast<std::uintmax_t>(seed), wrong.c_str());
  return !wrong.empty();
}
inline constexpr auto first_wrong_with = first_seed_with<is_wrong>;

} // namespace nopal_test
