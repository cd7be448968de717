// SPDX-License-Identifier: MIT
// What belongs to each number of a descriptor: who waits, who uses it, and what is known about it.
//
// The table grows by pieces, which are never freed. In the child of fork() it keeps which numbers
// are owned, and forgets the parent's strands and threads.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/io/event_count.h"
#include "nopal/io/uses.h"
#include "nopal/vproc/fiber.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::io {

// Throws std::system_error.
[[noreturn]] void fail(int error, const char* what);

enum class direction : unsigned char { in, out };

// A thread that runs no strands and waits (blocked.h).
struct blocked_thread {
  int epoll;
  int alarm; // the number that is in this epoll
  blocked_thread* next;
};

// It lives as long as the process. What follows `used` belongs to the generation that `used` has.
struct alignas(64) entry {
  event_count<vproc::fiber> in;
  event_count<vproc::fiber> out;
  uses used;
  base::atomic<std::uint64_t> emptied{0}; // 1 + the count of events when a read had emptied it
  // An event said that more follows than data: the end, an error, urgent data. Set before `in`
  // counts that event.
  base::atomic<bool> more_than_data{false};
  base::atomic<bool> watched{false};        // its events are taken
  base::atomic<bool> is_tcp{false};         // a read that gives less than was asked for empties it
  base::atomic<bool> keeps_blocking{false}; // without O_NONBLOCK (blocking_file.h)
  // Of the list, and held while the number gets into the epoll, or out of it amid uses.
  base::spin_lock lock;
  blocked_thread* threads = nullptr;

  event_count<vproc::fiber>& side(direction where) noexcept {
    return where == direction::in ? in : out;
  }
};
static_assert(sizeof(entry) == 128);

// Throws std::system_error where the number is none of a descriptor, or memory is refused.
entry& entry_of(int descriptor);
// Null where nothing is known about the number.
entry* find_entry(int descriptor) noexcept;

// Calls f(number, entry), until it returns true, for each one of the table.
template <class F> bool any_entry(F f) {
  return any_entry([](int fd, entry& own, void* call) { return (*static_cast<F*>(call))(fd, own); },
                   &f);
}
bool any_entry(bool (*f)(int, entry&, void*), void* argument);

} // namespace nopal::inline NOPAL_ABI::io
NOPAL_HIDDEN_END
