// SPDX-License-Identifier: MIT
// How the blocks of a machine are made and found, and which engine each operation goes to.
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
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

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

std::uintptr_t map_or_die(void* at, std::size_t bytes, int how, int file) {
  void* const got = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | how, file, 0);
  if (got == MAP_FAILED || (at != nullptr && got != at))
    base::die("%zu bytes of shared memory could not be mapped for the processes: %s", bytes,
              std::strerror(errno));
  return reinterpret_cast<std::uintptr_t>(got);
}

// The file of a block, or -1 where it cannot be opened.
int open_block(const offer& from) {
  const std::string path =
      "/proc/" + std::to_string(from.process) + "/fd/" + std::to_string(from.file);
  struct stat found{};
  if (stat(path.c_str(), &found) != 0 || found.st_dev != from.device || found.st_ino != from.number)
    return -1;
  return open(path.c_str(), O_RDWR | O_CLOEXEC);
}

// The mapped blocks, as long as this exists.
class mapped_blocks {
public:
  mapped_blocks(group& all, std::size_t bytes, bool apart) : bytes_{bytes}, near_(all.size()) {
    const int own = make_own();
    const std::vector<offer> offers = all_offers(all, own);
    // All files exist now, since all processes have made their offers.
    for (unsigned peer = 0; peer < all.size() && !apart; ++peer)
      if (peer != all.rank() && offers[peer].machine == offers[all.rank()].machine)
        map_near(peer, offers[peer]);
    const bool lacks = std::ranges::count(near_, false, &direct_block::operator bool) > 1;
    std::vector<char> all_lack(all.size());
    const char mine = lacks ? 1 : 0;
    all.all_gather(&mine, all_lack.data(), sizeof mine);
    close(own); // all have opened it: each has come to the meeting above
    is_whole_ = std::ranges::count(all_lack, 1) == 0;
  }
  ~mapped_blocks() {
    for (const direct_block& each : near_)
      if (each)
        munmap(reinterpret_cast<void*>(each.at()), bytes_);
    munmap(reinterpret_cast<void*>(block_at), bytes_);
  }
  mapped_blocks(const mapped_blocks&) = delete;
  mapped_blocks& operator=(const mapped_blocks&) = delete;

  const near_blocks& near() const noexcept { return near_; }
  // Whether every process maps the blocks of all others. All processes have the same answer.
  bool is_whole() const noexcept { return is_whole_; }

private:
  int make_own() const {
    const int file = memfd_create("nopal", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes_)) != 0)
      base::die("%zu bytes of shared memory could not be had for the processes: %s", bytes_,
                std::strerror(errno));
    map_or_die(reinterpret_cast<void*>(block_at), bytes_, MAP_FIXED_NOREPLACE, file);
    return file;
  }

  static std::vector<offer> all_offers(group& all, int file) {
    struct stat found{};
    fstat(file, &found);
    const offer own{this_machine(), getpid(), file, found.st_dev, found.st_ino};
    std::vector<offer> offers(all.size());
    all.all_gather(&own, offers.data(), sizeof own);
    return offers;
  }

  void map_near(unsigned peer, const offer& from) {
    const int file = open_block(from);
    if (file < 0)
      return; // the second engine reaches it
    near_[peer] = direct_block{map_or_die(nullptr, bytes_, 0, file)};
    close(file);
  }

  const std::size_t bytes_;
  near_blocks near_;
  bool is_whole_ = false;
};

class shared_memory final : public transport {
public:
  shared_memory(group& all, std::size_t bytes, const sharing& how, const far_engine& connect_far)
      : blocks_{all, bytes, how.apart}, latency_us_{how.latency_us},
        far_{blocks_.is_whole() ? nullptr : connect_far(blocks_.near())} {}

  void get(unsigned peer, void* to, const void* from, std::size_t bytes) override {
    delay();
    if (const direct_block& block = near(peer))
      return block.get(to, from, bytes);
    far_->get(peer, to, from, bytes);
  }
  void put(unsigned peer, void* to, const void* from, std::size_t bytes) override {
    delay();
    if (const direct_block& block = near(peer))
      return block.put(to, from, bytes);
    far_->put(peer, to, from, bytes);
  }
  bool handles_steals(unsigned peer) const noexcept override { return !near(peer); }
  std::optional<segment> request_steal(unsigned peer) override { return far_->request_steal(peer); }
  std::uint32_t compare_swap(unsigned peer, word& at, std::uint32_t expected,
                             std::uint32_t desired) override {
    delay();
    return near(peer).compare_swap(at, expected, desired);
  }
  std::uint32_t compare_swap_and_get(unsigned peer, word& at, std::uint32_t expected,
                                     std::uint32_t desired, void* to, const void* from,
                                     std::size_t bytes) override {
    const std::uint32_t before = compare_swap(peer, at, expected, desired);
    near(peer).get(to, from, bytes); // at the same time, so it takes no latency of its own
    return before;
  }
  std::uint32_t add(unsigned peer, word& at, std::uint32_t by) override {
    delay();
    return near(peer).add(at, by);
  }
  void post_store(unsigned peer, word& at, std::uint32_t value) override {
    if (const direct_block& block = near(peer))
      return block.set(at, value);
    far_->post_store(peer, at, value);
  }
  void post_add(unsigned peer, word& at, std::uint32_t by) override {
    if (const direct_block& block = near(peer))
      block.add(at, by);
    else
      far_->post_add(peer, at, by);
  }

  void progress() noexcept override {
    if (far_ != nullptr)
      far_->progress();
  }
  void flush() override {
    if (far_ != nullptr)
      far_->flush();
  }
  void close() noexcept override {
    if (far_ != nullptr)
      far_->close();
  }

private:
  const direct_block& near(unsigned peer) const noexcept { return blocks_.near()[peer]; }
  void delay() const noexcept {
    if (latency_us_ == 0) [[likely]]
      return;
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(latency_us_);
    while (std::chrono::steady_clock::now() < until)
      base::give_way();
  }

  const mapped_blocks blocks_; // outlives the second engine, which names the memory to its adapters
  const unsigned latency_us_;
  const std::unique_ptr<far_transport> far_; // null where all share memory
};

} // namespace

machine_name this_machine() {
  machine_name found;
  const std::string boot = config::read_file("/proc/sys/kernel/random/boot_id").text;
  boot.copy(found.boot.data(), found.boot.size());
  struct stat network{};
  if (stat("/proc/self/ns/net", &network) == 0)
    found.network = network.st_ino;
  return found;
}

std::unique_ptr<transport> connect_by_shared_memory(group& all, const layout& memory,
                                                    const sharing& how,
                                                    const far_engine& connect_far) {
  return std::make_unique<shared_memory>(all, memory.size(), how, connect_far);
}

} // namespace nopal::inline NOPAL_ABI::process
