// SPDX-License-Identifier: MIT
// The launcher, and how many of its children live.
#include "nopal/process/launch/beginning.h"

#include "nopal/base/die.h"
#include "nopal/config/environment.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace nopal::inline NOPAL_ABI::process {
namespace {

constexpr int looks_a_second = 1000 / look_every_ms;
constexpr int begun_s = 2; // a launcher has begun all its processes on a machine by then
// For a death on another machine, whose children this process cannot see.
constexpr int limit_s = 300;

// What /proc says of a process, after its name in parentheses: " state parent ...". Empty: it is
// gone.
std::string state_and_parent(long process) {
  const std::string stat = config::read_file("/proc/" + std::to_string(process) + "/stat").text;
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string::npos ? std::string() : stat.substr(name_end + 1);
}

// A process that has died stays in the list until its launcher asks how, which MPICH's does late.
bool has_died(long process) {
  const std::string found = state_and_parent(process);
  return found.size() < 2 || found[1] == 'Z' || found[1] == 'X';
}

// How many children of the process live. -1: the kernel does not say.
int count_children(pid_t process) {
  const std::string parent = std::to_string(process);
  const auto [text, error] = config::read_file("/proc/" + parent + "/task/" + parent + "/children");
  if (error != 0)
    return -1;
  int count = 0;
  char* end = nullptr;
  for (const char* at = text.c_str();; at = end) {
    const long child = std::strtol(at, &end, 10);
    if (end == at)
      return count;
    count += has_died(child) ? 0 : 1;
  }
}

} // namespace

pid_t process_that_set(const char* variable) {
  const std::string wanted = '\0' + std::string(variable) + "=";
  pid_t at = getppid();
  for (;;) {
    const std::string folder = "/proc/" + std::to_string(at);
    const std::string environment = '\0' + config::read_file(folder + "/environ").text;
    const std::string found = state_and_parent(at);
    if (environment.find(wanted) == std::string::npos || found.size() < 3)
      return at;
    at = static_cast<pid_t>(std::atoi(found.c_str() + 3));
  }
}

// A child is missing if there are fewer than there were, or, when all should have begun, than there
// should be.
std::function<void()> look_at_children(pid_t launcher, int processes) {
  return [launcher, processes, looks = 0, most = 0]() mutable {
    const int children = count_children(launcher);
    most = std::max(most, children);
    const bool all_begun = ++looks > begun_s * looks_a_second;
    if (children >= 0 && (children < most || (all_begun && children < processes)))
      base::die("another process of this machine has died before the computation has begun, so "
                "this process ends too");
    if (looks > limit_s * looks_a_second)
      base::die("the processes that the launcher of MPI has begun have not come together within %d "
                "seconds: one may have died, or cannot be reached",
                limit_s);
  };
}

} // namespace nopal::inline NOPAL_ABI::process
