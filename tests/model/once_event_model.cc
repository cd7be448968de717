// SPDX-License-Identifier: MIT
// Models of an event that happens once: each waiter goes on once, and sees what was set.
//
// The calls are those of fibers/waits.cc.
#include "harness.h"
#include "mortal.h"

#include "nopal/sync/choice.h"
#include "nopal/sync/once_event.h"

namespace nopal::model {
namespace {

struct waiter {
  bool claim() noexcept { return woken_by.claim(0); }

  base::handed_over<waiter*> next_waiting{nullptr};
  base::handed_over<waiter*> before_waiting{nullptr};
  sync::choice woken_by;
  base::atomic<std::uint32_t> woken{0};
};

template <int Waiters> struct waits : scenario<waits<Waiters>, Waiters + 1> {
  sync::once_event<waiter> event;
  base::handed_over<int> value{0};
  waiter all[Waiters];
  bool passed[Waiters] = {};

  void thread(unsigned self) {
    if (self == Waiters) {
      value = 7;
      for (waiter* waiting = event.happen(); waiting != nullptr;) {
        waiter* const next = waiting->next_waiting;
        waiting->woken.store(1, base::release); // make_ready
        waiting = next;
      }
      return;
    }
    waiter& mine = all[self];
    if (!event.happened() && event.join(&mine))
      for (unsigned tries = 1; mine.woken.load(base::acquire) == 0; ++tries)
        base::wait_briefly(tries);
    check(value == 7, "a waiter does not see the value");
    passed[self] = true;
  }
  void after() {
    for (const bool each : passed)
      check(each, "a waiter was not woken");
  }
};

// The thread that saw the event happen ends it.
struct ends : scenario<ends, 2> {
  mortal<sync::once_event<waiter>> event;
  waiter mine;

  void before() { event.begin(); }
  void thread(unsigned self) {
    if (self == 1) {
      if (waiter* const waiting = event->happen())
        waiting->woken.store(1, base::release);
      return;
    }
    if (!event->happened() && event->join(&mine))
      while (mine.woken.load(base::acquire) == 0)
        base::spin_pause();
    event->settle();
    event.end();
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<waits<1>>("one waits");
  models.bounded<waits<1>>("one waits", 3);
  models.random<waits<2>>("two wait");
  models.bounded<waits<2>>("two wait", 2);
  models.random<ends>("the waiter ends the event");
  models.bounded<ends>("the waiter ends the event", 3);
  return models.result();
}
