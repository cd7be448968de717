// SPDX-License-Identifier: MIT
// Models of the public ring: every entry goes to one taker, with the frame behind it.
#include "harness.h"
#include "strand.h"

#include "nopal/deque/public_ring.h"

namespace nopal::model {
namespace {

using deque::entry;
using deque::outcome;

int group_word;
int other_word;
void* const group = &group_word;
void* const other = &other_word;

template <std::uint32_t Capacity> struct ring_state {
  static constexpr int strands = 3;
  deque::public_ring<fork_record, Capacity> ring;
  fork_record records[strands];
  strand work[strands];

  void push(int i, void* for_group = group) noexcept {
    work[i].prepare();
    records[i].continuation = &work[i];
    records[i].complete(0);
    ring.push({&records[i], &work[i], for_group}, 0);
  }
  bool take_back(int i) noexcept {
    std::uintptr_t split = 0;
    const bool ours = ring.withdraw(&records[i], split);
    if (ours)
      work[i].resume();
    return ours;
  }
  outcome steal(void* wanted) noexcept {
    entry<fork_record> taken{};
    const outcome result = ring.steal(wanted, taken);
    if (result == outcome::got) {
      check(wanted == nullptr || taken.group == wanted, "the wrong group's fork was taken");
      const auto i = taken.record - records;
      check(i >= 0 && i < strands && taken.frame == &work[i], "fork and frame do not match");
      taken.frame->resume();
    }
    return result;
  }
};

// The owner forks one strand after the other at the same place and takes back what it can. A thief
// that was between its load and its compare-and-swap meanwhile must not succeed (ABA).
struct published_anew : scenario<published_anew, 3>, ring_state<2> {
  void thread(unsigned self) {
    if (self != 0) {
      steal(nullptr);
      return;
    }
    for (int i = 0; i < strands; ++i) {
      push(i);
      taken_back[i] = take_back(i);
    }
  }
  void after() {
    for (int i = 0; i < strands; ++i)
      work[i].check_resumed_once();
  }
  bool taken_back[strands]{};
};

// Two forks at a time in a ring of two: the places are used again, and the newest goes back first.
struct full_ring : scenario<full_ring, 3>, ring_state<2> {
  void thread(unsigned self) {
    if (self != 0) {
      for (int tries = 0; tries < 2; ++tries)
        steal(nullptr);
      return;
    }
    push(0);
    push(1);
    const bool newest = take_back(1);
    const bool oldest = take_back(0);
    check(oldest || newest || work[0].times_resumed() == 1, "a thief took the newest");
    if (!newest && !oldest)
      check(ring.empty(), "a fork that was neither taken nor stolen is gone");
    push(2);
    take_back(2);
  }
  void after() {
    for (int i = 0; i < strands; ++i)
      work[i].check_resumed_once();
  }
};

// A thief that may take one group's forks only.
struct two_groups : scenario<two_groups, 3>, ring_state<4> {
  void thread(unsigned self) {
    if (self == 1) {
      steal(other);
      return;
    }
    if (self == 2) {
      steal(nullptr);
      if (ring.holds(other))
        steal(other);
      return;
    }
    push(0, group);
    push(1, other);
    take_back(1);
    take_back(0);
  }
  void after() {
    work[0].check_resumed_once();
    work[1].check_resumed_once();
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<published_anew>("ring: published anew, two thieves", 5);
  models.bounded<published_anew>("ring: published anew, two thieves", 2);
  models.random<full_ring>("ring: full, two thieves", 2);
  models.bounded<full_ring>("ring: full, two thieves", 2);
  models.random<two_groups>("ring: two groups, two thieves");
  models.bounded<two_groups>("ring: two groups, two thieves", 2);
  return models.result();
}
