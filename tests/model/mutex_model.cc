// SPDX-License-Identifier: MIT
// Models of strands that wait for a mutex, a semaphore or a condition. The calls and their order
// are those of fibers/waits.cc. A strand that is left behind shows as a deadlock.
#include "waiter.h"

namespace nopal::model {
namespace {

class mutex {
public:
  void lock(waiter& self) noexcept {
    if (!turn_.try_hold() && turn_.join(&self))
      self.wait();
  }
  void unlock() noexcept {
    if (turn_.try_free())
      return;
    const auto passed = turn_.pass();
    check(passed.was_held, "a mutex was unlocked that nobody had");
    check(passed.to != nullptr, "nobody was cancelled, and nobody gets the mutex");
    passed.to->woken.wake();
  }
  bool is_free() noexcept { return turn_.try_hold(); }

private:
  sync::permit_queue<waiter> turn_;
};

// Each thread enters a critical section `Times` times.
template <int Threads, int Times> struct exclusive : scenario<exclusive<Threads, Times>, Threads> {
  mutex lock;
  waiter waiters[Threads][Times];
  base::handed_over<int> entered{0};

  void thread(unsigned self) {
    for (int i = 0; i < Times; ++i) {
      lock.lock(waiters[self][i]);
      entered += 1;
      lock.unlock();
    }
  }
  void after() {
    check(entered == Threads * Times, "an entry was lost");
    check(lock.is_free(), "nobody has the mutex, and it is not free");
  }
};

using semaphore = sync::permit_queue<waiter>;

void give(semaphore& permits, unsigned number) noexcept {
  for (waiter* served = permits.give(number); served != nullptr;) {
    waiter* const next = served->next_waiting;
    served->woken.wake();
    served = next;
  }
}
unsigned free_permits(semaphore& permits) noexcept {
  unsigned number = 0;
  while (permits.try_hold())
    ++number;
  return number;
}

// Each thread takes one of so many permits, so often, and sees what was written under the one that
// it gets, if there is one only.
template <int Threads, int Times, unsigned Permits>
struct crowd : scenario<crowd<Threads, Times, Permits>, Threads> {
  semaphore permits{Permits};
  waiter waiters[Threads][Times];
  base::handed_over<int> entered{0};

  void thread(unsigned self) {
    for (int i = 0; i < Times; ++i) {
      waiter& mine = waiters[self][i];
      if (!permits.try_hold() && permits.join(&mine))
        mine.wait();
      if (Permits == 1)
        entered += 1;
      give(permits, 1);
    }
  }
  void after() {
    check(free_permits(permits) == Permits, "a permit was lost, or there is another");
  }
};

// One thread gives; the others take one each, and each of the last so many gives up, unless it gets
// one before that.
template <int Takers, int Hasty> struct given_up : scenario<given_up<Takers, Hasty>, Takers + 1> {
  semaphore permits{0};
  waiter waiters[Takers];
  bool had[Takers]{}; // the model's own note
  base::handed_over<int> written{0};

  bool take(waiter& mine, bool is_hasty) noexcept {
    if (permits.try_hold() || !permits.join(&mine))
      return true;
    if (is_hasty && mine.woken_by.claim(sync::choice::timed_out)) {
      permits.leave(&mine);
      return false;
    }
    mine.wait();
    return true;
  }
  void thread(unsigned self) {
    if (self == Takers) {
      written = 1;
      give(permits, 1);
      give(permits, Takers - 1);
      return;
    }
    had[self] = take(waiters[self], self >= Takers - Hasty);
    check(!had[self] || written == 1, "a permit came without what was written before");
  }
  void after() {
    unsigned all = free_permits(permits);
    for (const bool each : had)
      all += each ? 1 : 0;
    check(all == Takers, "a permit was lost, or there is another");
  }
};

enum class notified { one, one_inside, all };

// One thread puts items; each other thread takes one, and waits while there is none. The first
// thread notifies one waiter, while it holds the mutex or after that, or notifies all.
template <int Takers, notified How>
struct condition : scenario<condition<Takers, How>, Takers + 1> {
  static constexpr int most_waits = 4;
  mutex lock;
  sync::shared_queue<waiter, sync::by_next_waiting> takers;
  waiter waiters[Takers][2 * most_waits + 1];
  waiter putters[Takers];
  base::handed_over<int> there{0};

  void put_one(int number) noexcept {
    lock.lock(putters[number]);
    there += 1;
    if (How == notified::one_inside)
      notify_one();
    lock.unlock();
    if (How == notified::one)
      notify_one();
    else if (How == notified::all)
      notify_all();
  }
  void notify_one() noexcept {
    if (waiter* const first = takers.take(sync::claimable{}))
      first->woken.wake();
  }
  void notify_all() noexcept {
    for (waiter* first = takers.take_all(sync::claimable{}); first != nullptr;) {
      waiter* const next = first->next_waiting;
      first->woken.wake();
      first = next;
    }
  }

  void take_one(waiter* own) noexcept {
    lock.lock(*own++);
    for (int waits = 0; there == 0; ++waits) {
      check(waits < most_waits, "woken too often for nothing");
      takers.add(own);
      lock.unlock();
      (own++)->wait();
      lock.lock(*own++);
    }
    there += -1;
    lock.unlock();
  }

  void thread(unsigned self) {
    if (self != 0)
      return take_one(waiters[self - 1]);
    for (int i = 0; i < Takers; ++i)
      put_one(i);
  }
  void after() {
    check(there == 0, "something was taken twice, or not at all");
    check(lock.is_free(), "nobody has the mutex, and it is not free");
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<exclusive<2, 2>>("a mutex, two threads twice");
  models.bounded<exclusive<2, 1>>("a mutex, two threads", 2);
  models.random<exclusive<3, 2>>("a mutex, three threads twice", 2);
  models.random<crowd<2, 2, 1>>("a semaphore of one, two threads twice");
  models.bounded<crowd<2, 1, 1>>("a semaphore of one, two threads", 2);
  models.random<crowd<3, 2, 2>>("a semaphore of two, three threads twice", 2);
  models.random<given_up<2, 1>>("a semaphore, one of two gives up");
  models.random<given_up<2, 2>>("a semaphore, both give up");
  models.random<given_up<3, 1>>("a semaphore, one of three gives up", 2);
  models.random<condition<1, notified::one>>("a condition, one waits");
  models.random<condition<1, notified::one_inside>>("a condition, one waits, notified inside");
  models.random<condition<2, notified::one>>("a condition, two wait", 2);
  models.random<condition<2, notified::all>>("a condition, two wait, all notified", 2);
  return models.result();
}
