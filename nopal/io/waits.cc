// SPDX-License-Identifier: MIT
// A strand that waits is in the queue of its descriptor's events, where a canceller finds it, too.
#include "nopal/io/waits.h"

#include "nopal/fibers/timed.h"
#include "nopal/io/events.h"
#include "nopal/vproc/worker.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>

namespace nopal::inline NOPAL_ABI::io {
namespace {

constexpr std::chrono::hours kLongest{24}; // a number of milliseconds that poll(2) takes

// Whether it is ready within so many milliseconds.
bool poll_one(int descriptor, direction where, int timeout_ms) {
  pollfd asked{descriptor,
               static_cast<short>(where == direction::in ? POLLIN | POLLRDHUP : POLLOUT), 0};
  const int found = poll(&asked, 1, timeout_ms);
  if ((found < 0 && errno != EINTR) || (asked.revents & POLLNVAL) != 0)
    fail(found < 0 ? errno : EBADF, "nopal::io cannot wait for a descriptor");
  return found > 0;
}

bool wait_for(int descriptor, direction where, clock::time_point until) {
  if (!vproc::on_strand())
    return block(descriptor, where, until);
  if (poll_one(descriptor, where, 0))
    return true;
  entry& own = entry_of(descriptor);
  const std::uint32_t seen = own.side(where).count();
  return !take_events_of(descriptor) || wait(own, where, seen, until);
}

} // namespace

bool wait(entry& own, direction where, std::uint32_t seen, clock::time_point until) {
  auto& events = own.side(where);
  return fibers::wait_until(
      until, sync::wanted::event, nullptr,
      [&](vproc::fiber* strand) { return events.join(strand, seen); },
      [&events](vproc::fiber* strand) { events.leave(strand); });
}

bool block(int descriptor, direction where, clock::time_point until) {
  using std::chrono::milliseconds;
  for (;;) {
    const auto left = until == never ? clock::duration::max() : until - clock::now();
    const auto ms = std::chrono::ceil<milliseconds>(std::min<clock::duration>(left, kLongest));
    if (poll_one(descriptor, where, static_cast<int>(std::max<milliseconds::rep>(0, ms.count()))))
      return true;
    if (left <= clock::duration::zero())
      return false;
  }
}

bool wait_readable(int fd, clock::time_point until) { return wait_for(fd, direction::in, until); }
bool wait_writable(int fd, clock::time_point until) { return wait_for(fd, direction::out, until); }

} // namespace nopal::inline NOPAL_ABI::io
