// SPDX-License-Identifier: MIT
// Decides which of several wakers wakes a strand that waits, and tells what the strand waits for. A
// waker is another strand, at one of perhaps several places; a canceller; or an alarm.
//
// Contract:  exactly one claim returns true, and its caller makes the strand ready. Others leave
//            the strand alone.
// Orders:
//   C  claim: CAS relaxed. It makes no data visible: a waker holds the lock of the strand's queue,
//      a canceller holds the strand (wait_word.h), and the strand sees what was written before it
//      was made ready.
//   `taken` is read by the strand after its wake-up, and by others under a lock: relaxed.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

// What a strand waits for, in the order in which reports name it.
enum class wanted : std::uint8_t {
  something,
  mutex,
  condition,
  semaphore,
  blocking,
  to_send,
  to_receive,
  one_of_several,
  value,
  result,
  engine,
  alternative,
  end_of_fibers,
  event,
  time,
};

class choice {
public:
  // `at` is the address that the program knows, or null.
  explicit choice(wanted kind = wanted::something, const void* at = nullptr) noexcept
      : wants{kind}, where{at} {}

  const wanted wants;
  const void* const where;

  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::uint32_t cancelled = none - 1; // these are no numbers of places
  static constexpr std::uint32_t timed_out = none - 2;

  bool claim(std::uint32_t number) noexcept {
    std::uint32_t expected = none;
    return taken_.compare_exchange_strong(expected, number, base::relaxed, base::relaxed); // C
  }
  bool claimed() const noexcept { return taken() != none; }
  std::uint32_t taken() const noexcept { return taken_.load(base::relaxed); }

private:
  base::atomic<std::uint32_t> taken_{none};
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
