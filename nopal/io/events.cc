// SPDX-License-Identifier: MIT
// The epoll, its events, and the table of descriptors.
//
// The kernel keeps what is in the epoll; here are only the strands that wait. The table grows by
// pieces, which are never freed.
#include "nopal/io/events.h"

#include "nopal/base/atomic.h"
#include "nopal/vproc/ready.h"
#include "nopal/vproc/timer.h"
#include "nopal/vproc/wake.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <memory>
#include <system_error>

namespace nopal::inline NOPAL_ABI::io {
namespace {

constexpr std::uint32_t kAll = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET;
constexpr std::uint32_t kIn = EPOLLIN | EPOLLRDHUP | EPOLLPRI | EPOLLHUP | EPOLLERR;
constexpr std::uint32_t kOut = EPOLLOUT | EPOLLHUP | EPOLLERR;
constexpr int kTogether = 128; // events that are taken at a time

constexpr std::size_t kPiece = 1024;
constexpr std::size_t kPieces = 4096;
base::atomic<entry*> pieces[kPieces]; // release and acquire: a piece is whole when others see it

struct poller {
  int epoll = -1;
  int interrupt = -1; // an eventfd, level-triggered: only the watcher whose wait it ends resets it
  epoll_event taken[kTogether];
  int number = 0; // of those taken

  static poller& instance();
  poller();
  void deliver(const epoll_event* events, int count) const noexcept;
};

// Rounded up, so that the time has come if nothing else has; -1: for ever.
int ms_until(std::int64_t until_ns) noexcept {
  using std::chrono::ceil, std::chrono::hours, std::chrono::milliseconds, std::chrono::nanoseconds;
  if (until_ns == std::numeric_limits<std::int64_t>::max())
    return -1;
  const nanoseconds left =
      nanoseconds{until_ns} - std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<int>(ceil<milliseconds>(std::clamp<nanoseconds>(left, {}, hours{1})).count());
}

bool wait(std::int64_t until_ns) noexcept {
  poller& all = poller::instance();
  all.number = std::max(0, epoll_wait(all.epoll, all.taken, kTogether, ms_until(until_ns)));
  for (int i = 0; i < all.number; ++i)
    if (std::uint64_t times = 0; all.taken[i].data.fd == all.interrupt)
      static_cast<void>(read(all.interrupt, &times, sizeof times));
  return all.number != 0;
}
void interrupt() noexcept {
  constexpr std::uint64_t once = 1;
  static_cast<void>(write(poller::instance().interrupt, &once, sizeof once));
}
void deliver() noexcept {
  const poller& all = poller::instance();
  all.deliver(all.taken, all.number);
}
void look() noexcept {
  const poller& all = poller::instance();
  epoll_event found[kTogether];
  all.deliver(found, epoll_wait(all.epoll, found, kTogether, 0));
}

// Stops at the first such entry, which in a server is that of a socket that it listens to.
bool awaited() noexcept {
  for (const base::atomic<entry*>& each : pieces)
    if (entry* const piece = each.load(base::acquire))
      for (std::size_t i = 0; i < kPiece; ++i)
        if (piece[i].in.awaited() || piece[i].out.awaited())
          return true;
  return false;
}

sync::watch for_events{{wait, interrupt, deliver, look, awaited}};

// Never destroyed: threads of the pool use it as long as the process lives.
poller& poller::instance() {
  static auto* const only = new poller;
  return *only;
}

poller::poller() : epoll{epoll_create1(EPOLL_CLOEXEC)} {
  interrupt = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event{EPOLLIN, {.fd = interrupt}};
  if (epoll < 0 || interrupt < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, interrupt, &event) != 0) {
    const int error = errno;
    close(epoll);
    close(interrupt);
    fail(error, "nopal::io needs an epoll and an eventfd");
  }
}

void poller::deliver(const epoll_event* events, int count) const noexcept {
  for (int i = 0; i < count; ++i) {
    if (events[i].data.fd == interrupt)
      continue;
    entry& changed = entry_of(events[i].data.fd); // it was there when the descriptor was added
    if ((events[i].events & (EPOLLPRI | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0)
      changed.more_than_data.store(true, base::relaxed);
    if ((events[i].events & kIn) != 0)
      vproc::make_all_ready(changed.in.happen());
    if ((events[i].events & kOut) != 0)
      vproc::make_all_ready(changed.out.happen());
  }
}

} // namespace

void fail(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

entry& entry_of(int descriptor) {
  const auto number = static_cast<unsigned>(descriptor);
  if (descriptor < 0 || number >= kPieces * kPiece)
    fail(EBADF, "nopal::io was given no descriptor");
  base::atomic<entry*>& piece = pieces[number / kPiece];
  entry* seen = piece.load(base::acquire);
  if (seen == nullptr) {
    auto made = std::make_unique<entry[]>(kPiece);
    if (piece.compare_exchange_strong(seen, made.get(), base::acq_rel, base::acquire))
      seen = made.release();
  }
  return seen[number % kPiece];
}

namespace {
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

bool take_events_of(int descriptor) {
  const poller& all = poller::instance();
  begin_to_watch();
  epoll_event event{kAll, {.fd = descriptor}};
  for (const int how : {EPOLL_CTL_MOD, EPOLL_CTL_ADD, EPOLL_CTL_MOD}) {
    if (epoll_ctl(all.epoll, how, descriptor, &event) == 0)
      return true;
    if (errno == EPERM)
      return false;
    if (errno != ENOENT && errno != EEXIST)
      break;
  }
  fail(errno, "nopal::io cannot wait for a descriptor");
}

void forget(int descriptor) noexcept {
  epoll_ctl(poller::instance().epoll, EPOLL_CTL_DEL, descriptor, nullptr);
}

// Where a piece is not there, no strand waits.
void wake_all(int descriptor) noexcept {
  const auto number = static_cast<unsigned>(descriptor);
  if (number >= kPieces * kPiece || pieces[number / kPiece].load(base::acquire) == nullptr)
    return;
  entry& own = entry_of(descriptor);
  vproc::make_all_ready(own.in.happen());
  vproc::make_all_ready(own.out.happen());
}

} // namespace nopal::inline NOPAL_ABI::io
