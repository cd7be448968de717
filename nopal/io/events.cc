// SPDX-License-Identifier: MIT
// The watch for events, and who is told of them.
//
// The kernel keeps what is in the epoll; here are only the strands that wait.
#include "nopal/io/events.h"

#include "nopal/base/os.h"
#include "nopal/io/blocked.h"
#include "nopal/io/own.h"
#include "nopal/vproc/ready.h"
#include "nopal/vproc/timer.h"
#include "nopal/vproc/wake.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>

namespace nopal::inline NOPAL_ABI::io {
namespace {

constexpr std::uint32_t kAll = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET;
constexpr std::uint32_t kIn = EPOLLIN | EPOLLRDHUP | EPOLLPRI | EPOLLHUP | EPOLLERR;
constexpr std::uint32_t kOut = EPOLLOUT | EPOLLHUP | EPOLLERR;
constexpr int kTogether = 128; // events that are taken at a time
// A watcher looks so often whether the program has closed the epoll, which would not wake it.
constexpr int kLook_ms = 1000;
constexpr unsigned kRefused_us = 10'000; // where the system refuses an epoll

// Of the watcher alone.
epoll_event taken[kTogether];
int number_taken = 0;

// Rounded up, so that the time has come if nothing else has.
int ms_until(std::int64_t until_ns) noexcept {
  using std::chrono::ceil, std::chrono::milliseconds, std::chrono::nanoseconds;
  if (until_ns == std::numeric_limits<std::int64_t>::max())
    return kLook_ms;
  const nanoseconds left =
      nanoseconds{until_ns} - std::chrono::steady_clock::now().time_since_epoch();
  constexpr milliseconds most{kLook_ms};
  return static_cast<int>(ceil<milliseconds>(std::clamp<nanoseconds>(left, {}, most)).count());
}

// False, and errno: the epoll refuses, or this file cannot be waited for.
bool add(int descriptor) noexcept {
  epoll_event event{kAll, {.fd = descriptor}};
  for (const int how : {EPOLL_CTL_MOD, EPOLL_CTL_ADD, EPOLL_CTL_MOD}) {
    if (epoll_ctl(own_epoll(), how, descriptor, &event) == 0)
      return true;
    if (errno != ENOENT && errno != EEXIST)
      return false;
  }
  return false;
}

// Whether there is an epoll. Where the program has closed the last one, a new one gets all that the
// old one had; what the program has closed, too, is told so.
bool has_epoll() noexcept {
  const own_are found = check_own();
  if (found == own_are::made_anew)
    any_entry([](int descriptor, entry& own) {
      if (own.watched.load(base::relaxed) && !add(descriptor)) {
        own.watched.store(false, base::relaxed);
        wake_all(own);
      }
      return false;
    });
  return found != own_are::refused;
}

void deliver(const epoll_event* events, int count) noexcept {
  for (int i = 0; i < count; ++i) {
    entry* const changed = find_entry(events[i].data.fd); // null: the alarm's
    if (changed == nullptr)
      continue;
    if ((events[i].events & (EPOLLPRI | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0)
      changed->more_than_data.store(true, base::relaxed);
    if ((events[i].events & kIn) != 0)
      vproc::make_all_ready(changed->in.happen());
    if ((events[i].events & kOut) != 0)
      vproc::make_all_ready(changed->out.happen());
  }
}

// The alarm rings until the watcher whose wait it has ended turns it off.
bool wait(std::int64_t until_ns) noexcept {
  number_taken = 0;
  if (!has_epoll()) {
    base::sleep_us(kRefused_us);
    return true; // as if interrupted: an interrupt may have been lost
  }
  number_taken = std::max(0, epoll_wait(own_epoll(), taken, kTogether, ms_until(until_ns)));
  for (int i = 0; i < number_taken; ++i)
    if (taken[i].data.fd == kAlarm)
      ring(own_epoll(), own_alarm(), false);
  return number_taken != 0;
}
// A watcher that waits in an epoll that was closed looks soon.
void interrupt() noexcept {
  if (!ring(own_epoll(), own_alarm(), true) && has_epoll())
    ring(own_epoll(), own_alarm(), true);
}
void deliver_taken() noexcept { deliver(taken, number_taken); }
void look() noexcept {
  if (!has_epoll())
    return;
  epoll_event found[kTogether];
  deliver(found, epoll_wait(own_epoll(), found, kTogether, 0));
}

// Stops at the first such entry, which in a server is that of a socket that it listens to.
bool awaited() noexcept {
  return any_entry([](int, entry& own) { return own.in.awaited() || own.out.awaited(); });
}

sync::watch for_events{{wait, interrupt, deliver_taken, look, awaited}};

// No thread of the child of fork() watches, until a strand there waits for a descriptor.
[[gnu::constructor]] void tell_children() noexcept {
  pthread_atfork(nullptr, nullptr, [] {
    for_events.leave();
    vproc::idle.events.store(nullptr, base::relaxed);
  });
}

// From the first time on threads without work watch. Those that sleep already are woken for it.
void begin_to_watch() noexcept {
  if (vproc::idle.events.load(base::relaxed) != nullptr)
    return;
  vproc::idle.events.store(&for_events, base::seq_cst);
  base::full_fence(); // W of parking.h
  vproc::wake_pool();
  vproc::want_ticks();
}

} // namespace

bool take_events_of(int descriptor, entry& own) {
  if (!has_epoll())
    fail(errno, "nopal::io needs an epoll and an eventfd");
  begin_to_watch();
  int error = EBADF;
  {
    const base::locked guard{own.lock};
    own.watched.store(true, base::relaxed); // first: a new epoll gets it, too
    if (!own.used.is_closing() && add(descriptor))
      return true;
    if (!own.used.is_closing())
      error = errno;
    own.watched.store(false, base::relaxed);
  }
  if (error == EPERM)
    return false;
  fail(error, "nopal::io cannot wait for a descriptor");
}

void wake_all(entry& own) noexcept {
  vproc::make_all_ready(own.in.happen());
  vproc::make_all_ready(own.out.happen());
  wake_threads(own);
}

void take_no_more_events_of(int descriptor, entry& own) noexcept {
  if (own.watched.exchange(false, base::relaxed))
    epoll_ctl(own_epoll(), EPOLL_CTL_DEL, descriptor, nullptr);
}

void give_back(int descriptor, entry& own) noexcept {
  take_no_more_events_of(descriptor, own);
  close(descriptor);
}

} // namespace nopal::inline NOPAL_ABI::io
