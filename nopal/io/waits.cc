// SPDX-License-Identifier: MIT
// A strand that waits is in the queue of its descriptor's events, where a canceller finds it, too.
#include "nopal/io/waits.h"

#include "nopal/io/events.h"
#include "nopal/join/cancelled.h"
#include "nopal/join/failure.h"
#include "nopal/sched/park.h"
#include "nopal/vproc/worker.h"

#include <poll.h>

#include <cerrno>

namespace nopal::inline NOPAL_ABI::io {
namespace {

// Whether it is ready now; without end_us, or for ever until it is.
bool poll_one(int descriptor, direction where, int timeout_ms) {
  pollfd one{descriptor, static_cast<short>(where == direction::in ? POLLIN | POLLRDHUP : POLLOUT),
             0};
  const int found = poll(&one, 1, timeout_ms);
  if ((found < 0 && errno != EINTR) || (one.revents & POLLNVAL) != 0)
    fail(found < 0 ? errno : EBADF, "nopal::io cannot wait for a descriptor");
  return found > 0;
}

void wait_for(int descriptor, direction where) {
  if (!vproc::on_strand())
    return block(descriptor, where);
  if (poll_one(descriptor, where, 0))
    return;
  entry& of = entry_of(descriptor);
  const std::uint32_t seen = of.of(where).count();
  if (take_events_of(descriptor))
    wait(of, where, seen);
}

} // namespace

void wait(entry& of, direction where, std::uint32_t seen) {
  auto& events = of.of(where);
  const bool woken = sched::park_or_stop(
      [&events, seen](vproc::fiber* strand) {
        return events.join(strand, seen) ? vproc::signal::stop() : vproc::signal::enter(strand);
      },
      [&events](vproc::fiber* strand) { events.leave(strand); });
  if (!woken)
    join::throw_cancelled();
}

void block(int descriptor, direction where) {
  while (!poll_one(descriptor, where, -1)) {
  }
}

void wait_readable(int fd) { wait_for(fd, direction::in); }
void wait_writable(int fd) { wait_for(fd, direction::out); }

} // namespace nopal::inline NOPAL_ABI::io
