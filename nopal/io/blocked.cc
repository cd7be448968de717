// SPDX-License-Identifier: MIT
// Threads that run no strands and wait for a descriptor.
#include "nopal/io/blocked.h"

#include "nopal/io/own.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace nopal::inline NOPAL_ABI::io {
namespace {

// So often it looks whether what it waits for has happened all the same: the program may have
// closed the bell, or the system has refused one.
constexpr std::chrono::milliseconds kLook{1000};
constexpr std::chrono::milliseconds kLookWithoutBell{50};

constexpr char what[] = "nopal::io cannot wait for a descriptor";

short events_of(direction where) noexcept {
  return static_cast<short>(where == direction::in ? POLLIN | POLLRDHUP : POLLOUT);
}
bool judge(const pollfd& asked) {
  if ((asked.revents & POLLNVAL) != 0)
    fail(EBADF, what);
  return asked.revents != 0;
}

// In the list of those that are woken, while it lives.
class listed {
public:
  listed(entry& own, const bell& by) noexcept : own_{own}, self_{by.epoll, by.alarm, nullptr} {
    const base::locked guard{own.lock};
    self_.next = own.threads;
    own.threads = &self_;
  }
  ~listed() {
    const base::locked guard{own_.lock};
    blocked_thread** at = &own_.threads;
    while (*at != nullptr && *at != &self_)
      at = &(*at)->next;
    if (*at != nullptr)
      *at = self_.next;
  }
  listed(const listed&) = delete;
  listed& operator=(const listed&) = delete;

private:
  entry& own_;
  blocked_thread self_;
};

} // namespace

bool poll_one(int descriptor, direction where, int timeout_ms) {
  pollfd asked{descriptor, events_of(where), 0};
  if (poll(&asked, 1, timeout_ms) < 0 && errno != EINTR)
    fail(errno, what);
  return judge(asked);
}

// A bell that was rung before, too late, ends the first turn.
bool block(int descriptor, entry& own, direction where, std::uint32_t seen,
           std::chrono::steady_clock::time_point until) {
  using std::chrono::ceil, std::chrono::milliseconds;
  using clock = std::chrono::steady_clock;
  bell& mine = this_threads_bell();
  const listed self{own, mine};
  while (own.side(where).count() == seen) {
    const clock::time_point now = clock::now();
    const bool late = until <= now;
    const milliseconds most = mine.epoll >= 0 ? kLook : kLookWithoutBell;
    const clock::duration left = late ? clock::duration::zero() : until - now;
    const auto turn = ceil<milliseconds>(std::min<clock::duration>(left, most));
    pollfd asked[2]{{descriptor, events_of(where), 0}, {mine.epoll, POLLIN, 0}}; // -1: passed over
    const int found = poll(asked, 2, static_cast<int>(turn.count()));
    if (found < 0 && errno != EINTR)
      fail(errno, what);
    if (judge(asked[0]))
      return true;
    if (late)
      return false;
    if ((found == 0 || asked[1].revents != 0) && !ring(mine.epoll, mine.alarm, false))
      mine.epoll = -1; // it was lost
  }
  return true;
}

// The list's lock keeps each thread in it there.
void wake_threads(entry& own) noexcept {
  const base::locked guard{own.lock};
  for (const blocked_thread* each = own.threads; each != nullptr; each = each->next)
    ring(each->epoll, each->alarm, true);
}

} // namespace nopal::inline NOPAL_ABI::io
