// SPDX-License-Identifier: MIT
// Models of strands that wait for a mutex or a condition. The calls and their order are those of
// fibers/waits.cc. A strand that is left behind shows as a deadlock.
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
  sync::mutex_queue<waiter> turn_;
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
  models.random<condition<1, notified::one>>("a condition, one waits");
  models.random<condition<1, notified::one_inside>>("a condition, one waits, notified inside");
  models.random<condition<2, notified::one>>("a condition, two wait", 2);
  models.random<condition<2, notified::all>>("a condition, two wait, all notified", 2);
  return models.result();
}
