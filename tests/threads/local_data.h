// SPDX-License-Identifier: MIT
// A thread's DATA_BYTES of thread-local data, and the function by which a strand writes and checks
// them.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace nopal_test {

struct alignas(DATA_ALIGNMENT) thread_data {
  char bytes[DATA_BYTES];
};
inline thread_local thread_data threads_data;

// Not inlined: the strand that calls it may be on another thread next time. True: this thread's
// copy lies where it should, its ends hold what this thread has written, and its frames have room.
[[gnu::noinline]] inline bool data_is_right() {
  volatile char room[64 << 10];
  room[0] = 1;
  room[sizeof room - 1] = 1;
  volatile char* const bytes = threads_data.bytes;
  constexpr std::uint64_t last = DATA_BYTES - 1;
  const char before = bytes[0];
  const bool right = reinterpret_cast<std::uintptr_t>(bytes) % DATA_ALIGNMENT == 0 &&
                     bytes[last] == before && bytes[last / 2] == before;
  for (const std::uint64_t at : {std::uint64_t{0}, last / 2, last})
    bytes[at] = static_cast<char>(before + 1);
  return right && room[0] == room[sizeof room - 1];
}

} // namespace nopal_test
