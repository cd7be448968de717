// SPDX-License-Identifier: MIT
// A system call on a descriptor is tried, and waits for the next event if it would block. errno is
// read by base::this_threads_error: after a wait the strand may be on another thread.
#pragma once

#include "nopal/base/os.h"
#include "nopal/config.h"
#include "nopal/io/descriptor.h"
#include "nopal/io/events.h"
#include "nopal/io/waits.h"
#include "nopal/sched/preemption.h"
#include "nopal/vproc/worker.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::io {

struct attempts {
  static descriptor open(int fd, const sockaddr* peer) noexcept {
    const bool is_tcp = peer->sa_family == AF_INET || peer->sa_family == AF_INET6;
    descriptor opened;
    opened.is_tcp_ = is_tcp;
    opened.fd_.store(fd, base::relaxed);
    return opened;
  }

  // Does `call`, which returns -1 and EAGAIN if it would block, until it is done. Another strand
  // may close the descriptor meanwhile.
  template <class Call>
  static auto retry(descriptor& used, direction where, clock::time_point until, Call call) {
    for (;;) {
      if (!vproc::current_deque()->deque.allows_here()) [[unlikely]]
        sched::poll_slow(); // where nothing blocks the strand gives way all the same
      const int fd = used.get();
      if (fd < 0)
        fail(EBADF, what);
      entry& own = entry_of(fd);
      const std::uint32_t seen = own.side(where).count(); // before the call
      if (used.get() != fd)
        continue; // closed meanwhile; a later close counts an event after `seen`
      if (where == direction::in && used.emptied_.load(base::relaxed) == mark(seen)) {
        wait_after(used, fd, own, where, seen, until);
        continue;
      }
      const auto done = call(fd, own, seen);
      if (done >= 0)
        return done;
      const int error = *base::this_threads_error();
      if (error == EINTR || error == ECONNABORTED)
        continue;
      if (error != EAGAIN)
        fail(error, what);
      wait_after(used, fd, own, where, seen, until);
    }
  }

  // A read of TCP that gives less than was asked for has taken all that was there, and what comes
  // later is an event: so the next read is not tried before that. But a read also ends before
  // urgent data, an error or the end, whose event may have come with the data's.
  static void note_read(descriptor& used, const entry& own, std::uint32_t seen,
                        bool less) noexcept {
    if (less && used.is_tcp_ && used.watched_.load(base::relaxed) &&
        !own.more_than_data.load(base::relaxed))
      used.emptied_.store(mark(seen), base::relaxed);
  }

private:
  static constexpr char what[] = "nopal::io";

  static std::uint64_t mark(std::uint32_t seen) noexcept { return std::uint64_t{seen} + 1; }

  static void wait_after(descriptor& used, int fd, entry& own, direction where, std::uint32_t seen,
                         clock::time_point until) {
    const bool strand = vproc::on_strand();
    if (strand && !used.watched_.load(base::relaxed)) {
      own.more_than_data.store(false, base::relaxed); // of a descriptor that had this number
      take_events_of(fd);
      used.watched_.store(true, base::relaxed);
    }
    if (!(strand ? wait(own, where, seen, until) : block(fd, where, until)))
      fail(ETIMEDOUT, what);
  }
};

} // namespace nopal::inline NOPAL_ABI::io
NOPAL_HIDDEN_END
