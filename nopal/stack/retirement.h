// SPDX-License-Identifier: MIT
// The budget: what a stack that no strand runs on is charged for its dead pages, and which thread
// gives them back.
//
// A page of a stack is dead if it has memory and belongs to no frame: below the lowest frame of a
// suspended strand, or anywhere in a pooled stack. A strand may have gone deep and come back before
// it left, and only a system call tells how deep. So a strand that leaves a stack charges the
// account with an upper bound. If the bound is too much, the strand counts; if the true number is
// too much as well, it gives the pages back. When much is charged, idle threads do so for others.
//
//   owner      the strand that leaves the stack (retire) and later resumes on it (reuse)
//   reclaimer  a thread that gives back dead pages of another's stack (claim, give_back)
//
//   in use   -- retire -->     retired n   the owner has left the stack and charged n pages
//   retired  -- reuse -->      in use      the owner is back; nothing is charged
//   retired  -- claim -->      claimed n   a reclaimer works on it; n pages are charged still
//   claimed  -- give_back -->  retired m   m <= n pages are left
//   claimed  -- reuse -->      wanted      the owner does not wait: it leaves a handoff, which says
//                                          what is to run on the stack
//   wanted   -- give_back -->  retired m   the reclaimer takes the handoff, and is the owner now
//
// Invariants
//   charged = sum over all stacks of what each is charged with <= budget
//   dead(s) <= charge(s) for each stack s that is not in use, and so dead <= budget in total.
//   At most one thread uses a stack, and no reclaimer gives its pages back meanwhile.
//
// Orders: R  retire, give_back (release) pair with claim, reuse (acquire): pages are given back
//            after their frames are gone, and used again after they have been given back.
//         W  reuse (release) pairs with the give_back that finds the stack wanted (acquire): the
//            handoff.
//         The account is a number only: relaxed.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/stack/bounds.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack {

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

// What is to run on a stack that its owner could not take.
struct handoff {
  void* frame = nullptr; // a main path, or a fiber; null: nothing, the stack goes to the pool
  void* group = nullptr; // the main path's; null: `frame` is a fiber
};

// What a stack is charged with, and whether that was counted or is a bound.
struct charge {
  std::uint32_t pages = 0;
  bool counted = false;
};

class retirement {
public:
  // Owner. What lies below `frames` is dead, and charged.
  void retire(std::uintptr_t frames, charge charged) noexcept {
    frames_ = frames;
    state_.store(word(kRetired, charged), base::release); // R
  }

  // Owner. True: the stack is in use again; the caller discharges `charged`, which is 0 if the
  // stack was in use already. False: a reclaimer has it, and will take the handoff.
  bool reuse(handoff to_do, charge& charged) noexcept {
    std::uint32_t found = state_.load(base::relaxed);
    for (;;) {
      if (kind(found) == kClaimed) {
        handoff_frame_ = to_do.frame;
        handoff_group_ = to_do.group;
        if (state_.compare_exchange_strong(found, kWanted, base::release, base::relaxed)) // W
          return false;
      } else if (state_.compare_exchange_strong(found, kInUse, base::acquire, base::relaxed)) { // R
        charged = charge_in(found);
        return true;
      }
    }
  }

  // Any thread. True: the caller may give back what lies below frames(), and must call give_back. A
  // stack whose charge was counted is claimed only if `counted_too`.
  bool claim(charge& charged, bool counted_too) noexcept {
    std::uint32_t found = state_.load(base::relaxed);
    charged = charge_in(found);
    return kind(found) == kRetired && charged.pages != 0 && (counted_too || !charged.counted) &&
           state_.compare_exchange_strong(found, word(kClaimed, charged), base::acquire, // R
                                          base::relaxed);
  }

  // Reclaimer. `before` is what claim said, `left` what stays charged; the caller discharges the
  // rest. True: the owner came meanwhile, and the caller has its handoff to do.
  bool give_back(charge before, charge left, handoff& to_do) noexcept {
    std::uint32_t expected = word(kClaimed, before);
    if (state_.compare_exchange_strong(expected, word(kRetired, left), base::release, // R
                                       base::acquire))                                // W
      return false;
    to_do = {handoff_frame_, handoff_group_};
    state_.store(word(kRetired, left), base::release); // R
    return true;
  }

  // Owner or reclaimer.
  std::uintptr_t frames() const noexcept { return frames_; }

private:
  enum : std::uint32_t { kInUse, kRetired, kClaimed, kWanted };
  static constexpr std::uint32_t kKind = 3;
  static constexpr std::uint32_t kCounted = 4;
  static constexpr unsigned kPagesShift = 3;

  static std::uint32_t kind(std::uint32_t word) noexcept { return word & kKind; }
  static std::uint32_t word(std::uint32_t kind, charge charged) noexcept {
    return kind | (charged.counted ? kCounted : 0) | charged.pages << kPagesShift;
  }
  static charge charge_in(std::uint32_t word) noexcept {
    return {word >> kPagesShift, (word & kCounted) != 0};
  }

  base::atomic<std::uint32_t> state_{kInUse};
  base::handed_over<std::uintptr_t> frames_{0};
  base::handed_over<void*> handoff_frame_{nullptr};
  base::handed_over<void*> handoff_group_{nullptr};
};

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack
NOPAL_HIDDEN_END
