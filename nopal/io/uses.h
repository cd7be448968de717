// SPDX-License-Identifier: MIT
// How many operations are amid on a descriptor's number, and whether it is closed: the number goes
// back to the system when nobody uses it any more.
//
// Roles:     owner   has adopted the number; it closes the number, or gives it up
//            user    an operation, from `enter` to `leave`
// Word:      generation, 32 bits | closed, 1 bit | users, 31 bits
// Contract:  a generation is one adoption of the number. Who names another one than the word has
//            (the number was adopted twice, or closed by the system call) changes nothing.
// Invariant: users = calls of `enter` that returned true + calls of `close` amid uses
//                    - calls of `leave`, of this generation.
//            The number goes back once users = 0 and it is closed, and exactly one call finds that
//            this has become so: it returns true.
// Orders:
//   A  adopt: acq_rel. enter: acquire, so that a user sees what the owner wrote about the number.
//   L  leave and close: acq_rel. What each user did with the number comes before it goes back.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::io {

class uses {
public:
  // The number was just given to this process, or taken over. Returns the new generation.
  std::uint32_t adopt() noexcept {
    std::uint64_t seen = word_.load(base::relaxed);
    while (!replace(seen, next_of(seen)))
      ;
    return generation_of(seen) + 1;
  }

  // False: it is closed, or another generation's.
  bool enter(std::uint32_t generation) noexcept {
    std::uint64_t seen = word_.load(base::relaxed);
    while (is_open(seen, generation))
      if (word_.compare_exchange_weak(seen, seen + 1, base::acquire, base::relaxed)) // A
        return true;
    return false;
  }
  // True: the caller gives the number back to the system.
  bool leave(std::uint32_t generation) noexcept {
    std::uint64_t seen = word_.load(base::relaxed);
    while (generation_of(seen) == generation)
      if (replace(seen, seen - 1))
        return (seen & (kClosed | kUsers)) == (kClosed | 1);
    return false;
  }

  enum class ending : unsigned char {
    not_mine,  // it is closed already, or another generation's
    amid_uses, // the caller is a user now, too, and calls `leave`
    at_once    // there is no user: the caller gives the number back
  };
  ending close(std::uint32_t generation) noexcept {
    std::uint64_t seen = word_.load(base::relaxed);
    while (is_open(seen, generation))
      if (replace(seen, (seen | kClosed) + ((seen & kUsers) != 0 ? 1 : 0)))
        return (seen & kUsers) == 0 ? ending::at_once : ending::amid_uses;
    return ending::not_mine;
  }
  // The number stays open and belongs to nobody here. Users that are amid end their call.
  bool give_up(std::uint32_t generation) noexcept {
    std::uint64_t seen = word_.load(base::relaxed);
    while (is_open(seen, generation))
      if (replace(seen, next_of(seen) | kClosed))
        return true;
    return false;
  }

  // Relaxed: who closes counts an event after it, and a user has read that count before this.
  bool is_open(std::uint32_t generation) const noexcept {
    return is_open(word_.load(base::relaxed), generation);
  }
  // Closed amid uses: the number is not free yet.
  bool is_closing() const noexcept {
    const std::uint64_t seen = word_.load(base::relaxed);
    return (seen & kClosed) != 0 && (seen & kUsers) != 0;
  }
  std::uint32_t generation() const noexcept { return generation_of(word_.load(base::relaxed)); }

  // In the child of fork(), where no other thread is: the users are the parent's. True: it was
  // closed, and they would have given the number back.
  bool begin_in_child() noexcept {
    const std::uint64_t seen = word_.load(base::relaxed);
    word_.store(seen & ~kUsers, base::relaxed);
    return (seen & kClosed) != 0 && (seen & kUsers) != 0;
  }

private:
  static constexpr std::uint64_t kClosed = std::uint64_t{1} << 31;
  static constexpr std::uint64_t kUsers = kClosed - 1;

  static std::uint32_t generation_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 32);
  }
  static std::uint64_t next_of(std::uint64_t word) noexcept {
    return std::uint64_t{generation_of(word) + 1} << 32;
  }
  static bool is_open(std::uint64_t word, std::uint32_t generation) noexcept {
    return generation_of(word) == generation && (word & kClosed) == 0;
  }
  bool replace(std::uint64_t& seen, std::uint64_t by) noexcept {
    return word_.compare_exchange_weak(seen, by, base::acq_rel, base::relaxed); // A, L
  }

  base::atomic<std::uint64_t> word_{kClosed};
};

} // namespace nopal::inline NOPAL_ABI::io
NOPAL_HIDDEN_END
