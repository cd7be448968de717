// SPDX-License-Identifier: MIT
// A strand that waits is in the queue of its descriptor's events, where a canceller finds it, too.
#include "nopal/io/waits.h"

#include "nopal/fibers/timed.h"
#include "nopal/io/blocked.h"
#include "nopal/io/events.h"
#include "nopal/vproc/worker.h"

#include <cerrno>

namespace nopal::inline NOPAL_ABI::io {
namespace {

constexpr char what[] = "nopal::io cannot wait for a descriptor";

// Holds the number for the wait, if a descriptor owns it.
class number_in_use {
public:
  number_in_use(int fd, entry& own) noexcept
      : fd_{fd}, own_{own}, generation_{own.used.generation()},
        owned_{own.used.enter(generation_)} {}
  ~number_in_use() {
    if (owned_ && own_.used.leave(generation_))
      give_back(fd_, own_);
  }
  number_in_use(const number_in_use&) = delete;
  number_in_use& operator=(const number_in_use&) = delete;

  bool was_closed() const noexcept { return owned_ && !own_.used.is_open(generation_); }

private:
  const int fd_;
  entry& own_;
  const std::uint32_t generation_;
  const bool owned_;
};

bool wait_for(int fd, direction where, clock::time_point until) {
  entry& own = entry_of(fd);
  const number_in_use held{fd, own};
  const bool strand = vproc::on_strand();
  const std::uint32_t seen = own.side(where).count();
  if (held.was_closed())
    fail(EBADF, what);
  if (poll_one(fd, where, 0))
    return true;
  const bool ready = !strand ? block(fd, own, where, seen, until)
                             : !take_events_of(fd, own) || wait(own, where, seen, until);
  if (held.was_closed())
    fail(EBADF, what);
  return ready;
}

} // namespace

bool wait(entry& own, direction where, std::uint32_t seen, clock::time_point until) {
  auto& events = own.side(where);
  return fibers::wait_until(
      until, sync::wanted::event, nullptr,
      [&](vproc::fiber* strand) { return events.join(strand, seen); },
      [&events](vproc::fiber* strand) { events.leave(strand); });
}

bool wait_readable(int fd, clock::time_point until) { return wait_for(fd, direction::in, until); }
bool wait_writable(int fd, clock::time_point until) { return wait_for(fd, direction::out, until); }

} // namespace nopal::inline NOPAL_ABI::io
