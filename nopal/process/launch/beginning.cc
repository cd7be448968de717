// SPDX-License-Identifier: MIT
// The launcher, and the handler that counts its children.
#include "nopal/process/launch/beginning.h"

#include "nopal/base/die.h"
#include "nopal/config/environment.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/time.h>
#include <unistd.h>

namespace nopal::inline NOPAL_ABI::process {
namespace {

constexpr int looks_a_second = 10;
constexpr int begun_s = 2; // a launcher has begun all its processes on a machine by then
constexpr int limit_s =
    300; // for a death on another machine, whose children this process cannot see

// Written before the handler is installed, then by the handler alone.
struct {
  char children[64]; // the file that lists the launcher's
  int looks;         // so far
  int known;         // how many children there will be, or 0
  int most;          // children that there were at a time
} watched;

// A handler calls these functions, so they take no locks and allocate no memory.

// Reads the beginning of a file as a string. False: it cannot be read.
bool read_file(const char* path, char* text, std::size_t most) noexcept {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  const ssize_t size = read(file, text, most - 1);
  close(file);
  text[std::max<ssize_t>(size, 0)] = 0;
  return size >= 0;
}

// A process that has died stays in the list until its launcher asks how, which MPICH's does late.
bool has_died(long process) noexcept {
  char path[32];
  char stat[64]; // number (name) state ...; a name has 15 characters at most
  std::snprintf(path, sizeof path, "/proc/%ld/stat", process);
  if (!read_file(path, stat, sizeof stat))
    return true;
  const char* const name_end = std::strrchr(stat, ')');
  return name_end != nullptr && (name_end[2] == 'Z' || name_end[2] == 'X');
}

// The living ones. -1: the kernel does not say.
int count_children() noexcept {
  char text[1 << 14]; // a number has at most 7 digits, so at least 2,000 children
  if (!read_file(watched.children, text, sizeof text))
    return -1;
  int count = 0;
  char* end = nullptr;
  for (const char* at = text;; at = end) {
    const long process = std::strtol(at, &end, 10);
    if (end == at)
      return count;
    count += has_died(process) ? 0 : 1;
  }
}

// A child is missing if there are fewer than there were, or, when all should have begun, than there
// should be.
void look(int) {
  const int error = errno; // of the code that the signal has interrupted
  const int children = count_children();
  watched.most = std::max(watched.most, children);
  ++watched.looks;
  const bool all_begun = watched.looks > begun_s * looks_a_second;
  if (children >= 0 && (children < watched.most || (all_begun && children < watched.known)))
    base::die_in_signal_handler("another process of this machine has died before the computation "
                                "has begun, so this process ends too");
  if (watched.looks > limit_s * looks_a_second)
    base::die_in_signal_handler("the processes that the launcher of MPI has begun have not come "
                                "together within 300 seconds: one may have died, or cannot be "
                                "reached");
  errno = error;
}

void look_so_often(int times_a_second) noexcept {
  itimerval each{};
  if (times_a_second > 0)
    each.it_interval.tv_usec = each.it_value.tv_usec = 1'000'000 / times_a_second;
  setitimer(ITIMER_REAL, &each, nullptr);
}

} // namespace

pid_t process_that_set(const char* variable) {
  const std::string wanted = '\0' + std::string(variable) + "=";
  pid_t at = getppid();
  for (;;) {
    const std::string folder = "/proc/" + std::to_string(at);
    const std::string environment = '\0' + config::read_file(folder + "/environ").text;
    const std::string stat =
        config::read_file(folder + "/stat").text; // number (name) state parent ...
    const std::size_t name_end = stat.rfind(')');
    if (environment.find(wanted) == std::string::npos || name_end == std::string::npos)
      return at;
    at = static_cast<pid_t>(std::atoi(stat.c_str() + name_end + 4));
  }
}

beginning::beginning(pid_t launcher, int processes) {
  watched = {};
  watched.known = processes;
  std::snprintf(watched.children, sizeof watched.children, "/proc/%d/task/%d/children", launcher,
                launcher);
  struct sigaction action{};
  action.sa_handler = look;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, &before_);
  look_so_often(looks_a_second);
}

void beginning::end() noexcept {
  if (ended_)
    return;
  ended_ = true;
  look_so_often(0);
  sigaction(SIGALRM, &before_, nullptr);
}

} // namespace nopal::inline NOPAL_ABI::process
