// SPDX-License-Identifier: MIT
// The engine of processes on one machine, whoever began them: each process maps the blocks of all
// others, and does by its own instructions what it asks of them (direct.h). What it asks of a
// process on another machine goes to a second engine.
//
// A block is a memory file without a name (memfd), which its owner maps at the block's address. The
// other processes open the file by /proc/<process>/fd. So nothing is left behind, however the
// processes end, and no limit on /dev/shm counts.
//
// Two processes share memory if they see the same kernel, the same network and each other's files
// in /proc. Where they do not, as in containers apart, they count as being on two machines.
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/direct.h"
#include "nopal/process/transport/layout.h"
#include "nopal/process/transport/transport.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// The machine since it was started, and the network that this process sees of it.
struct machine_name {
  std::array<char, 40> boot{};
  std::uint64_t network = 0;

  bool operator==(const machine_name&) const = default;
};
machine_name this_machine();

// The blocks of this machine, which are mapped, by process; empty for a process on another machine.
using near_blocks = std::vector<direct_block>;
// Collective: makes the second engine. Every process calls it, even one that does not need it.
using far_engine = std::function<std::unique_ptr<far_transport>(const near_blocks& near)>;

struct sharing {
  unsigned latency_us = 0; // that each operation takes longer, as over a network
  bool apart = false;      // as if each process were on a machine of its own
};

class transport final : public far_transport {
public:
  // Collective: makes the block of this process, zeroed, at the block's address, and the way to all
  // others. Calls `connect_far` if some two processes share no memory.
  transport(group& all, const layout& memory, const sharing& mode, const far_engine& connect_far);
  ~transport() override;

  // The block of a process of this machine, from which a thief steals by itself. Empty for a
  // process elsewhere, which a thief asks for a steal.
  const direct_block& near(unsigned peer) const noexcept { return near_[peer]; }
  // The same, after the latency of an operation on another process.
  const direct_block& reach(unsigned peer) const noexcept {
    if (latency_us_ != 0 && peer != rank_) [[unlikely]]
      delay();
    return near_[peer];
  }

  void get(unsigned peer, void* to, const void* from, std::size_t bytes) override {
    if (const direct_block& block = reach(peer))
      return block.get(to, from, bytes);
    far_->get(peer, to, from, bytes);
  }
  void put(unsigned peer, void* to, const void* from, std::size_t bytes) override {
    if (const direct_block& block = reach(peer))
      return block.put(to, from, bytes);
    far_->put(peer, to, from, bytes);
  }
  std::optional<segment> request_steal(unsigned peer) override { return far_->request_steal(peer); }
  void post_store(unsigned peer, word& at, std::uint32_t value) override {
    if (const direct_block& block = near(peer))
      return block.set(at, value);
    far_->post_store(peer, at, value);
  }
  void progress() noexcept override {
    if (far_ != nullptr)
      far_->progress();
  }
  void flush() override {
    if (far_ != nullptr)
      far_->flush();
  }
  void stop_thread() noexcept override {
    if (far_ != nullptr)
      far_->stop_thread();
  }
  void close() noexcept override {
    if (far_ != nullptr)
      far_->close();
  }

private:
  void delay() const noexcept;

  // The constructor sets all; then they are constant.
  const unsigned rank_;
  const std::size_t bytes_; // of each block
  const unsigned latency_us_;
  near_blocks near_;
  std::unique_ptr<far_transport> far_; // null where all share memory
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
