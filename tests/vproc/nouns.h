// SPDX-License-Identifier: MIT
// What the tests of the room vproc share: a thread that runs a vproc without the scheduler, fibers
// that never run, and threads that sleep only in the count of sleepers.
#pragma once

#include "nopal/vproc/computation.h"
#include "nopal/vproc/fiber.h"
#include "nopal/vproc/ready_queues.h"
#include "nopal/vproc/table.h"
#include "nopal/vproc/wake.h"

#include <gtest/gtest.h>

#include <thread>

namespace nopal_test {
namespace {

template <class Fact> void wait_until(Fact fact) {
  while (!fact())
    std::this_thread::yield();
}

// A vproc with a worker, and no thread runs it.
class idle_vproc {
public:
  idle_vproc() : vproc_{nopal::vproc::take_vproc()}, worker_{nopal::vproc::take_worker(vproc_)} {}
  ~idle_vproc() {
    vproc_->bound.set(nullptr);
    nopal::vproc::return_worker(worker_);
    nopal::vproc::return_vproc(vproc_);
  }
  idle_vproc(const idle_vproc&) = delete;
  idle_vproc& operator=(const idle_vproc&) = delete;

  nopal::vproc::vproc* operator->() const noexcept { return vproc_; }
  nopal::vproc::vproc* get() const noexcept { return vproc_; }
  nopal::vproc::worker* worker() const noexcept { return worker_; }

private:
  nopal::vproc::vproc* const vproc_;
  nopal::vproc::worker* const worker_;
};

// The calling thread runs this vproc, as a strand of it would find.
class own_vproc : public idle_vproc {
public:
  own_vproc() { worker()->run_on(get()); }
  ~own_vproc() {
    get()->signals.run_with(nullptr);
    nopal::arch::nopal_self = &nopal::vproc::no_worker;
  }
};

// A fiber that is ready and never runs. Its strand is in this group, and in a computation without a
// policy if it is pinned.
struct fiber_of_group : nopal::vproc::fiber {
  explicit fiber_of_group(nopal::vproc::group& its_group) {
    group = &its_group;
    its_group.begun_in = nopal::base::this_process;
    context_.computation = &computation_;
  }

  fiber_of_group& pinned_on(nopal::vproc::vproc* target) {
    context_.pinned = target;
    context = &context_;
    return *this;
  }
  fiber_of_group& ruled_by(nopal::vproc::policy* policy) {
    computation_.group = group;
    computation_.policy = policy;
    context = &context_;
    return *this;
  }

private:
  nopal::vproc::computation computation_;
  nopal::vproc::fiber_context context_;
};

// A thread sleeps at this place, as far as others can see, until it is woken or this object ends.
class sleeper {
public:
  explicit sleeper(nopal::sync::parking_place& place) : place_{place} {
    place_.announce(nopal::vproc::idle);
  }
  ~sleeper() { place_.cancel(nopal::vproc::idle); }
  sleeper(const sleeper&) = delete;
  sleeper& operator=(const sleeper&) = delete;

  // Wakes the sleeper if nobody has.
  bool was_woken() { return !place_.wake(nopal::vproc::idle); }

private:
  nopal::sync::parking_place& place_;
};

} // namespace
} // namespace nopal_test
