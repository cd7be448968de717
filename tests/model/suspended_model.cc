// SPDX-License-Identifier: MIT
// Models of a strand that waits with open forks: its worker leaves its vproc's slot for the list of
// the suspended, and perhaps comes back, while another worker falls asleep.
//
// The calls and their order are those of sched/park.cc (leave_with_forks, take_over),
// vproc/table.cc (put) and sched/idle.cc (sleep, ask_and_look, announce_work). A fork that nobody
// takes while a worker sleeps shows as a deadlock.
#include "harness.h"

#include "nopal/sync/parking.h"
#include "nopal/sync/suspended.h"

namespace nopal::model {
namespace {

struct taken_fork {
  int number = 0;
};

// A deque with at most one private fork, and what suspended_workers and a sleeper need of a deque.
// A starved thief takes the fork; the next thief finds it taken.
class small_deque {
public:
  // The owner calls this. True: a thief had asked, so the owner must look for sleepers.
  bool push() noexcept {
    open_.store(1, base::relaxed);
    base::light_barrier();
    return asked_.exchange(0, base::relaxed) != 0;
  }
  void ask_before_sleep() noexcept { asked_.store(1, base::relaxed); }
  bool take() noexcept { return has_work(nullptr) && open_.exchange(0, base::relaxed) != 0; }
  bool has_work(const int*) noexcept { return open_.load(base::relaxed) != 0; }

  // No vproc runs the owner, so a thief may take a private fork as if it were public.
  void publish_for_absent_owner() noexcept {
    check(error == 0, "a thief reads the errno of a strand that has gone on");
  }
  deque::outcome steal(const int*, taken_fork& taken) noexcept {
    taken.number = 1;
    return take() ? deque::outcome::got : deque::outcome::empty;
  }
  bool anything_public() noexcept { return false; }

  base::handed_over<int> error{0}; // of the strand that waits

private:
  base::atomic<int> open_{0};
  base::atomic<int> asked_{1}; // a new worker's first push attends
};

struct small_worker {
  small_deque deque;
  base::handed_over<small_worker*> next{nullptr};
  base::handed_over<small_worker*> before{nullptr};
  int* group = nullptr;
};

// What thread 0 does. Thread 1 must get its fork.
enum class course {
  fork_wait,        // forks, waits and goes on, and computes for ever
  fork_wait_twice,  // the same with two waits
  fork_wait_always, // forks and waits for ever
  wait_other_forks, // waits for ever, while its vproc forks with another worker
};

template <course Course> struct waits_with_a_fork : scenario<waits_with_a_fork<Course>, 2> {
  sync::idle_count idle;
  sync::parking_place parking;
  sync::suspended_workers<small_worker> suspended;
  small_worker left;
  small_worker fresh;
  base::atomic<small_worker*> slot{nullptr};
  bool got = false;

  void before() {
    slot.store(&left, base::relaxed);
    if (Course == course::wait_other_forks)
      fresh.deque.push(); // it has been used before: nobody's request is left
    fresh.deque.take();
  }

  void announce_work() noexcept {
    if (idle.wants_wake())
      parking.wake(idle);
  }
  void put(small_worker& worker) noexcept {
    slot.store(&worker, base::release);
    worker.deque.ask_before_sleep();
  }
  void push(small_worker& self) noexcept {
    if (self.deque.push())
      announce_work();
  }
  void leave_with_forks() noexcept {
    left.deque.error = 0;
    suspended.add(&left);
    put(fresh);
  }
  void take_over() noexcept {
    suspended.remove(&left);
    left.deque.error = 1;
    put(left);
    announce_work();
  }

  bool take() noexcept {
    if (slot.load(base::acquire)->deque.take())
      return true;
    taken_fork taken;
    return suspended.steal(static_cast<int*>(nullptr), taken);
  }
  bool anything_left() noexcept {
    return slot.load(base::acquire)->deque.has_work(nullptr) ||
           suspended.has_work(static_cast<int*>(nullptr));
  }

  void search() noexcept {
    idle.searching.fetch_add(1, base::seq_cst);
    while (!take()) {
      parking.announce(idle);
      idle.searching.fetch_sub(1, base::seq_cst);
      base::full_fence();
      slot.load(base::acquire)->deque.ask_before_sleep();
      base::heavy_barrier();
      if (anything_left())
        parking.cancel(idle);
      else
        parking.wait(idle, for_ever);
      idle.searching.fetch_add(1, base::seq_cst);
    }
    idle.searching.fetch_sub(1, base::seq_cst);
    got = true;
  }

  void thread(unsigned self) {
    if (self != 0)
      return search();
    if (Course == course::wait_other_forks) {
      leave_with_forks();
      return push(fresh);
    }
    push(left);
    leave_with_forks();
    if (Course == course::fork_wait_always)
      return;
    take_over();
    if (Course == course::fork_wait_twice) {
      leave_with_forks();
      take_over();
    }
  }
  void after() {
    check(got, "the fork was taken by nobody");
    check(idle.asleep.load(base::relaxed) == 0, "asleep does not count sleepers");
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<waits_with_a_fork<course::fork_wait>>("a fork, then a wait", 2);
  models.bounded<waits_with_a_fork<course::fork_wait>>("a fork, then a wait", 2);
  models.random<waits_with_a_fork<course::fork_wait_twice>>("a fork, then two waits", 2);
  models.random<waits_with_a_fork<course::fork_wait_always>>("a fork, then a wait for ever", 2);
  models.bounded<waits_with_a_fork<course::fork_wait_always>>("a fork, then a wait for ever", 2);
  models.random<waits_with_a_fork<course::wait_other_forks>>("a wait, another worker's fork", 2);
  models.bounded<waits_with_a_fork<course::wait_other_forks>>("a wait, another worker's fork", 2);
  return models.result();
}
