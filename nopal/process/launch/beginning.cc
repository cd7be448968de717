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
#include <iterator>
#include <memory>
#include <poll.h>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

constexpr int looks_a_second = 1000 / look_every_ms;
// A launcher that has slept so long, or has had so much time of a processor, since it began one
// begins no more.
constexpr int pause_s = 3;
// For a death on another machine, whose children this process cannot see.
constexpr int limit_s = 300;

// What /proc says of a process or a thread, after its name in parentheses: "state parent ...". "X":
// it is gone.
std::string state_and_parent(pid_t process) {
  const std::string stat = config::read_file("/proc/" + std::to_string(process) + "/stat").text;
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string::npos ? "X" : stat.substr(name_end + 2);
}
// In hundredths of a second, which are the system's ticks.
long processor_time_of(pid_t process) {
  std::istringstream words{state_and_parent(process)};
  std::vector<std::string> all{std::istream_iterator<std::string>{words}, {}};
  constexpr std::size_t user = 11; // then the system's
  return all.size() > user + 1 ? std::stol(all[user]) + std::stol(all[user + 1]) : 0;
}
// Not while it sleeps or has ended.
bool is_active(pid_t process) {
  return std::string_view("SZX").find(state_and_parent(process)[0]) == std::string_view::npos;
}

bool has_variable(pid_t process, const char* variable) {
  const std::string path = "/proc/" + std::to_string(process) + "/environ";
  const std::string environment = '\0' + config::read_file(path).text;
  return environment.find('\0' + std::string(variable) + '=') != std::string::npos;
}

struct family {
  std::vector<pid_t> children; // of all threads: a launcher may begin processes by several
  bool active = false;         // some thread is
};
family family_of(pid_t process) {
  family found;
  std::error_code unread;
  const std::filesystem::directory_iterator threads{"/proc/" + std::to_string(process) + "/task",
                                                    unread};
  for (const auto& thread : threads) {
    found.active |= is_active(std::atoi(thread.path().filename().c_str()));
    const std::string text = config::read_file(thread.path() / "children").text;
    char* end = nullptr;
    for (const char* at = text.c_str();; at = end) {
      const auto child = static_cast<pid_t>(std::strtol(at, &end, 10));
      if (end == at)
        break;
      found.children.push_back(child);
    }
  }
  return found;
}

// The processes of the program on this machine, as far as they have been seen.
class begun_processes {
public:
  begun_processes(const known_mpi& mpi, pid_t launcher) noexcept
      : variable_{mpi.number}, launcher_{launcher} {
    if (const char* const processes = std::getenv(mpi.size_on_machine))
      wanted_ = std::strtoul(processes, nullptr, 10);
  }
  begun_processes(const begun_processes&) = delete;
  begun_processes& operator=(const begun_processes&) = delete;
  ~begun_processes() {
    for (const pollfd& each : ends_)
      close(each.fd);
  }

  // How long it takes until all have begun depends on the load. So time does not count in which the
  // launcher, or a child that is to become one of them, waits for a processor: else one that has
  // not come might be called dead.
  void look() {
    if (wanted_ == 0 || seen_.size() < wanted_)
      look_for_more();
    if (poll(ends_.data(), ends_.size(), 0) > 0 ||
        (seen_.size() < wanted_ && waited_ > 100 * pause_s))
      base::die("another process of this machine has died before the computation has begun, so "
                "this process ends too");
    if (++looks_ > limit_s * looks_a_second)
      base::die("the processes that the launcher of MPI has begun have not come together within %d "
                "seconds: one may have died, or cannot be reached",
                limit_s);
  }

private:
  // A launcher has other children too, and a child of it is no process of the program yet before it
  // has begun the program: so one counts that has the launcher's variable.
  void look_for_more() {
    const family launchers = family_of(launcher_);
    const long used = processor_time_of(launcher_);
    waited_ += used - std::exchange(used_, used);
    bool active = launchers.active;
    for (const pid_t child : launchers.children) {
      if (std::ranges::count(seen_, child) != 0)
        continue;
      active |= is_active(child);
      if (!has_variable(child, variable_))
        continue;
      ends_.push_back({descriptor_of(child, "another process of this machine"), POLLIN, 0});
      seen_.push_back(child);
      waited_ = 0;
    }
    if (!active)
      waited_ += look_every_ms / 10;
  }

  const char* const variable_;
  const pid_t launcher_;
  std::size_t wanted_ = 0; // 0: not known
  std::vector<pid_t> seen_;
  std::vector<pollfd> ends_; // a descriptor of each
  int looks_ = 0;
  long used_ = 0;   // the launcher's time of a processor
  long waited_ = 0; // in hundredths of a second since the last came, as far as it counts
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
