// SPDX-License-Identifier: MIT
// Models of lent places: while a fiber is ready and a place is free, not all threads sleep.
//
// The calls and their order are those of vproc/spares.cc (lending, lend_spare, rest_until_wanted),
// vproc/arenas.cc, vproc/ready.cc (enqueue_on, unpin_actions), sched/idle.cc (sleep, sleep_at,
// rest) and sched/steal.cc (find_work). A fiber that nobody takes shows as a deadlock.
#include "waiter.h"

#include "nopal/base/count.h"
#include "nopal/sync/parking.h"

namespace nopal::model {
namespace {

bool any(const waiter*) noexcept { return true; }

// The threads of the pool, of which some are spares, and the fibers that are ready. A thread that
// takes a fiber runs it for ever.
template <int Threads, int Fibers> struct pool {
  sync::idle_count idle;
  sync::parking_place parking[Threads];
  bool in_pool[Threads] = {};
  waiter fibers[Fibers];
  sync::shared_queue<waiter> ready;
  base::atomic<int> taken{0};
  base::atomic<bool> searches{false}; // thread 1 does, or sleeps until work wakes it

  // A thread waits for its region, whose strand waits for what others run.
  sync::parking_place region;
  base::atomic<bool> finished{false};

  // arenas.cc
  base::spin_lock arenas_lock;
  base::handed_over<int> free_places{0};

  // spares.cc
  base::spin_lock lock;
  base::handed_over<int> lent_places{0};
  base::handed_over<int> active{0};
  base::handed_over<int> resting{0};
  base::handed_over<int> called{0};
  base::atomic<bool> ended{false};
  base::atomic<std::uint32_t> spare_wanted{0};

  void wake_resting() noexcept { // lock held
    spare_wanted.store(spare_wanted.load(base::relaxed) + 1, base::relaxed);
    for (int i = 0; i < Threads; ++i)
      base::futex_wake_one(spare_wanted);
  }
  bool call_spare() noexcept {
    const base::locked guard{lock};
    lent_places += 1;
    if (active >= lent_places)
      return false;
    check(resting > 0, "more spares are wanted than places are lent");
    resting += -1;
    called += 1;
    wake_resting();
    active += 1;
    return true;
  }
  void lend_spare() noexcept {
    if (call_spare())
      return;
    if (idle.wants_wake())
      wake_pool_thread();
  }
  void take_spare_back() noexcept {
    const base::locked guard{lock};
    lent_places += -1;
  }
  bool too_many_spares() noexcept {
    const base::locked guard{lock};
    return active > lent_places;
  }
  // False: the pool ends.
  bool wait_until_called() noexcept { // lock held
    while (called == 0 && !ended.load(base::relaxed)) {
      const std::uint32_t seen = spare_wanted.load(base::relaxed);
      lock.unlock();
      base::futex_wait(spare_wanted, seen);
      lock.lock();
    }
    if (called == 0)
      return false;
    called += -1;
    return true;
  }
  bool rest_until_wanted() noexcept {
    const base::locked guard{lock};
    if (active <= lent_places)
      return true;
    active += -1;
    resting += 1;
    return wait_until_called();
  }
  bool begin_spare() noexcept { // one that rests from the beginning
    const base::locked guard{lock};
    return wait_until_called();
  }
  void end_pool() noexcept {
    {
      const base::locked guard{lock};
      ended.store(true, base::relaxed);
      wake_resting();
    }
    base::full_fence();
    for (sync::parking_place& each : parking)
      each.wake(idle);
  }

  void lend_places(int number) noexcept {
    const base::locked guard{arenas_lock};
    free_places += number;
  }
  bool take_place() noexcept {
    const base::locked guard{arenas_lock};
    if (free_places <= 0)
      return false;
    free_places += -1;
    return true;
  }

  // groups.cc; so many places of an arena are lent meanwhile. After that the pool ends.
  void sleep_in_region(int places) noexcept {
    while (!finished.load(base::acquire)) {
      region.announce(idle);
      base::full_fence();
      if (finished.load(base::relaxed)) {
        region.cancel(idle);
        continue;
      }
      if (places != 0)
        lend_places(places);
      const bool lends = true; // however many others search
      if (lends)
        lend_spare();
      region.wait(idle, for_ever);
      take_spare_back();
      if (places != 0)
        lend_places(-places);
    }
    end_pool();
  }
  void finish_region() noexcept {
    finished.store(true, base::release);
    base::full_fence();
    region.wake(idle);
  }

  // wake.cc
  bool wake_pool_thread() noexcept {
    const unsigned first = rl::rand(Threads);
    for (unsigned i = 0; i < Threads; ++i)
      if (in_pool[(first + i) % Threads] && parking[(first + i) % Threads].wake(idle))
        return true;
    return false;
  }
  void make_ready(waiter& fiber) noexcept {
    fiber.work.prepare();
    ready.add(&fiber);
    if (idle.anybody_asleep() && idle.wants_wake())
      wake_pool_thread();
  }

  // idle.cc
  void begin_search(unsigned self) noexcept {
    if (self == 1)
      searches.store(true, base::relaxed);
    idle.searching.fetch_add(1, base::seq_cst);
  }
  void pause_search() noexcept { idle.searching.fetch_sub(1, base::seq_cst); }
  void hand_over() noexcept {
    if (idle.anybody_asleep() && idle.wants_wake())
      wake_pool_thread();
  }
  template <class HasWork> void sleep(unsigned self, HasWork has_work) noexcept {
    parking[self].announce(idle);
    pause_search();
    base::full_fence();
    if (has_work() || ended.load(base::relaxed))
      parking[self].cancel(idle);
    else
      parking[self].wait(idle, for_ever);
    begin_search(self);
  }
  // A vproc that is bound to no group looks for a fiber until it has one, or the pool ends.
  template <class Take, class HasWork>
  bool search(unsigned self, bool is_spare, Take take, HasWork has_work) noexcept {
    begin_search(self);
    for (;;) {
      if (is_spare && too_many_spares()) {
        pause_search();
        hand_over();
        if (!rest_until_wanted())
          return false;
        begin_search(self);
      }
      if (ended.load(base::relaxed)) {
        pause_search();
        return false;
      }
      if (waiter* const found = take()) {
        if (self == 1)
          searches.store(false, base::relaxed);
        pause_search();
        hand_over();
        found->work.resume();
        return true;
      }
      sleep(self, has_work);
    }
  }
  bool search_fibers(unsigned self, bool is_spare) noexcept {
    return search(
        self, is_spare, [this] { return ready.take(any); }, [this] { return ready.holds(any); });
  }

  void check_end() {
    for (const waiter& each : fibers)
      each.work.check_resumed_once();
    check(lent_places == 0, "a place is lent, and nobody sleeps");
    check(idle.asleep.load(base::relaxed) == 0, "asleep does not count sleepers");
    check(idle.searching.load(base::relaxed) == 0, "searching does not count searchers");
  }
};

// Thread 0 sleeps in its region until two fibers were taken. Thread 1 takes one of them; a spare
// must take the other, in the place of thread 0.
struct sleeps_in_region : scenario<sleeps_in_region, 4>, pool<4, 2> {
  void before() {
    in_pool[1] = in_pool[2] = true;
    resting = 1;
  }
  void search_here(unsigned self) noexcept {
    if (search_fibers(self, self == 2) && taken.fetch_add(1, base::acq_rel) == 1)
      finish_region();
  }
  void thread(unsigned self) {
    if (self == 0)
      return sleep_in_region(0);
    if (self == 1)
      return search_here(1);
    if (self == 2) {
      if (begin_spare())
        search_here(2);
      return;
    }
    for (waiter& each : fibers)
      make_ready(each);
  }
  void after() { check_end(); }
};

// Thread 0 has the only place of an arena and sleeps in a region there until a fiber of the arena
// was taken. Thread 1 is an active spare, for thread 2, which takes its place back. Thread 3 is a
// spare that rests.
struct place_of_arena : scenario<place_of_arena, 4>, pool<4, 1> {
  void before() {
    in_pool[1] = in_pool[3] = true;
    active = 1;
    lent_places = 1;
    resting = 1;
    fibers[0].work.prepare();
    ready.add(&fibers[0]);
  }
  waiter* visit() noexcept {
    if (!take_place())
      return nullptr;
    waiter* const found = ready.take(any);
    if (found == nullptr)
      lend_places(1);
    return found;
  }
  bool has_work() noexcept {
    if (!take_place())
      return false;
    const bool found = ready.holds(any);
    lend_places(1);
    return found;
  }
  void search_arena(unsigned self) noexcept {
    if (search(self, true, [this] { return visit(); }, [this] { return has_work(); })) {
      lend_places(1);
      finish_region();
    }
  }
  void thread(unsigned self) {
    if (self == 0) {
      sleep_in_region(1);
    } else if (self == 2) {
      take_spare_back();
    } else if (self == 1 || begin_spare()) {
      search_arena(self);
    }
  }
  void after() { check_end(); }
};

// Another thread enqueues an action, which is pinned, on a vproc whose thread runs no more: since
// it blocks, sleeps in a region, or has a stand-in. A thread of the pool must take the action.
enum class how { blocks, sleeps, stood_in };

template <how How> struct pinned_action : scenario<pinned_action<How>, 3>, pool<3, 1> {
  sync::shared_queue<waiter> remote;
  base::atomic<bool> bound{false};
  base::count blocked;
  base::atomic<bool> stood_in{false};

  void before() { this->in_pool[2] = true; }
  void unpin_actions() noexcept {
    base::full_fence();
    while (waiter* const start = remote.take(any)) {
      this->ready.add(start);
      if (this->idle.anybody_asleep() && this->idle.wants_wake())
        this->wake_pool_thread();
    }
  }
  void enqueue() noexcept {
    this->fibers[0].work.prepare();
    remote.add(&this->fibers[0]);
    base::full_fence(); // wake_vproc
    if (bound.load(base::relaxed) || blocked.any() || stood_in.load(base::relaxed))
      unpin_actions();
  }
  void stop_running() noexcept {
    if (How == how::blocks)
      blocked.add();
    if (How == how::sleeps) {
      bound.store(true, base::relaxed);
      this->region.announce(this->idle);
    }
    if (How == how::stood_in)
      stood_in.store(true, base::seq_cst);
    unpin_actions();
  }
  void thread(unsigned self) {
    if (self == 0)
      return stop_running();
    if (self == 1)
      return enqueue();
    this->search_fibers(self, false);
  }
  void after() {
    if (How == how::sleeps)
      this->region.cancel(this->idle);
    this->check_end();
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<sleeps_in_region>("a thread sleeps in its region", 2);
  models.random<place_of_arena>("a place of an arena, a spare that sleeps", 5);
  models.random<pinned_action<how::blocks>>("an action of a thread that blocks");
  models.random<pinned_action<how::sleeps>>("an action of a thread that sleeps");
  models.random<pinned_action<how::stood_in>>("an action of a thread with a stand-in");
  return models.result();
}
