// SPDX-License-Identifier: MIT
// How the blocks of a machine are made and found.
#include "nopal/process/transport/shared_memory.h"

#include "nopal/base/die.h"
#include "nopal/base/os.h"
#include "nopal/config/environment.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

// By what another process of this machine opens the block of this one. `device` and `number` tell
// the file from others: in another container the process's number may be that of a stranger.
struct offer {
  machine_name machine;
  pid_t process = 0;
  int file = -1;
  dev_t device = 0;
  ino_t number = 0;
};

std::uintptr_t map_or_die(void* at, std::size_t bytes, int flags, int file) {
  void* const got = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, file, 0);
  if (got == MAP_FAILED || (at != nullptr && got != at))
    base::die("%zu bytes of shared memory could not be mapped for the processes: %s", bytes,
              std::strerror(errno));
  madvise(got, bytes, MADV_DONTFORK); // see run/forked.h
  return reinterpret_cast<std::uintptr_t>(got);
}

// The file of a block, or -1 where it cannot be opened.
int open_block(const offer& from) {
  const std::string path =
      "/proc/" + std::to_string(from.process) + "/fd/" + std::to_string(from.file);
  struct stat found{};
  if (stat(path.c_str(), &found) != 0 || found.st_dev != from.device || found.st_ino != from.number)
    return -1;
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0 && (errno == EMFILE || errno == ENFILE))
    base::die("the memory of process %d cannot be opened: %s; raise the limit (ulimit -n)",
              from.process, std::strerror(errno));
  return file;
}

// Makes the file of this process's block, maps it, and says how others open it.
offer make_own_block(std::size_t bytes) {
  const int file = memfd_create("nopal", MFD_CLOEXEC);
  rlimit most{}; // beyond which the system would end the process by a signal
  const bool allowed = getrlimit(RLIMIT_FSIZE, &most) != 0 || bytes <= most.rlim_cur;
  if (!allowed)
    errno = EFBIG;
  if (file < 0 || !allowed || ftruncate(file, static_cast<off_t>(bytes)) != 0)
    base::die("%zu bytes of shared memory could not be had for the processes: %s", bytes,
              std::strerror(errno));
  map_or_die(reinterpret_cast<void*>(block_at), bytes, MAP_FIXED_NOREPLACE, file);
  struct stat found{};
  fstat(file, &found);
  return {this_machine(), getpid(), file, found.st_dev, found.st_ino};
}

// The block of another process of this machine; none if its file cannot be opened.
direct_block map_near(const offer& from, std::size_t bytes) {
  const int file = open_block(from);
  if (file < 0)
    return {};
  const direct_block block{map_or_die(nullptr, bytes, 0, file)};
  close(file);
  return block;
}

} // namespace

transport::transport(group& all, const layout& memory, const sharing& mode,
                     const far_engine& connect_far)
    : rank_{all.rank()}, bytes_{memory.size()}, latency_us_{mode.latency_us}, near_(all.size()) {
  const offer own = make_own_block(bytes_);
  std::vector<offer> offers(all.size());
  all.all_gather(&own, offers.data(), sizeof own);
  // All files exist now, since all processes have made their offers.
  for (unsigned peer = 0; peer < all.size() && !mode.apart; ++peer)
    if (peer != rank_ && offers[peer].machine == own.machine)
      near_[peer] = map_near(offers[peer], bytes_);
  near_[rank_] = direct_block{block_at};
  const char lacks = std::ranges::count(near_, false, &direct_block::operator bool) != 0 ? 1 : 0;
  std::vector<char> all_lack(all.size());
  all.all_gather(&lacks, all_lack.data(), sizeof lacks);
  ::close(own.file); // all have opened it: each has come to the meeting above
  if (std::ranges::count(all_lack, 1) != 0) // the same answer in every process
    far_ = connect_far(near_);
}

transport::~transport() {
  far_.reset(); // before the memory, which it has named to its adapters
  for (const direct_block& each : near_)
    if (each)
      munmap(reinterpret_cast<void*>(each.at()), bytes_);
}

void transport::delay() const noexcept {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(latency_us_);
  while (std::chrono::steady_clock::now() < until)
    base::give_way();
}

machine_name this_machine() {
  machine_name found;
  const std::string boot = config::read_file("/proc/sys/kernel/random/boot_id").text;
  boot.copy(found.boot.data(), found.boot.size());
  struct stat network{};
  if (stat("/proc/self/ns/net", &network) == 0)
    found.network = network.st_ino;
  return found;
}

} // namespace nopal::inline NOPAL_ABI::process
