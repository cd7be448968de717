// SPDX-License-Identifier: MIT
// knapsack: the 0/1 knapsack problem by branch and bound; 32 items in the papers.
//
// A node puts the next item in or leaves it out, a fork for the first of the two branches and no
// cut-off. Items come in the order of their value density, and a node ends when the room left,
// filled at the density of the next item, cannot beat the best value found so far, which all
// strands share. How much is visited thus depends on the order of the visits: a parallel run forks
// more or less often than the serial elision, whose forks are the ones stated here.
//
// `knapsack` forks the branch with the item and calls the one without it, `knapsack_swapped` has
// the two exchanged. nowa-ipdps21 (section V-A) compares the two orders: its first one suits
// runtimes that run forked children last, so it must be that of `knapsack_swapped`.
//
// The papers do not give their items. These are hard for their number: the values exceed the
// weights by little, the weights are multiples of ten and the capacity is not, so that the bound
// stays above what can be reached.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/harness.h"
#include "bench/random.h"

namespace bench {

struct knapsack_item {
  long weight;
  long value;
};

// What the strands share. `best` is only a bound: an old value prunes less, never wrongly.
struct knapsack_sack {
  const knapsack_item* end = nullptr;
  std::atomic<long> best = 0;

  void found(long value) {
    long known = best.load(std::memory_order_relaxed);
    while (known < value && !best.compare_exchange_weak(known, value, std::memory_order_relaxed)) {
    }
  }

  // floor(value + room * density) > best, without the division.
  bool can_improve(const knapsack_item* item, long room, long value) const {
    const long missing = best.load(std::memory_order_relaxed) - value + 1;
    return room * item->value >= missing * item->weight;
  }
};

template <bool Swapped> struct knapsack_search {
  // The best value of a full sack that begins with `value` and chooses from `item` on, or 0 where
  // there is none better than what is known.
  BENCH_TASK long explore(knapsack_sack* sack, const knapsack_item* item, long room, long value) {
    if (room < 0)
      return 0;
    if (item == sack->end) {
      sack->found(value);
      return value;
    }
    if (!sack->can_improve(item, room, value))
      return 0;
    const long room_with = room - item->weight;
    const long value_with = value + item->value;
    long first = 0;
    long second = 0;
    BENCH_SCOPE(s);
    if constexpr (Swapped) {
      BENCH_FORK(s, first, explore, sack, item + 1, room, value);
      second = explore(sack, item + 1, room_with, value_with);
    } else {
      BENCH_FORK(s, first, explore, sack, item + 1, room_with, value_with);
      second = explore(sack, item + 1, room, value);
    }
    BENCH_JOIN(s);
    return std::max(first, second);
  }
};

template <bool Swapped> class knapsack_problem_in_order {
public:
  explicit knapsack_problem_in_order(size chosen)
      : known_(chosen == size::test    ? of_test
               : chosen == size::quick ? of_quick
                                       : of_paper) {}

  long n() const { return known_.n; }

  // Of the serial elision; tests/bench/forks_test.cc counts them again.
  std::uint64_t forks() const { return Swapped ? known_.forks_swapped : known_.forks; }

  void prepare() {
    random_numbers random(2);
    items_.resize(static_cast<std::size_t>(known_.n));
    long steps = 0;
    for (knapsack_item& item : items_) {
      const auto weight = static_cast<long>(250 + (random.next() >> 33) % 500);
      steps += weight;
      item.weight = 10 * weight;
      item.value = item.weight + static_cast<long>((random.next() >> 33) % 4);
    }
    capacity_ = 10 * (steps / 2) + 9;
    std::sort(items_.begin(), items_.end(), [](const knapsack_item& x, const knapsack_item& y) {
      const long x_density = x.value * y.weight;
      const long y_density = y.value * x.weight;
      return x_density != y_density ? x_density > y_density : x.weight < y.weight;
    });
  }

  void compute() {
    sack_.end = items_.data() + items_.size();
    sack_.best.store(0, std::memory_order_relaxed);
    result_ = knapsack_search<Swapped>::explore(&sack_, items_.data(), capacity_, 0);
  }

  bool verify() const {
    return result_ == by_dynamic_programming() &&
           result_ == sack_.best.load(std::memory_order_relaxed);
  }

protected:
  // Item by item, the best value for each capacity.
  long by_dynamic_programming() const {
    std::vector<long> best(static_cast<std::size_t>(capacity_ + 1), 0);
    for (const knapsack_item& item : items_) {
      const auto weight = static_cast<std::size_t>(item.weight);
      for (std::size_t room = best.size(); room-- > weight;)
        best[room] = std::max(best[room], best[room - weight] + item.value);
    }
    return best.back();
  }

  struct known {
    int n;
    std::uint64_t forks;
    std::uint64_t forks_swapped;
  };
  static constexpr known of_test{18, 120'921, 176'195};
  static constexpr known of_quick{29, 54'996'810, 191'413'201};
  static constexpr known of_paper{32, 210'975'716, 990'140'927};

  known known_;
  std::vector<knapsack_item> items_;
  long capacity_ = 0;
  knapsack_sack sack_;
  long result_ = -1;
};

class knapsack_problem : public knapsack_problem_in_order<false> {
public:
  static constexpr const char* name = "knapsack";
  using knapsack_problem_in_order::knapsack_problem_in_order;
};

class knapsack_swapped_problem : public knapsack_problem_in_order<true> {
public:
  static constexpr const char* name = "knapsack_swapped";
  using knapsack_problem_in_order::knapsack_problem_in_order;
};

} // namespace bench
