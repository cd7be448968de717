// SPDX-License-Identifier: MIT
// The launcher, and which of its children live.
#include "nopal/process/launch/beginning.h"

#include "nopal/base/die.h"
#include "nopal/config/environment.h"
#include "nopal/process/launch/watch.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <poll.h>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

constexpr int looks_a_second = 1000 / look_every_ms;
// A launcher that has begun none for so long, and has none that is about to come, begins no more.
constexpr int pause_s = 10;
// For a death on another machine, whose children this process cannot see.
constexpr int limit_s = 300;

// What /proc says of a process behind its name: "state parent ...". "X": it is gone.
std::string state_and_parent(pid_t process) {
  const std::string stat = config::read_file("/proc/" + std::to_string(process) + "/stat").text;
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string::npos ? "X" : stat.substr(name_end + 2);
}
bool is_active(pid_t process) { // it neither sleeps nor has ended
  return std::string_view("SZX").find(state_and_parent(process)[0]) == std::string_view::npos;
}

bool has_variable(pid_t process, const char* variable) {
  const std::string path = "/proc/" + std::to_string(process) + "/environ";
  const std::string environment = '\0' + config::read_file(path).text;
  return environment.find('\0' + std::string(variable) + '=') != std::string::npos;
}

// The children of all threads of a process: a launcher may begin processes by several.
std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> all;
  std::error_code unread;
  const std::filesystem::directory_iterator threads{"/proc/" + std::to_string(process) + "/task",
                                                    unread};
  for (const auto& thread : threads) {
    std::ifstream children{thread.path() / "children"};
    all.insert(all.end(), std::istream_iterator<pid_t>{children}, {});
  }
  return all;
}

// The processes of the program on this machine, as far as they have been seen.
class begun_processes {
public:
  begun_processes(const known_mpi& mpi, pid_t launcher) noexcept
      : variable_{mpi.number}, launcher_{launcher} {
    if (const char* const processes = config::variable(mpi.size_on_machine))
      wanted_ = std::strtoul(processes, nullptr, 10);
  }
  begun_processes(const begun_processes&) = delete;
  begun_processes& operator=(const begun_processes&) = delete;
  ~begun_processes() {
    for (const pollfd& each : ends_)
      close(each.fd);
  }

  void look() {
    if (wanted_ == 0 || seen_.size() < wanted_)
      look_for_more();
    if (poll(ends_.data(), ends_.size(), 0) > 0)
      base::die("another process of this machine has died before the computation has begun, so "
                "this process ends too");
    if (seen_.size() < wanted_ && vain_looks_ > pause_s * looks_a_second)
      base::die("%zu of the %zu processes of this machine have come, and the launcher begins no "
                "more: another one has died, so this process ends too",
                seen_.size(), wanted_);
    if (++looks_ > limit_s * looks_a_second)
      base::die("not all processes have come within %d seconds: one may have died", limit_s);
  }

private:
  // A launcher has other children too, and a child is no process of the program yet before it has
  // the launcher's variable. On a loaded machine that takes long: one that runs is waited for.
  void look_for_more() {
    ++vain_looks_;
    for (const pid_t child : children_of(launcher_)) {
      if (std::ranges::count(seen_, child) != 0)
        continue;
      if (is_active(child))
        vain_looks_ = 0;
      if (!has_variable(child, variable_))
        continue;
      ends_.push_back({descriptor_of(child, "another process of this machine"), POLLIN, 0});
      seen_.push_back(child);
      vain_looks_ = 0;
    }
  }

  const char* const variable_;
  const pid_t launcher_;
  std::size_t wanted_ = 0; // 0: not known
  std::vector<pid_t> seen_;
  std::vector<pollfd> ends_; // a descriptor of each
  int looks_ = 0;
  int vain_looks_ = 0; // in a row
};

} // namespace

pid_t process_that_set(const char* variable) {
  for (pid_t at = getppid();;) {
    const std::string found = state_and_parent(at);
    if (!has_variable(at, variable) || found.size() < 3)
      return at;
    at = static_cast<pid_t>(std::atoi(found.c_str() + 2));
  }
}

std::function<void()> look_at_children(const known_mpi& mpi, pid_t launcher) {
  const auto all = std::make_shared<begun_processes>(mpi, launcher);
  all->look();
  return [all] { all->look(); };
}

} // namespace nopal::inline NOPAL_ABI::process
