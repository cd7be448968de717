// SPDX-License-Identifier: MIT
// The thread that watches other processes.
#include "nopal/process/launch/watch.h"

#include "nopal/base/die.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace nopal::inline NOPAL_ABI::process {

int descriptor_of(pid_t process, const std::string& whose) {
  const auto found = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (found >= 0)
    return found;
  if (errno == ESRCH)
    base::die("%s has died before the computation has begun, so this process ends too",
              whose.c_str());
  base::die("%s cannot be watched (pidfd_open, of Linux 5.3): %s", whose.c_str(),
            std::strerror(errno));
}

void watch::start(std::vector<watched> all, int every_ms, std::function<void()> each_time) {
  all_ = std::move(all);
  every_ms_ = every_ms;
  each_time_ = std::move(each_time);
  if (pipe2(stop_, O_CLOEXEC) != 0) // a program may begin others meanwhile
    base::die("no pipe could be made to watch the other processes: %s", std::strerror(errno));
  thread_ = base::thread{"watches other processes", [this] { look(); }};
}

void watch::stop() noexcept {
  if (!thread_.joinable())
    return;
  close(stop_[1]);
  thread_.join();
  close(stop_[0]);
  for (const watched& each : all_)
    close(each.descriptor);
  all_.clear();
}

void watch::look() noexcept {
  std::vector<pollfd> wanted;
  for (const watched& each : all_)
    wanted.push_back({each.descriptor, POLLIN, 0});
  wanted.push_back({stop_[0], POLLIN, 0});
  for (;;) {
    const int ready = poll(wanted.data(), wanted.size(), every_ms_);
    if (ready == 0)
      each_time_();
    if (ready < 0 && errno != EINTR)
      base::die("the other processes cannot be watched any more: %s", std::strerror(errno));
    if (wanted.back().revents != 0)
      return;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (wanted[i].revents == 0)
        continue;
      const sign seen = all_[i].read();
      if (seen == sign::dead)
        base::die("%s has died before the computation has ended, so this process ends too",
                  all_[i].whose.c_str());
      if (seen == sign::ended_well)
        wanted[i].fd = -1; // poll takes no notice of it
      wanted[i].revents = 0;
    }
  }
}

} // namespace nopal::inline NOPAL_ABI::process
