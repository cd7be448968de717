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
#include <cstdint>
#include <functional>
#include <memory>
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

// The blocks that are mapped, by process. The caller's own, and those on other machines, are not.
using near_blocks = std::vector<direct_block>;
// Collective: makes the second engine. Every process calls it, even one that does not need it.
using far_engine = std::function<std::unique_ptr<far_transport>(const near_blocks& near)>;

struct sharing {
  unsigned latency_us = 0; // that each operation takes longer, as over a network
  bool apart = false;      // as if each process were on a machine of its own
};

// Collective: makes the block of this process, zeroed, at the block's address, and the way to all
// others. Calls `connect_far` if some two processes share no memory.
std::unique_ptr<transport> connect_by_shared_memory(group& all, const layout& memory,
                                                    const sharing& how,
                                                    const far_engine& connect_far);

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
