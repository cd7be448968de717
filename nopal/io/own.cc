// SPDX-License-Identifier: MIT
// The runtime's epoll and its alarm: made, checked, made anew.
#include "nopal/io/own.h"

#include "nopal/base/atomic.h"
#include "nopal/base/child.h"
#include "nopal/base/spin_lock.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace nopal::inline NOPAL_ABI::io {
namespace {

// Linux gives each process room for 64 numbers. A table of more is made while other threads wait.
constexpr int kLeast = 56;
constexpr int kAfterStandard = 3;

// Written under the lock. Relaxed: who reads one of the old and one of the new finds them lost.
base::spin_lock making;
base::atomic<int> epoll{-1};
base::atomic<int> alarm_in_it{-1};

int control(int in, int how, int descriptor, std::uint32_t events) noexcept {
  epoll_event event{events, {.fd = kAlarm}};
  return epoll_ctl(in, how, descriptor, &event) == 0 ? 0 : errno;
}

int moved_to(int least, int descriptor) noexcept {
  if (descriptor < 0 || descriptor >= least)
    return descriptor;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, least);
  if (moved < 0)
    return descriptor;
  close(descriptor);
  return moved;
}
// A number that programs do not get soon.
int out_of_the_way(int descriptor) noexcept {
  return moved_to(kAfterStandard, moved_to(kLeast, descriptor));
}

// What was lost is not closed: the numbers may be another's.
bool make() noexcept {
  const int made = out_of_the_way(epoll_create1(EPOLL_CLOEXEC));
  const int rung = made < 0 ? -1 : out_of_the_way(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const int error = rung < 0 ? errno : control(made, EPOLL_CTL_ADD, rung, 0);
  if (error != 0) {
    if (made >= 0)
      close(made);
    if (rung >= 0)
      close(rung);
    errno = error;
    return false;
  }
  epoll.store(made, base::relaxed);
  alarm_in_it.store(rung, base::relaxed);
  return true;
}

// Never one that was lost.
void close_if_own(int in, int rung) noexcept {
  if (in >= 0 && is_own(in, rung))
    close(in);
}

struct owned_bell : bell {
  ~owned_bell() { close_if_own(epoll, alarm); }
};
thread_local owned_bell of_this_thread;

NOPAL_IN_CHILD([]() noexcept { making.begin_anew(); });

// Also in the child of a program with mapped workers, whose memory is its own.
[[gnu::constructor]] void tell_children() noexcept {
  pthread_atfork(nullptr, nullptr, [] {
    bell& mine = of_this_thread;
    close_if_own(mine.epoll, mine.alarm);
    mine = {};
    const int copy = epoll.exchange(-1, base::relaxed);
    const int copy_of_alarm = alarm_in_it.exchange(-1, base::relaxed);
    if (copy < 0 || !is_own(copy, copy_of_alarm))
      return;
    close(copy);
    close(copy_of_alarm);
  });
}

} // namespace

int own_epoll() noexcept { return epoll.load(base::relaxed); }
int own_alarm() noexcept { return alarm_in_it.load(base::relaxed); }

// An epoll refuses to add what is in it. One that does not refuse is not the runtime's.
bool is_own(int in, int rung) noexcept {
  const int error = control(in, EPOLL_CTL_ADD, rung, 0);
  if (error == 0)
    control(in, EPOLL_CTL_DEL, rung, 0);
  return error == EEXIST;
}

bool ring(int in, int rung, bool on) noexcept {
  return control(in, EPOLL_CTL_MOD, rung, on ? std::uint32_t{EPOLLOUT} : 0) == 0;
}

own_are check_own() noexcept {
  if (is_own(own_epoll(), own_alarm()))
    return own_are::as_before;
  const base::locked guard{making};
  if (is_own(own_epoll(), own_alarm()))
    return own_are::as_before;
  return make() ? own_are::made_anew : own_are::refused;
}

bell& this_threads_bell() noexcept {
  bell& mine = of_this_thread;
  if (mine.epoll >= 0 || (own_alarm() < 0 && check_own() == own_are::refused))
    return mine;
  mine.alarm = own_alarm();
  mine.epoll = moved_to(kAfterStandard, epoll_create1(EPOLL_CLOEXEC));
  if (mine.epoll >= 0 && control(mine.epoll, EPOLL_CTL_ADD, mine.alarm, 0) != 0) {
    close(mine.epoll);
    mine.epoll = -1;
  }
  return mine;
}

} // namespace nopal::inline NOPAL_ABI::io
