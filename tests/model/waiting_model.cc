// SPDX-License-Identifier: MIT
// Models of strands that become ready while workers fall asleep, and of slots of the table that
// come into use.
//
// The calls and their order are those of sched/park.cc (make_ready), sched/steal.cc (find_work),
// sched/idle.cc (begin_search to end_search, announce_work) and vproc/table.cc (take_worker). A
// strand that is left behind shows as a deadlock.
#include "waiter.h"

#include "nopal/sync/parking.h"

namespace nopal::model {
namespace {

// What the workers of the scenarios below share: thread 0 is no worker.
template <int Workers> struct idle_workers {
  sync::idle_count idle;
  sync::parking_place parking[Workers + 1];

  bool wake_pool_worker() noexcept {
    const unsigned first = rl::rand(Workers);
    for (unsigned i = 0; i < Workers; ++i)
      if (parking[1 + (first + i) % Workers].wake(idle))
        return true;
    return false;
  }
  void check_counts() noexcept {
    check(idle.asleep.load(base::relaxed) == 0, "asleep does not count sleepers");
  }
};

// Strands become ready while workers fall asleep; each worker takes one. If only the waiting thread
// may take them, it must be woken although another thread searches all the time.
enum class amid { pool, bound, vain_steals };

template <int Workers, amid Amid>
struct becomes_ready : scenario<becomes_ready<Workers, Amid>, Workers + 1>, idle_workers<Workers> {
  static constexpr bool bound = Amid == amid::bound;
  waiter strands[Workers];
  sync::shared_queue<waiter> ready;

  void before() { this->idle.searching.store(bound ? 1 : 0, base::relaxed); }
  static auto wanted() noexcept {
    return [](const waiter* strand) { return !bound || strand->home == 1; };
  }

  void make_ready(waiter& strand) noexcept {
    strand.work.prepare();
    strand.home = 1;
    ready.add(&strand);
    if (this->idle.anybody_asleep() && !(bound && this->parking[1].wake(this->idle)) &&
        this->idle.wants_wake())
      this->wake_pool_worker();
  }

  void sleep(unsigned self) noexcept {
    this->parking[self].announce(this->idle);
    if (!bound)
      this->idle.searching.fetch_sub(1, base::seq_cst);
    base::full_fence();
    if (ready.holds(wanted()))
      this->parking[self].cancel(this->idle);
    else
      this->parking[self].wait(this->idle, for_ever);
    if (!bound)
      this->idle.searching.fetch_add(1, base::seq_cst);
  }

  // Where steals are in vain, the worker looks itself before it wakes another.
  void hand_over() noexcept {
    if (!this->idle.anybody_asleep())
      return;
    if (Amid == amid::vain_steals && !ready.holds(wanted()))
      return;
    if (this->idle.wants_wake())
      this->wake_pool_worker();
  }

  void search(unsigned self) noexcept {
    if (!bound)
      this->idle.searching.fetch_add(1, base::seq_cst);
    waiter* taken = nullptr;
    while ((taken = ready.take(wanted())) == nullptr)
      sleep(self);
    if (!bound)
      this->idle.searching.fetch_sub(1, base::seq_cst);
    hand_over();
    taken->work.resume();
  }

  void thread(unsigned self) {
    if (self != 0)
      return search(self);
    for (waiter& strand : strands)
      make_ready(strand);
  }
  void after() {
    this->check_counts();
    for (const waiter& each : strands)
      each.work.check_resumed_once();
  }
};

// A worker gets a slot that was not in use, forks, and goes on for ever, while another one falls
// asleep. This is table.cc (take_worker), with the push and its publication shortened.
struct comes_into_use : scenario<comes_into_use, 2>, idle_workers<1> {
  base::atomic<std::uint32_t> in_use{1};
  base::atomic<bool> limit_is_low{false}; // of the worker in slot 1
  base::atomic<bool> mark{false};

  void come_into_use() noexcept {
    in_use.store(2, base::release);
    limit_is_low.store(true, base::relaxed); // ask
  }
  void push() noexcept {
    mark.store(true, base::relaxed);
    base::light_barrier();
    if (limit_is_low.load(base::relaxed) && idle.anybody_asleep())
      wake_pool_worker();
  }
  bool has_work() noexcept { return in_use.load(base::acquire) == 2 && mark.load(base::relaxed); }

  void search() noexcept {
    while (!has_work()) {
      parking[1].announce(idle);
      base::full_fence();
      if (in_use.load(base::acquire) == 2)
        limit_is_low.store(true, base::relaxed);
      base::heavy_barrier();
      if (has_work())
        parking[1].cancel(idle);
      else
        parking[1].wait(idle, for_ever);
    }
  }

  void thread(unsigned self) {
    if (self != 0)
      return search();
    come_into_use();
    push();
  }
  void after() { check_counts(); }
};

// A thread makes a strand ready and wakes nobody, since a spare searches. The spare wakes another
// worker before it rests.
struct spare_rests : scenario<spare_rests, 3>, idle_workers<2> {
  static constexpr unsigned spare = 2;
  waiter strand;
  sync::shared_queue<waiter> ready;
  base::atomic<bool> over{false};

  static bool any(const waiter*) noexcept { return true; }

  void make_ready() noexcept {
    strand.work.prepare();
    ready.add(&strand);
    if (idle.anybody_asleep() && idle.wants_wake())
      wake_pool_worker();
  }

  // The spare looks once, and then rests (rest_as_spare).
  void look_and_rest() noexcept {
    idle.searching.fetch_add(1, base::seq_cst);
    waiter* const taken = ready.take(any);
    idle.searching.fetch_sub(1, base::seq_cst);
    if (taken != nullptr) {
      taken->work.resume();
      over.store(true, base::relaxed); // tells the other that there is nothing more to come
      if (idle.anybody_asleep())
        parking[1].wake(idle);
    } else if (idle.anybody_asleep() && idle.wants_wake()) { // hand_over
      wake_pool_worker();
    }
  }

  void search() noexcept {
    idle.searching.fetch_add(1, base::seq_cst);
    waiter* taken = nullptr;
    while ((taken = ready.take(any)) == nullptr && !over.load(base::relaxed)) {
      parking[1].announce(idle);
      idle.searching.fetch_sub(1, base::seq_cst);
      base::full_fence();
      if (!ready.holds(any) && !over.load(base::relaxed))
        parking[1].wait(idle, for_ever);
      else
        parking[1].cancel(idle);
      idle.searching.fetch_add(1, base::seq_cst);
    }
    idle.searching.fetch_sub(1, base::seq_cst);
    if (taken != nullptr)
      taken->work.resume();
  }

  void thread(unsigned self) {
    if (self == 0)
      make_ready();
    else if (self == spare)
      look_and_rest();
    else
      search();
  }
  void after() {
    check_counts();
    strand.work.check_resumed_once();
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<becomes_ready<1, amid::pool>>("a ready strand, one worker");
  models.bounded<becomes_ready<1, amid::pool>>("a ready strand, one worker", 2);
  models.random<becomes_ready<2, amid::pool>>("two ready strands, two workers", 2);
  models.random<becomes_ready<1, amid::bound>>("a ready strand of a waiting thread");
  models.random<becomes_ready<2, amid::vain_steals>>("two ready strands, steals in vain", 2);
  models.random<comes_into_use>("a slot that comes into use");
  models.bounded<comes_into_use>("a slot that comes into use", 2);
  models.random<spare_rests>("a strand ready while a spare rests", 3);
  return models.result();
}
