// SPDX-License-Identifier: MIT
// A directory of the threads that hold each cache line, and for each thread the number of times
// that it did something that costs other threads time.
//
// The counting atomics (atomics.h) and the calls that are watched (calls.cc) report here; the study
// `idle` reads the totals. A thread holds a line from its first access until another thread writes
// to the line, as if each thread had a processor of its own with a cache that is large enough. So
// the counts are those of a machine with as many processors as threads, on any machine.
//
// Only accesses through atomics are seen. Plain fields under a lock lie beside the lock's word,
// mostly on its line; plain stores to a frame are not seen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace bench::counted {

inline constexpr unsigned threads_max = 384;

// Which of Nopal's parts an access belongs to.
enum class part : unsigned {
  deque,
  join,
  stacks, // their pool, and the budget of their dead pages
  search, // of other workers' deques, by a thread without work
  others,
};

enum class event : unsigned {
  remote_writes, // to a line that another thread held
  copies_lost,   // other threads that held it, summed over these writes
  remote_reads,  // of a line that another thread held and the reader did not hold
  rmws,          // atomic read-modify-writes, also those that failed
  fences,        // full ones
  walked_words,  // words of stacks looked at for open offers
  unknown_lines, // accesses to lines for which the directory had no room: there must be none
  spin_locks,    // taken
  mutexes,       // std::mutex or pthread_mutex_t, locked
  barriers,      // membarrier(2)
  interruptions, // threads awake during one, summed over the barriers, the caller left out
  futex_waits,
  futex_wakes,
  // Of each part (parts.h), in its order: remote lines read or written, and swaps that failed.
  deque_lines,
  join_lines,
  stacks_lines,
  search_lines,
  others_lines,
  deque_failed,
  join_failed,
  stacks_failed,
  search_failed,
  others_failed,
};
inline constexpr std::array names{"remote_writes", "copies_lost",   "remote_reads",  "rmws",
                                  "fences",        "walked_words",  "unknown_lines", "spin_locks",
                                  "mutexes",       "barriers",      "interruptions", "futex_waits",
                                  "futex_wakes",   "deque_lines",   "join_lines",    "stacks_lines",
                                  "search_lines",  "others_lines",  "deque_failed",  "join_failed",
                                  "stacks_failed", "search_failed", "others_failed"};
using totals = std::array<std::uint64_t, names.size()>;

// For any thread, also before constructors of static variables have run.
void note(event what, std::uint64_t times = 1) noexcept;
// These say in which source file the access stands.
void note_read(const void* at, const char* file) noexcept;
void note_write(const void* at, const char* file) noexcept;
void note_failed(const void* at, const char* file) noexcept; // a swap, after its note_write

// What the program knows of an access: the part, if it stands in a file of all parts, such as that
// of the spin lock; and whether the calling thread searches. Set once, before the first fork.
struct known_parts {
  part (*at_address)(const void* at) noexcept;
  bool (*searches)() noexcept;
};
void tell_parts(const known_parts* known) noexcept;

// The sum over all threads since the program began.
totals so_far() noexcept;

// Threads that sleep in a futex wait and have not been woken.
std::uint32_t asleep() noexcept;
void fall_asleep() noexcept;
void wake_up(std::uint32_t threads) noexcept;
// Threads that have reported anything and do not sleep.
std::uint32_t awake() noexcept;

// While it lives, what the calling thread does is not counted and does not change the directory.
class unnoticed {
public:
  unnoticed() noexcept;
  ~unnoticed();
  unnoticed(const unnoticed&) = delete;
  unnoticed& operator=(const unnoticed&) = delete;
};

} // namespace bench::counted
