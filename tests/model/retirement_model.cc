// SPDX-License-Identifier: MIT
// Models of the retirement of stacks: pages are never given back under a strand that runs, a strand
// whose stack a reclaimer had goes on once, and what is charged adds up.
#include "harness.h"

#include "nopal/stack/retirement.h"

namespace nopal::model {
namespace {

constexpr std::uint32_t kBudget = 4; // pages

// A strand that leaves its stack and goes on `Rounds` times. Thread 0 runs it first, and later the
// reclaimer that got it as a handoff. All other threads give pages back.
template <int Rounds, int Threads>
struct one_strand : scenario<one_strand<Rounds, Threads>, Threads> {
  stack::page_account account;
  stack::retirement retired;
  base::atomic<bool> over{false};
  base::handed_over<int> pages{0}; // what lies below the frame: the strand's, or the reclaimer's
  base::handed_over<int> locals{0};
  int went_on = 0; // the model's own notes
  int home = 0;

  void thread(unsigned self) {
    if (self == 0)
      run(0);
    while (!over.load(base::relaxed)) {
      stack::charge before;
      if (retired.claim(before, true))
        discard_dead(before);
      else
        base::spin_pause();
    }
  }

  // Returns when a reclaimer has the strand's stack.
  void run(int round) noexcept {
    while (round < Rounds) {
      ++round;
      pages = round;
      locals = round;
      stack::charge dead{3, false};
      if (!account.charge(dead.pages, kBudget))
        dead = {0, true};
      check(dead.pages == 3, "an account that nobody else uses is exceeded");
      retired.retire(static_cast<std::uintptr_t>(round), dead);
      if (!go_on())
        return;
    }
    over.store(true, base::relaxed);
  }

  bool go_on() noexcept {
    stack::charge dead;
    if (!retired.reuse({this, &home}, dead))
      return false;
    account.discharge(dead.pages);
    ++went_on;
    return true;
  }

  void discard_dead(stack::charge before) noexcept {
    const std::uintptr_t frames = retired.frames();
    pages = 0;
    const stack::charge left{before.counted ? 0u : 1u, true};
    account.discharge(before.pages - left.pages);
    stack::handoff to_do;
    if (!retired.give_back(before, left, to_do))
      return;
    check(to_do.frame == this && to_do.group == &home, "the handoff is another");
    check(locals == static_cast<int>(frames), "the frame is not as its owner left it");
    if (go_on())
      run(static_cast<int>(frames));
  }

  void after() {
    check(went_on == Rounds, "a strand did not go on");
    check(account.charged() == 0, "pages are charged that are in use");
  }
};

// A stack that is pooled in between: the thread that takes it from the pool has it, or leaves it to
// the reclaimer, which puts it back.
template <int Rounds> struct one_pooled : scenario<one_pooled<Rounds>, 3> {
  stack::page_account account;
  stack::retirement retired;
  base::atomic<bool> in_pool{false};
  base::atomic<int> over{0};
  base::handed_over<int> pages{0};

  void before() { put(); }
  void put() noexcept { in_pool.store(true, base::release); }

  void thread(unsigned self) {
    if (self == 2) {
      while (over.load(base::relaxed) < 2) {
        stack::charge before;
        if (retired.claim(before, true))
          discard_dead(before);
        else
          base::spin_pause();
      }
      return;
    }
    for (int round = 0; round < Rounds; ++round)
      use();
    over.fetch_add(1, base::relaxed);
  }

  void use() noexcept {
    bool there = true;
    if (!in_pool.compare_exchange_strong(there, false, base::acquire, base::relaxed))
      return;
    stack::charge dead;
    if (!retired.reuse({}, dead))
      return;
    account.discharge(dead.pages);
    pages = 1;
    check(account.charge(3, kBudget), "an account that nobody else uses is exceeded");
    retired.retire(7, {3, false});
    put();
  }

  void discard_dead(stack::charge before) noexcept {
    pages = 0;
    const stack::charge left{before.counted ? 0u : 1u, true};
    account.discharge(before.pages - left.pages);
    stack::handoff to_do;
    if (!retired.give_back(before, left, to_do))
      return;
    check(to_do.frame == nullptr, "a pooled stack has a handoff");
    put();
  }

  void after() { check(in_pool.load(base::relaxed), "a pooled stack was lost"); }
};

// Three stacks that come and go with a budget for one: what is charged never exceeds it.
struct one_account : scenario<one_account, 3> {
  stack::page_account account;
  int charged = 0; // the model's own note: a lower bound, raised late and lowered early

  void thread(unsigned self) {
    const std::uint32_t mine = self + 2;
    for (int i = 0; i < 2; ++i) {
      if (!account.charge(mine, kBudget))
        continue;
      charged += static_cast<int>(mine);
      check(charged <= static_cast<int>(kBudget), "more is charged than the budget");
      charged -= static_cast<int>(mine);
      account.discharge(mine);
    }
  }
  void after() { check(account.charged() == 0, "what was discharged stayed charged"); }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<one_strand<1, 2>>("retirement: one reclaimer");
  models.bounded<one_strand<2, 2>>("retirement: one reclaimer, two rounds", 2);
  models.random<one_strand<3, 2>>("retirement: one reclaimer, three rounds");
  models.random<one_strand<2, 3>>("retirement: two reclaimers, two rounds");
  models.bounded<one_strand<1, 3>>("retirement: two reclaimers", 2);
  models.random<one_pooled<2>>("retirement: pooled in between");
  models.bounded<one_pooled<1>>("retirement: pooled in between", 2);
  models.random<one_account>("account: three stacks");
  return models.result();
}
