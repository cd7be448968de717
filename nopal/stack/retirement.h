// SPDX-License-Identifier: MIT
//
// The budget: what a stack that nobody runs on is charged for its dead pages, and who may give them
// back.
//
// A page of a stack is dead if it has memory and belongs to no frame: below the lowest frame of a
// suspended stack, or anywhere in a pooled one. A strand may have gone deep and come back before it
// left, and to ask how deep is a system call. So whoever leaves a stack charges the account with an
// upper bound, and only if that is too much asks, and only if even the truth is too much gives the
// pages back itself. Idle workers do the same later for others, when much is charged.
//
//   owner    leaves the stack (retire), and is later the one who goes on with it (take_back)
//   adviser  gives dead pages of a stack back that it does not own (claim, give_back)
//
//   in use   -- retire -->     retired n    somebody runs on it; nothing is charged
//   retired  -- take_back -->  in use       charged with n pages
//   retired  -- claim -->      claimed n    an adviser is at work on it; charged still
//   claimed  -- give_back -->  retired m    m <= n pages are left
//   claimed  -- take_back -->  wanted       the owner came: it does not wait, but leaves word what
//                                           is to be done with the stack, and the adviser does that
//   wanted   -- give_back -->  retired m    the adviser is the owner now
//
// Invariants
//   charged = sum over all stacks of what each is charged with <= budget
//   dead(s) <= charge(s) for each stack s that is not in use, and so dead <= budget in total.
//   A stack is in use by one thread, and nobody advises the kernel about it then.
//
// Orders: R  retire, give_back (release) pair with claim, take_back (acquire): pages are given back
//            after their frames are gone, and used again after they have been given back.
//         W  take_back (release) pairs with give_back that finds the stack wanted (acquire): what
//            is to be done with it.
//         The account is a number only: relaxed.
#pragma once

#include "nopal/base/atomic.h"

#include <cstdint>

namespace nopal::stack {

// Pages charged to all stacks together.
class page_account {
public:
  // False if more than `limit` would be charged; then nothing is.
  bool charge(std::uint32_t pages, std::uint32_t limit) noexcept {
    std::uint32_t now = charged_.load(base::relaxed);
    do {
      if (pages > limit || now > limit - pages)
        return false;
    } while (!charged_.compare_exchange_weak(now, now + pages, base::relaxed, base::relaxed));
    return true;
  }
  void discharge(std::uint32_t pages) noexcept {
    if (pages != 0)
      charged_.fetch_sub(pages, base::relaxed);
  }
  std::uint32_t charged() const noexcept { return charged_.load(base::relaxed); }

private:
  base::atomic<std::uint32_t> charged_{0};
};

// What is to be done with a stack that its owner could not take back: the frame on it goes on, in
// this worker's computation. Nothing: it is pooled.
struct errand {
  void* frame = nullptr;
  void* home = nullptr;
};

// What a stack is charged with, and whether that was counted or is a bound.
struct charge {
  std::uint32_t pages = 0;
  bool counted = false;
};

class retirement {
public:
  // Owner. What lies below `frames` is dead, and charged.
  void retire(std::uintptr_t frames, charge with) noexcept {
    frames_ = frames;
    state_.store(word(kRetired, with), base::release); // R
  }

  // Owner. True: the stack is in use again, and the caller discharges what it was charged with.
  // False: an adviser has it, and sees to the errand. A stack that is in use stays so.
  bool take_back(errand to_do, charge& with) noexcept {
    std::uint32_t found = state_.load(base::relaxed);
    for (;;) {
      if (kind(found) == kClaimed) {
        errand_frame_ = to_do.frame;
        errand_home_ = to_do.home;
        if (state_.compare_exchange_strong(found, kWanted, base::release, base::relaxed)) // W
          return false;
      } else if (state_.compare_exchange_strong(found, kInUse, base::acquire, base::relaxed)) { // R
        with = charge_in(found);
        return true;
      }
    }
  }

  // Anybody. True: the caller may give back what lies below frames(), and must call give_back. Of
  // the counted ones only if the caller takes them too.
  bool claim(charge& with, bool counted_too) noexcept {
    std::uint32_t found = state_.load(base::relaxed);
    with = charge_in(found);
    return kind(found) == kRetired && with.pages != 0 && (counted_too || !with.counted) &&
           state_.compare_exchange_strong(found, word(kClaimed, with), base::acquire, // R
                                          base::relaxed);
  }

  // Adviser. `before` is what claim said, `left` what stays charged; the caller discharges the
  // rest. True: the owner came meanwhile, and the caller has its errand to do.
  bool give_back(charge before, charge left, errand& to_do) noexcept {
    std::uint32_t expected = word(kClaimed, before);
    if (state_.compare_exchange_strong(expected, word(kRetired, left), base::release, // R
                                       base::acquire))                                // W
      return false;
    to_do = {errand_frame_, errand_home_};
    state_.store(word(kRetired, left), base::release); // R
    return true;
  }

  // Owner or adviser.
  std::uintptr_t frames() const noexcept { return frames_; }

private:
  static constexpr std::uint32_t kInUse = 0;
  static constexpr std::uint32_t kRetired = 1;
  static constexpr std::uint32_t kClaimed = 2;
  static constexpr std::uint32_t kWanted = 3;
  static constexpr std::uint32_t kKind = 3;
  static constexpr std::uint32_t kCounted = 4;
  static constexpr unsigned kPagesShift = 3;

  static std::uint32_t kind(std::uint32_t word) noexcept { return word & kKind; }
  static std::uint32_t word(std::uint32_t kind, charge with) noexcept {
    return kind | (with.counted ? kCounted : 0) | with.pages << kPagesShift;
  }
  static charge charge_in(std::uint32_t word) noexcept {
    return {word >> kPagesShift, (word & kCounted) != 0};
  }

  base::atomic<std::uint32_t> state_{kInUse};
  base::handed_over<std::uintptr_t> frames_{0};
  base::handed_over<void*> errand_frame_{nullptr};
  base::handed_over<void*> errand_home_{nullptr};
};

} // namespace nopal::stack
