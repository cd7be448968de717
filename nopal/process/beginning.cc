// SPDX-License-Identifier: MIT
// The launcher, and the handler that counts its children.
#include "nopal/process/beginning.h"

#include "nopal/base/die.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/time.h>
#include <unistd.h>

namespace nopal::inline NOPAL_ABI::process {
namespace {

constexpr int looks_a_second = 10;
constexpr int begun_s = 2;   // a launcher has begun all its processes on a machine by then
constexpr int limit_s = 300; // for those of other machines, where nobody looks

struct {
  char children[64]; // the file that lists them
  int looks;
  int known;
  int most; // children that there were at a time
} watched;

// By system calls alone, for a handler. -1: the kernel does not say.
int count_children() noexcept {
  const int file = open(watched.children, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return -1;
  int count = 0;
  char text[1024];
  ssize_t size = 0;
  while ((size = read(file, text, sizeof text)) > 0)
    count += static_cast<int>(std::count(text, text + size, ' ')); // one after each number
  close(file);
  return count;
}

void look(int) {
  const int error = errno;
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

std::string all_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

pid_t process_that_set(const char* variable) {
  const std::string wanted = '\0' + std::string(variable) + "=";
  pid_t at = getppid();
  for (;;) {
    const std::string folder = "/proc/" + std::to_string(at);
    const std::string environment = '\0' + all_of(folder + "/environ");
    const std::string stat = all_of(folder + "/stat"); // number (name) state parent ...
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
