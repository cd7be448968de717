// SPDX-License-Identifier: MIT
// Processes that are forked from one, and reach each other by shared memory: for tests, and for a
// program that no launcher has begun.
//
// One memory file holds all blocks. Each process maps its own block at the block's address, and all
// blocks once more, one after the other, to reach those of others. The file has no name, so nothing
// is left behind however the processes end.
#include "nopal/base/die.h"
#include "nopal/base/os.h"
#include "nopal/config.h"
#include "nopal/process/launch/launch.h"
#include "nopal/process/launch/watch.h"
#include "nopal/process/transport/direct.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nopal::inline NOPAL_ABI::process {
namespace {

constexpr unsigned most_local = 64;
constexpr std::size_t most_gathered = 1024;

// What the processes share from the beginning.
struct common {
  word arrived{0};
  word gone[most_local]{}; // each sets its own when it ends as it should
  pid_t pids[most_local] = {};
  unsigned char given[most_local][most_gathered] = {};
};

void* map_or_die(void* at, std::size_t bytes, int how, int file, off_t from) {
  void* const got = mmap(at, bytes, PROT_READ | PROT_WRITE, how, file, from);
  if (got == MAP_FAILED || (at != nullptr && got != at))
    base::die("%zu bytes of shared memory could not be mapped for the processes: %s", bytes,
              std::strerror(errno));
  return got;
}

class local_transport final : public transport {
public:
  local_transport(std::uintptr_t blocks, std::size_t block_size, unsigned latency_us) noexcept
      : blocks_{blocks}, block_size_{block_size}, latency_us_{latency_us} {}

  const char* name() const noexcept override { return "local"; }

  void get(unsigned peer, void* to, const void* from, std::size_t bytes) override {
    delay();
    of(peer).get(to, from, bytes);
  }
  void put(unsigned peer, void* to, const void* from, std::size_t bytes) override {
    delay();
    of(peer).put(to, from, bytes);
  }
  std::uint32_t compare_swap(unsigned peer, word& at, std::uint32_t expected,
                             std::uint32_t desired) override {
    delay();
    return of(peer).compare_swap(at, expected, desired);
  }
  std::uint32_t add(unsigned peer, word& at, std::uint32_t by) override {
    delay();
    return of(peer).add(at, by);
  }
  std::uint32_t compare_swap_and_get(unsigned peer, word& at, std::uint32_t expected,
                                     std::uint32_t desired, void* to, const void* from,
                                     std::size_t bytes) override {
    const std::uint32_t before = compare_swap(peer, at, expected, desired);
    of(peer).get(to, from, bytes);
    return before;
  }
  void post_store(unsigned peer, word& at, std::uint32_t value) override {
    of(peer).set(at, value);
  }
  void post_add(unsigned peer, word& at, std::uint32_t by) override { of(peer).add(at, by); }

private:
  direct_block of(unsigned peer) const noexcept {
    return direct_block{blocks_ + peer * block_size_};
  }
  void delay() const noexcept {
    if (latency_us_ == 0)
      return;
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(latency_us_);
    while (std::chrono::steady_clock::now() < until)
      base::give_way();
  }

  const std::uintptr_t blocks_;
  const std::size_t block_size_;
  const unsigned latency_us_;
};

class local_launch final : public launch {
public:
  explicit local_launch(const resolved_options& options)
      : size_{options.processes}, latency_us_{options.latency_us} {
    shared_ = std::construct_at(static_cast<common*>(
        map_or_die(nullptr, sizeof(common), MAP_SHARED | MAP_ANONYMOUS, -1, 0)));
    file_ = memfd_create("nopal", MFD_CLOEXEC);
    if (file_ < 0)
      base::die("no memory file could be made for the processes: %s", std::strerror(errno));
    shared_->pids[0] = getpid();
    std::fflush(nullptr); // or each would write what the streams hold
    for (unsigned rank = 1; rank < size_; ++rank) {
      const pid_t child = fork();
      if (child < 0)
        base::die("process %u of %u could not be begun: %s", rank, size_, std::strerror(errno));
      if (child == 0) {
        rank_ = rank;
        shared_->pids[rank] = getpid();
        break;
      }
    }
  }

  unsigned rank() const noexcept override { return rank_; }
  unsigned size() const noexcept override { return size_; }

  void all_gather(const void* own, void* all, std::size_t bytes) override {
    for (std::size_t done = 0; done < bytes || bytes == 0; done += most_gathered) {
      const std::size_t part = std::min(bytes - done, most_gathered);
      std::memcpy(shared_->given[rank_], static_cast<const char*>(own) + done, part);
      meet();
      for (unsigned i = 0; i < size_; ++i)
        std::memcpy(static_cast<char*>(all) + i * bytes + done, shared_->given[i], part);
      meet();
      if (bytes == 0)
        return;
    }
  }

  std::unique_ptr<transport> connect(const layout& as) override {
    const std::size_t block = as.size();
    if (rank_ == 0 && ftruncate(file_, static_cast<off_t>(block * size_)) != 0)
      base::die("%zu bytes of shared memory could not be had for the processes: %s", block * size_,
                std::strerror(errno));
    meet();
    map_or_die(reinterpret_cast<void*>(block_at), block, MAP_SHARED | MAP_FIXED_NOREPLACE, file_,
               static_cast<off_t>(block * rank_));
    all_ = map_or_die(nullptr, block * size_, MAP_SHARED, file_, 0);
    block_size_ = block;
    close(file_);
    watch_others();
    meet();
    return std::make_unique<local_transport>(reinterpret_cast<std::uintptr_t>(all_), block,
                                             latency_us_);
  }

  int finish() noexcept override {
    shared_->gone[rank_].store(1, base::release);
    watch_.stop();
    int worst = 0;
    for (unsigned i = 1; rank_ == 0 && i < size_; ++i) {
      int status = 0;
      waitpid(shared_->pids[i], &status, 0);
      worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : base::exit_status_died);
    }
    munmap(reinterpret_cast<void*>(block_at), block_size_); // room for another session's
    munmap(all_, block_size_ * size_);
    munmap(shared_, sizeof(common));
    return worst;
  }

private:
  void meet() noexcept {
    const std::uint32_t turn = shared_->arrived.fetch_add(1, base::acq_rel) / size_;
    for (unsigned tries = 1; shared_->arrived.load(base::acquire) / size_ == turn; ++tries)
      base::wait_briefly(tries);
  }

  void watch_others() {
    std::vector<watch::watched> all;
    for (unsigned i = 0; i < size_; ++i) {
      if (i == rank_)
        continue;
      const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, shared_->pids[i], 0));
      if (descriptor < 0)
        base::die("process %u has died before the computation has begun", i);
      all.push_back({descriptor, "process " + std::to_string(i), [this, i] {
                       return shared_->gone[i].load(base::acquire) != 0 ? watch::sign::ended_well
                                                                        : watch::sign::dead;
                     }});
    }
    watch_.start(std::move(all));
  }

  const unsigned size_;
  const unsigned latency_us_;
  unsigned rank_ = 0;
  common* shared_ = nullptr;
  int file_ = -1;
  void* all_ = nullptr; // the blocks of all processes
  std::size_t block_size_ = 0;
  watch watch_;
};

} // namespace

std::unique_ptr<launch> fork_processes(const resolved_options& options) {
  return std::make_unique<local_launch>(options);
}

} // namespace nopal::inline NOPAL_ABI::process
