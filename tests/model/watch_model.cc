// SPDX-License-Identifier: MIT
// Models of the watch for events: whatever comes, an event or work that another thread publishes, a
// sleeper is woken for it.
//
// The calls and their order are those of sched/idle.cc and sched/steal.cc. The system has two bits:
// an event has come; the watcher is to be interrupted. A lost wake-up shows as a deadlock.
#include "harness.h"
#include "strand.h"

#include "nopal/sync/parking.h"

namespace nopal::model {
namespace {

struct fake_system {
  static constexpr std::uint32_t event = 1;
  static constexpr std::uint32_t interrupted = 2;

  base::atomic<std::uint32_t> word{0};
  base::atomic<int> come{0};
  base::handed_over<int> found{0}; // the events' buffer, which belongs to the watcher

  void raise(std::uint32_t bit) noexcept {
    word.fetch_or(bit, base::acq_rel);
    base::futex_wake_one(word);
  }
  void happen() noexcept {
    come.fetch_add(1, base::acq_rel);
    raise(event);
  }
  int take() noexcept {
    word.fetch_and(~event, base::acq_rel);
    return come.exchange(0, base::acq_rel);
  }
  void wait() noexcept {
    while (word.load(base::acquire) == 0)
      base::futex_wait(word, 0);
    word.fetch_and(~interrupted, base::acq_rel);
    found = take();
  }
};

fake_system* the_system = nullptr;

// A worker takes one strand and runs it for ever; each of two strands needs a worker of its own.
// One becomes ready by an event. The other is published by a thread, for any worker. Or the workers
// are bound and do not count as searching: the other strand is worker 0's alone, which wakes nobody
// for more work when it has it, and brings about the event of worker 1's.
template <bool Publishes> struct two_strands : scenario<two_strands<Publishes>, 4> {
  sync::idle_count idle;
  sync::parking_place parking[2];
  fake_system system;
  base::atomic<int> ready{0};
  base::atomic<int> finished{0}; // worker 0's own
  static inline two_strands* the_model = nullptr;
  sync::watch events{{[](std::int64_t) noexcept {
                        the_system->wait();
                        return true;
                      },
                      []() noexcept { the_system->raise(fake_system::interrupted); },
                      []() noexcept { the_model->make_ready(the_system->found); },
                      []() noexcept { the_model->make_ready(the_system->take()); },
                      []() noexcept { return true; }}};
  int taken = 0;

  void before() {
    the_system = &system;
    the_model = this;
    idle.events.store(&events, base::relaxed);
  }

  base::atomic<int>& wanted_by(unsigned self) noexcept {
    return !Publishes && self == 0 ? finished : ready;
  }
  bool take(unsigned self) noexcept {
    base::atomic<int>& from = wanted_by(self);
    int seen = from.load(base::acquire);
    while (seen > 0)
      if (from.compare_exchange_strong(seen, seen - 1, base::acq_rel, base::acquire))
        return true;
    return false;
  }
  bool wake_any() noexcept {
    const unsigned first = rl::rand(2);
    return parking[first].wake(idle) || parking[1 - first].wake(idle);
  }
  void begin_search() noexcept {
    if (Publishes)
      idle.searching.fetch_add(1, base::seq_cst);
  }
  void pause_search() noexcept {
    if (Publishes)
      idle.searching.fetch_sub(1, base::seq_cst);
  }
  void make_ready(int number) noexcept {
    if (number == 0)
      return;
    ready.fetch_add(number, base::acq_rel);
    if (idle.anybody_asleep() && !(!Publishes && parking[1].wake(idle)) && idle.wants_wake())
      wake_any();
  }
  void sleep(unsigned self) noexcept {
    parking[self].announce(idle); // S1
    pause_search();
    base::full_fence(); // S3
    if (wanted_by(self).load(base::relaxed) > 0) {
      parking[self].cancel(idle);
    } else if (!events.take()) {
      parking[self].wait(idle, for_ever);
    } else {
      parking[self].wait_for(events, idle, for_ever);
      begin_search();
      events.call.deliver();
      events.leave();
      return;
    }
    begin_search();
  }
  void work(unsigned self) noexcept {
    begin_search();
    for (;;) {
      events.call.look();
      if (take(self))
        break;
      sleep(self);
    }
    pause_search();
    ++taken;
    if (Publishes && idle.anybody_asleep() && idle.wants_wake() && wake_any()) // hand_over
      return;
    if (!events.taken() && idle.wants_wake()) // hand_over_watch
      wake_any();
  }

  void thread(unsigned self) {
    if (self < 2) {
      work(self);
      if (!Publishes && self == 0)
        system.happen();
      return;
    }
    if (Publishes)
      return self == 2 ? system.happen() : make_ready(1);
    if (self == 2)
      return;
    finished.store(1, base::release);
    base::full_fence();
    parking[0].wake(idle);
  }
  void after() {
    check(taken == 2, "a strand was not taken");
    check(idle.asleep.load(base::relaxed) == 0, "asleep does not count sleepers");
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<two_strands<true>>("an event and a fork, two workers", 15);
  models.random<two_strands<false>>("an event and the end of a group", 5);
  return models.result();
}
