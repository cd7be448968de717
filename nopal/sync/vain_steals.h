// SPDX-License-Identifier: MIT
// Whether a thief's steals are worth their searches, and how long it rests if they are not.
//
// A strand may fork again and again with nothing behind the fork but the join. Each continuation
// can be stolen, and each steal is in vain: the thief stops at the join at once. A thief that finds
// nothing else would keep a processor busy with that.
//
// A steal is in vain if the stolen strand ran for less than `short_run`, and for less than a
// quarter of the search before it, sleep included. After `many` steals in vain the thief rests
// before each search: at first briefly, then twice as long each time. A stolen strand that runs for
// `short_run` or more halves their number; where the thief rests, one that runs for longer than a
// steal takes.
//
// What slow paths of forks take is no part of a run. A flat loop of forks may move to and fro
// between two workers, each of which runs a few children in two microseconds, all but a few
// nanoseconds of them in slow paths.
//
// Bound: a continuation waits for its thief at most `rest_us_most` longer. Steals behind a
//        search that are not worth it lose at most a fifth of a thief's time: it took the rest.
// Ownership: the thread's. Times are cycles of the processor's clock.
#pragma once

#include "nopal/config.h"

#include <algorithm>
#include <cstdint>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

class vain_steals {
public:
  static constexpr unsigned rest_us_most = 1000;

  bool are_many() const noexcept { return number_ >= many; }

  // Whether the last stolen strand ran for longer than a steal takes.
  bool last_was_long() const noexcept { return ran_ > long_steal; }

  // A search begins, and so a stolen strand has ended. How many microseconds to rest first. The
  // time is read if the run is measured.
  unsigned begin_search(std::uint64_t now) noexcept {
    if (measures_) {
      pause(now);
      measures_ = false;
      ran_ = run_;
      if (ran_ >= short_run || (are_many() && ran_ >= long_steal))
        number_ >>= weight_;
      else if (ran_ < searched_ / 4)
        number_ = std::min(number_ + weight_, many + doublings);
    }
    if (!are_many())
      return 0;
    const unsigned rest = rest_us_least << (number_ - many);
    return rest < rest_us_most ? rest : rest_us_most;
  }
  void begin_look(std::uint64_t now) noexcept { look_began_ = now; } // after the rest
  void end_look(std::uint64_t now, bool stole) noexcept {
    measures_ = stole;
    weight_ = 1;
    searched_ = now - look_began_;
  }
  void begin_run(std::uint64_t now) noexcept {
    run_ = 0;
    go_on(now);
  }

  // Instead of these three, where it has stolen without a search: such a steal is in vain if the
  // strand runs for less than a steal takes. One run of `at_once` is measured, and counts for all,
  // since the clock waits for what runs: it would take a tenth of the steal.
  bool is_to_measure() noexcept { return ++steals_at_once_ % at_once == 0; }
  void begin_run_at_once(std::uint64_t now) noexcept {
    measures_ = true;
    weight_ = at_once;
    searched_ = 4 * long_steal;
    begin_run(now);
  }

  // If the run is measured: the strand enters a slow path of a fork, and leaves it. What that takes
  // is no part of the run.
  bool measures() const noexcept { return measures_; }
  void pause(std::uint64_t now) noexcept {
    if (!std::exchange(paused_, true))
      run_ += now - run_began_;
  }
  void go_on(std::uint64_t now) noexcept {
    run_began_ = now;
    paused_ = false;
  }

private:
  static constexpr std::uint64_t short_run = 5000;  // about two microseconds
  static constexpr std::uint64_t long_steal = 1500; // about half a microsecond
  static constexpr unsigned at_once = 8;
  static constexpr unsigned many = 32;
  static constexpr unsigned doublings = 6;
  static constexpr unsigned rest_us_least = 30;

  std::uint64_t look_began_ = 0;
  std::uint64_t searched_ = 0;
  std::uint64_t run_began_ = 0; // or goes on, behind a slow path
  std::uint64_t run_ = 0;       // before that
  std::uint64_t ran_ = 0;       // the last run that was measured
  unsigned number_ = 0;
  unsigned weight_ = 1;
  unsigned steals_at_once_ = 0;
  bool measures_ = false;
  bool paused_ = false;
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
