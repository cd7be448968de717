// SPDX-License-Identifier: MIT
// Threads that run no strands and wait for a descriptor.
#include "nopal/io/blocked.h"

#include "nopal/io/own.h"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace nopal::inline NOPAL_ABI::io {
namespace {

// So often it looks whether what it waits for has happened all the same: where there is no alarm,
// or where the program has closed the epoll.
constexpr std::chrono::milliseconds kLook{1000};
constexpr std::chrono::milliseconds kLookWithoutAlarm{50};

constexpr char what[] = "nopal::io cannot wait for a descriptor";

// In the list of those that are woken, while it lives.
class waiting_thread {
public:
  explicit waiting_thread(entry& own) noexcept : own_{own} {
    if (check_own() == own_are::refused)
      return;
    self_.alarm = own_alarm();
    self_.epoll = out_of_the_way(epoll_create1(EPOLL_CLOEXEC));
    epoll_event event{0, {.fd = kAlarm}};
    if (self_.epoll >= 0 && epoll_ctl(self_.epoll, EPOLL_CTL_ADD, self_.alarm, &event) != 0) {
      close(self_.epoll);
      self_.epoll = -1;
    }
    const base::locked guard{own.threads_lock};
    self_.next = own.threads;
    own.threads = &self_;
  }
  ~waiting_thread() {
    {
      const base::locked guard{own_.threads_lock};
      blocked_thread** at = &own_.threads;
      while (*at != nullptr && *at != &self_)
        at = &(*at)->next;
      if (*at != nullptr)
        *at = self_.next;
    }
    if (works())
      close(self_.epoll);
  }
  waiting_thread(const waiting_thread&) = delete;
  waiting_thread& operator=(const waiting_thread&) = delete;

  // Whether the epoll is there and still this thread's.
  bool works() const noexcept { return self_.epoll >= 0 && is_own(self_.epoll, self_.alarm); }

  // False: it is always ready.
  bool add(int descriptor, direction where) const {
    epoll_event event{where == direction::in ? EPOLLIN | EPOLLRDHUP : EPOLLOUT, {.fd = descriptor}};
    if (epoll_ctl(self_.epoll, EPOLL_CTL_ADD, descriptor, &event) == 0)
      return true;
    if (errno != EPERM)
      fail(errno, what);
    return false;
  }
  bool wait(std::chrono::milliseconds at_most) const {
    epoll_event found{};
    const int number = epoll_wait(self_.epoll, &found, 1, static_cast<int>(at_most.count()));
    if (number < 0 && errno != EINTR)
      fail(errno, what);
    return number > 0;
  }

private:
  entry& own_;
  blocked_thread self_;
};

} // namespace

bool poll_one(int descriptor, direction where, int timeout_ms) {
  pollfd asked{descriptor,
               static_cast<short>(where == direction::in ? POLLIN | POLLRDHUP : POLLOUT), 0};
  const int found = poll(&asked, 1, timeout_ms);
  if ((found < 0 && errno != EINTR) || (asked.revents & POLLNVAL) != 0)
    fail(found < 0 ? errno : EBADF, what);
  return found > 0;
}

bool block(int descriptor, entry& own, direction where, std::uint32_t seen,
           std::chrono::steady_clock::time_point until) {
  using std::chrono::ceil, std::chrono::milliseconds;
  using clock = std::chrono::steady_clock;
  const waiting_thread self{own};
  bool rings = self.works();
  if (rings && !self.add(descriptor, where))
    return true;
  while (own.side(where).count() == seen) {
    const milliseconds most = rings ? kLook : kLookWithoutAlarm;
    const clock::duration left = until == clock::time_point::max() ? most : until - clock::now();
    const auto turn =
        std::max(milliseconds::zero(), ceil<milliseconds>(std::min<clock::duration>(left, most)));
    if (rings ? self.wait(turn) : poll_one(descriptor, where, static_cast<int>(turn.count())))
      return true;
    if (left <= clock::duration::zero())
      return false;
    rings = rings && self.works();
  }
  return true;
}

// The list's lock keeps each thread in it from closing its epoll.
void wake_threads(entry& own) noexcept {
  const base::locked guard{own.threads_lock};
  for (const blocked_thread* each = own.threads; each != nullptr; each = each->next)
    ring(each->epoll, each->alarm, true);
}

} // namespace nopal::inline NOPAL_ABI::io
