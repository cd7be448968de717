// SPDX-License-Identifier: MIT
// A system call on a descriptor is tried, and waits for the next event if it would block. errno is
// read by base::this_threads_error: after a wait the strand may be on another thread.
#pragma once

#include "nopal/base/os.h"
#include "nopal/config.h"
#include "nopal/io/blocked.h"
#include "nopal/io/descriptor.h"
#include "nopal/io/events.h"
#include "nopal/io/waits.h"
#include "nopal/sched/preemption.h"
#include "nopal/vproc/worker.h"

#include <cerrno>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::io {

inline constexpr char kWhat[] = "nopal::io";

// An operation that is amid on a descriptor. While it lives the number is not given back, so no
// system call of this operation meets another descriptor. The object that named the descriptor may
// be moved or destroyed meanwhile.
class use {
public:
  explicit use(const descriptor& of) : use{of.named()} {}
  ~use() {
    if (own.used.leave(generation_))
      give_back(fd, own);
  }
  use(const use&) = delete;
  use& operator=(const use&) = delete;

  // Does `call`, which returns -1 and EAGAIN if it would block, until it is done.
  template <class Call> auto retry(direction where, clock::time_point until, Call call) {
    for (;;) {
      if (!vproc::current_deque()->deque.allows_here()) [[unlikely]]
        sched::poll_slow(); // where nothing blocks the strand gives way all the same
      const std::uint32_t seen = own.side(where).count(); // before the call
      if (!own.used.is_open(generation_)) // a later close counts an event after `seen`
        fail(EBADF, kWhat);
      if (where == direction::in && own.emptied.load(base::relaxed) == mark(seen)) {
        wait_after(where, seen, until);
        continue;
      }
      const auto done = call(seen);
      if (done >= 0)
        return done;
      const int error = *base::this_threads_error();
      if (error == EINTR)
        continue;
      if (error != EAGAIN)
        fail(error, kWhat);
      wait_after(where, seen, until);
    }
  }

  // A read of TCP that gives less than was asked for has taken all that was there, and what comes
  // later is an event: so the next read is not tried before that. But a read also ends before
  // urgent data, an error or the end, whose event may have come with the data's.
  void note_read(std::uint32_t seen, bool less) noexcept {
    if (less && own.is_tcp.load(base::relaxed) && own.watched.load(base::relaxed) &&
        !own.more_than_data.load(base::relaxed))
      own.emptied.store(mark(seen), base::relaxed);
  }

private:
  explicit use(descriptor::name named)
      : fd{named.number}, own{known(named.number)}, generation_{named.generation} {
    if (!own.used.enter(generation_))
      fail(EBADF, kWhat);
  }

  static entry& known(int number) {
    entry* const found = find_entry(number);
    if (found == nullptr)
      fail(EBADF, kWhat);
    return *found;
  }
  static std::uint64_t mark(std::uint32_t seen) noexcept { return std::uint64_t{seen} + 1; }

  void wait_after(direction where, std::uint32_t seen, clock::time_point until) {
    const bool strand = vproc::on_strand();
    if (strand && !own.watched.load(base::relaxed)) {
      own.more_than_data.store(false, base::relaxed); // it may be an earlier descriptor's
      if (!take_events_of(fd, own))
        fail(EAGAIN, "nopal::io cannot wait for a file of this kind");
    }
    if (!(strand ? wait(own, where, seen, until) : block(fd, own, where, seen, until)))
      fail(ETIMEDOUT, kWhat);
  }

public:
  const int fd;
  entry& own;

private:
  const std::uint32_t generation_;
};

} // namespace nopal::inline NOPAL_ABI::io
NOPAL_HIDDEN_END
