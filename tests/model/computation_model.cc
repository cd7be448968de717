// SPDX-License-Identifier: MIT
// Models of the fibers of a computation, and of the caller of `run` that waits for them.
//
// The calls and their order are those of fibers/fibers.cc (run_body, join_computation, begin_fiber,
// end_one). Thread 0 runs the caller, whose body is the first fiber; each other fiber has a thread.
#include "mortal.h"
#include "waiter.h"

#include "nopal/vproc/computation.h"

#include <algorithm>
#include <exception>
#include <iterator>

// Telling of failures has a lock of its own (kept_failures.cc), and is left out here.
namespace nopal::inline NOPAL_ABI::vproc {
void kept_failures::keep() noexcept {}
void kept_failures::forget() noexcept {}
} // namespace nopal::inline NOPAL_ABI::vproc

namespace nopal::model {
namespace {

// Which fibers spawn the others: the body spawns all, or each fiber spawns the next one and does
// not wait for it.
enum class spawned_by { body, the_one_before };

// What the last fiber to end does: its thread goes on with the caller, or makes it ready.
enum class last_one { enters_caller, wakes_caller };

template <int Fibers, spawned_by By, last_one Last, int Failing = 0>
struct fibers_end : scenario<fibers_end<Fibers, By, Last, Failing>, Fibers + 1> {
  static_assert(Failing <= Fibers);
  mortal<vproc::computation> in; // it ends when the caller goes on
  sync::thread_waker spawned[Fibers + 1];
  waiter caller;
  base::handed_over<int> done[Fibers + 1];
  std::exception_ptr thrown[Fibers + 1];

  void before() {
    for (int i = 1; i <= Failing; ++i)
      thrown[i] = std::make_exception_ptr(i);
  }

  void spawn(int number) noexcept {
    in->begin_one();
    spawned[number].wake();
  }
  void run_fiber(int self) noexcept {
    if (By == spawned_by::the_one_before && self < Fibers)
      spawn(self + 1);
    for (int i = 1; By == spawned_by::body && self == 0 && i <= Fibers; ++i)
      spawn(i);
    done[self] = 1;
    if (thrown[self] != nullptr)
      in->fail(thrown[self]);
    if (!in->end_one())
      return;
    if (Last == last_one::enters_caller)
      go_on();
    else
      caller.woken.wake();
  }

  void go_on() noexcept {
    caller.work.resume();
    for (const base::handed_over<int>& each : done)
      check(each == 1, "the caller goes on before a fiber has ended");
    check(in->failures() == Failing, "a failure was not counted");
    const std::exception_ptr first = in->first;
    check((first == nullptr) == (Failing == 0), "an exception was lost, or came from nowhere");
    check(std::ranges::count(thrown, first) != 0, "an exception that no fiber threw");
    in.end();
  }

  void thread(unsigned self) {
    if (self != 0) {
      spawned[self].wait();
      return run_fiber(static_cast<int>(self));
    }
    in.begin();
    caller.work.prepare();
    run_fiber(0);
    if (Last == last_one::wakes_caller) {
      caller.wait();
      go_on();
    }
  }
  void after() { caller.work.check_resumed_once(); }
};

// Vprocs that hold units (held_units). Each runs the fibers that the one before it has spawned, and
// spawns some for the next; then it gives its units back. The last unit, or fiber, ends all.
template <int Vprocs, int Each> struct units_end : scenario<units_end<Vprocs, Each>, Vprocs> {
  mortal<vproc::computation> in;
  sync::thread_waker spawned[Vprocs];
  waiter caller;
  base::handed_over<int> done[Vprocs];

  void run_fibers(unsigned self) noexcept {
    vproc::held_units units;
    units.hold(&*in, nullptr);
    if (self + 1 < Vprocs) {
      for (int i = 0; i < Each; ++i)
        check(units.begin_one(&*in), "a fiber of the computation is no unit");
      spawned[self + 1].wake();
    }
    done[self] = 1;
    for (int i = 0; i < (self == 0 ? 1 : Each); ++i) // the body is the first fiber
      check(units.end_one(&*in), "a fiber of the computation is no unit");
    if (units.give_back() != nullptr)
      caller.woken.wake();
  }

  void thread(unsigned self) {
    if (self != 0) {
      spawned[self].wait();
      return run_fibers(self);
    }
    in.begin();
    caller.work.prepare();
    run_fibers(0);
    caller.wait();
    caller.work.resume();
    for (const base::handed_over<int>& each : done)
      check(each == 1, "the caller goes on before a fiber has ended");
    in.end();
  }
  void after() { caller.work.check_resumed_once(); }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  constexpr auto enters = last_one::enters_caller;
  constexpr auto wakes = last_one::wakes_caller;
  constexpr auto body = spawned_by::body;
  constexpr auto before = spawned_by::the_one_before;
  runner models{argc, argv};
  models.random<fibers_end<1, body, enters>>("one fiber");
  models.bounded<fibers_end<1, body, enters>>("one fiber", 4);
  models.random<fibers_end<3, body, enters>>("three fibers");
  models.bounded<fibers_end<2, body, enters>>("two fibers", 1);
  models.random<fibers_end<2, body, wakes>>("two fibers, the last one wakes the caller");
  models.random<fibers_end<3, before, enters>>("each fiber spawns the next one");
  models.bounded<fibers_end<2, before, enters>>("each fiber spawns the next one", 1);
  models.random<fibers_end<3, before, wakes>>("the same, the last one wakes the caller");
  models.random<fibers_end<2, body, enters, 1>>("one of two fails");
  models.random<fibers_end<3, body, enters, 3>>("three fail");
  models.bounded<fibers_end<2, body, enters, 2>>("two fail", 1);
  models.random<fibers_end<2, before, wakes, 2>>("two fail, the last one wakes the caller");
  models.random<units_end<3, 1>>("vprocs that hold units");
  models.bounded<units_end<2, 2>>("two vprocs that hold units", 2);
  return models.result();
}
