// SPDX-License-Identifier: MIT
// Tries what is needed, and says what is missing; and sweeps /dev/shm.
#include "nopal/process/launch/needs.h"

#include "nopal/base/die.h"
#include "nopal/config/environment.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <string_view>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

class descriptor {
public:
  explicit descriptor(int which) noexcept : which_{which} {}
  ~descriptor() {
    if (which_ >= 0)
      close(which_);
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  int operator()() const noexcept { return which_; }

private:
  const int which_;
};

// Whether the file is this user's, and this process alone has it: the system grants a lease for
// writing only then, whichever container others are in. Until the file is closed, one who opens it
// waits, and the system tells of that by a signal, which is to be one that is ignored.
bool is_unused(int file) noexcept {
  struct stat found{};
  return file >= 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode) &&
         found.st_uid == geteuid() && found.st_nlink == 1 && fcntl(file, F_SETSIG, SIGURG) == 0 &&
         fcntl(file, F_SETLEASE, F_WRLCK) == 0;
}

} // namespace

void require_proc() {
  if (access("/proc/self/fd", R_OK | X_OK) != 0)
    base::die("/proc/self/fd cannot be read (%s): the processes of a session find each other by "
              "/proc, which has to be mounted, unless there is one process and no launcher",
              std::strerror(errno));
}

void require_files(unsigned more, unsigned processes) {
  std::vector<int> opened;
  int error = 0;
  while (error == 0 && opened.size() < more)
    if (const int file = eventfd(0, EFD_CLOEXEC); file >= 0)
      opened.push_back(file);
    else
      error = errno;
  std::ranges::for_each(opened, close);
  if (error == 0)
    return;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  base::die("a process::session of %u processes needs %u open files more than the program has, and "
            "there is room for %zu (%s; RLIMIT_NOFILE is %lu): raise the limit (ulimit -n), or "
            "begin fewer processes",
            processes, more, opened.size(), std::strerror(error), limit.rlim_cur);
}

void require_files_of_mpi(const known_mpi& mpi) {
  constexpr unsigned of_libraries = 20;
  const char* const text = config::variable(mpi.size);
  const auto processes = std::min(text == nullptr ? 1ul : std::strtoul(text, nullptr, 10), 4096ul);
  require_files(of_libraries + 2 * static_cast<unsigned>(processes),
                static_cast<unsigned>(processes));
}

void require_shared_files_of_mpich() {
  constexpr std::uint64_t each = 8192; // of a process
  struct statvfs there{};
  if (access("/dev/shm", W_OK) != 0 || statvfs("/dev/shm", &there) != 0)
    return;
  std::uint64_t processes = 1;
  for (const known_mpi& mpi : known_mpis)
    if (const char* const size = config::variable(mpi.size_on_machine))
      processes = std::max<std::uint64_t>(processes, std::strtoul(size, nullptr, 10));
  const std::uint64_t free = there.f_bavail * there.f_frsize;
  if (free < processes * each)
    base::die("%lu bytes are free in /dev/shm, and MPICH needs %lu there for %lu processes on this "
              "machine, or none where it cannot write: make room (mount -o remount,size=64M "
              "/dev/shm, or docker run --shm-size)",
              free, processes * each, processes);
}

// Two processes that looked at one time would each take the file for used by the other.
void remove_what_killed_processes_left() {
  const descriptor folder{open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  DIR* const files =
      folder() < 0 || flock(folder(), LOCK_EX | LOCK_NB) != 0 ? nullptr : opendir("/dev/shm");
  if (files == nullptr)
    return;
  while (const dirent* const each = readdir(files)) {
    const std::string_view name = each->d_name;
    if (!name.starts_with("mpich_shar_tmp") && !name.starts_with("ucx_shm_posix_"))
      continue;
    const descriptor file{
        openat(folder(), each->d_name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    if (is_unused(file()) && unlinkat(folder(), each->d_name, 0) == 0)
      base::say("a process that was killed has left /dev/shm/%s behind, which is removed now",
                each->d_name);
  }
  closedir(files);
}

} // namespace nopal::inline NOPAL_ABI::process
