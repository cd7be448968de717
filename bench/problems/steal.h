// SPDX-License-Identifier: MIT
// steal: one continuation with a frame of 3 KB, which is stolen again and again, as in section 6.3
// of uni-address-hpdc15; --n is how often. steal_slowly: with a child that takes 300 times as long.
//
// Its child computes for a while, which gives another process the time to steal the continuation
// from a victim that is busy. The thief finds that the child has not ended, and suspends it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "bench/harness.h"
#include "bench/unit.h"

namespace bench {

BENCH_TASK long steal_child(long number, long units) { return spinning::units(units) + number; }

// The whole frame is written before the spawn, and looked at afterwards.
BENCH_TASK long steal_once(long number, long units) {
  std::array<volatile unsigned char, 2816> frame;
  for (std::size_t i = 0; i < frame.size(); ++i)
    frame[i] = static_cast<unsigned char>(i + static_cast<std::size_t>(number));
  BENCH_SCOPE(s);
  BENCH_SPAWN(s, child, steal_child, number, units);
  long same = 0;
  for (std::size_t i = 0; i < frame.size(); ++i)
    same += frame[i] == static_cast<unsigned char>(i + static_cast<std::size_t>(number));
  BENCH_JOIN_TASK(s, child);
  return child + same - static_cast<long>(frame.size());
}

BENCH_TASK long steal_often(long times, long units) {
  long sum = 0;
  for (long i = 0; i < times; ++i)
    sum += steal_once(i, units);
  return sum;
}

// Children compute for so many units.
template <long Units> class steals {
public:
  explicit steals(long times) : times_{times} {}

  long n() const { return times_; }
  std::uint64_t forks() const { return static_cast<std::uint64_t>(times_); }
  std::size_t region_size() const { return std::size_t{256} << 10; }

  auto root() const {
    return [times = times_] { return steal_often(times, Units); };
  }
  bool verify(long got) const { return got == times_ * Units + times_ * (times_ - 1) / 2; }

private:
  long times_;
};

class steal_problem : public steals<1000> {
public:
  static constexpr const char* name = "steal";

  explicit steal_problem(size chosen)
      : steals(chosen == size::test    ? 500
               : chosen == size::quick ? 10'000
                                       : 50'000) {}
  steal_problem(size, long n) : steals(n) {}
};

// For a network: a thief needs some 100 microseconds.
class steal_slowly_problem : public steals<300'000> {
public:
  static constexpr const char* name = "steal_slowly";

  explicit steal_slowly_problem(size chosen)
      : steals(chosen == size::test    ? 50
               : chosen == size::quick ? 500
                                       : 2000) {}
  steal_slowly_problem(size, long n) : steals(n) {}
};

} // namespace bench
