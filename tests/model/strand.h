// SPDX-License-Identifier: MIT
// A fork as a model sees it: the strand that is published, and the fork in its place on the stack.
#pragma once

#include "harness.h"

#include <cstdint>

namespace nopal::model {

// What goes on after a fork: the frame of the function that forked. Its data is plain, so a thread
// that resumes it without a right to do so, or too early, is a data race; resuming it twice is an
// error.
class strand {
public:
  // The owner calls this before it forks.
  void prepare() noexcept { locals_ = prepared; }

  // Called once, before other threads can see the fork.
  void complete(std::uintptr_t above) noexcept {
    check(completed_ == 0, "a fork was completed twice");
    completed_ = 1;
    above_ = above;
  }
  // For the worker that goes on with the stack after the strand was stolen.
  std::uintptr_t above() const noexcept { return above_; }

  bool is_prepared() const noexcept { return locals_ == prepared; }

  // The thief that gets it, with deques that say so.
  void take() noexcept { taken_ = taken_ + 1; }

  // The thread that goes on with it; a thief finds it complete, or taken, as the deque promises.
  void resume() noexcept {
    check(locals_ == prepared, "a strand was resumed that was not prepared, or twice");
    locals_ = resumed;
    was_complete_ = completed_ != 0;
    times_taken_ = taken_;
    ++times_;
  }
  bool was_complete() const noexcept { return was_complete_; }
  int times_taken() const noexcept { return times_taken_; }
  int times_resumed() const noexcept { return times_; }

  // Called at the end.
  void check_resumed_once() const noexcept {
    check(times_ == 1, times_ == 0 ? "a strand was never resumed" : "a strand was resumed twice");
  }

private:
  static constexpr int prepared = 1;
  static constexpr int resumed = 2;

  base::handed_over<int> locals_{0};
  base::handed_over<int> completed_{0};
  base::handed_over<std::uintptr_t> above_{0};
  base::handed_over<int> taken_{0};
  // The model's own notes, no part of what is checked for races.
  int times_ = 0;
  bool was_complete_ = false;
  int times_taken_ = 0;
};

struct fork_record {
  using frame_type = strand;

  // Written when the fork is made; the place is used again and again.
  alignas(8) base::handed_over<strand*> continuation{nullptr};

  strand* frame() const noexcept { return continuation; }
  strand* complete(std::uintptr_t above, std::uintptr_t = 0) noexcept {
    frame()->complete(above);
    return frame();
  }
  static void taken(strand* frame) noexcept { frame->take(); }
};

} // namespace nopal::model
