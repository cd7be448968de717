// SPDX-License-Identifier: MIT
// Models of a vproc's own ready queue: each fiber goes to one taker, with what was written before,
// and a thread that is about to sleep and the owner who adds do not miss each other.
//
// The calls are those of sched/park.cc (make_ready, take_ready, steal_ready, switch_to_next) and
// sched/idle.cc (announce_ready, sleep).
#include "harness.h"
#include "strand.h"

#include "nopal/sync/local_queue.h"
#include "nopal/sync/parking.h"

namespace nopal::model {
namespace {

struct member {
  base::handed_over<member*> next{nullptr};
  strand work;
};

template <int Fibers> struct queue_state {
  sync::local_queue<member> ready;
  member fibers[Fibers];

  void add(int i) noexcept {
    fibers[i].work.prepare();
    ready.add(&fibers[i]);
  }
  bool take() noexcept {
    member* const taken = ready.take();
    if (taken != nullptr)
      taken->work.resume();
    return taken != nullptr;
  }
  bool steal() noexcept {
    member* const taken = ready.steal(sync::any_member{});
    if (taken != nullptr)
      taken->work.resume();
    return taken != nullptr;
  }
  void check_all() noexcept {
    for (member& each : fibers)
      each.work.check_resumed_once();
  }
};

// The owner adds and takes; what it does not get, thieves have got.
template <int Thieves, bool Fenced>
struct owner_and_thieves : scenario<owner_and_thieves<Thieves, Fenced>, Thieves + 1>,
                           queue_state<3> {
  void before() { ready.open(Fenced); }
  void thread(unsigned self) {
    if (self != 0) {
      steal();
      steal();
      return;
    }
    add(0);
    add(1);
    take();
    add(2);
    while (take())
      continue;
  }
  void after() { check_all(); }
};

// The owner leaves one strand for the next one, and has left its stack only when it settles.
struct switches : scenario<switches, 2>, queue_state<3> {
  void thread(unsigned self) {
    if (self != 0) {
      steal();
      steal();
      return;
    }
    add(0);
    add(1);
    member* const next = ready.leave_for_next(&fibers[2], [](const member*) { return true; });
    if (next != nullptr) {
      fibers[2].work.prepare(); // the registers are saved after the exchange
      ready.settle();
      next->work.resume();
    } else {
      fibers[2].work.prepare();
      fibers[2].work.resume();
    }
    while (take())
      continue;
  }
  void after() { check_all(); }
};

// The owner adds a fiber and never takes it. A thread that sleeps must be woken, or see it.
template <bool Fenced> struct sleeper : scenario<sleeper<Fenced>, 2>, queue_state<1> {
  sync::idle_count idle;
  sync::parking_place parking;

  void before() { ready.open(Fenced); }
  void thread(unsigned self) {
    if (self == 0) {
      add(0);
      if (idle.may_want_wake())
        parking.wake(idle);
      return;
    }
    while (!steal()) {
      parking.announce(idle);
      base::heavy_barrier();
      if (!ready.empty())
        parking.cancel(idle);
      else
        parking.wait(idle, for_ever);
    }
  }
  void after() { check_all(); }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<owner_and_thieves<1, false>>("one thief");
  models.bounded<owner_and_thieves<1, false>>("one thief", 2);
  models.random<owner_and_thieves<2, false>>("two thieves");
  models.random<owner_and_thieves<2, true>>("two thieves, no heavy barrier");
  models.random<switches>("a switch to the next");
  models.bounded<switches>("a switch to the next", 2);
  models.random<sleeper<false>>("a sleeper");
  models.bounded<sleeper<false>>("a sleeper", 3);
  models.random<sleeper<true>>("a sleeper, no heavy barrier");
  return models.result();
}
