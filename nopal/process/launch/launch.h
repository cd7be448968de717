// SPDX-License-Identifier: MIT
// The seam to what begins the processes of a program: a launcher of MPI, or the program itself,
// which forks them.
#pragma once

#include "nopal/config.h"
#include "nopal/process/options.h"
#include "nopal/process/transport/layout.h"
#include "nopal/process/transport/shared_memory.h"

#include <memory>
#include <unistd.h>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

class launch : public group {
public:
  // The engine that carries data, as the option `transport` calls it.
  const char* engine_name() const noexcept { return name_of(carrier_); }

  // Collective: makes the block, zeroed, at its address in each process, and the way to the others.
  virtual std::unique_ptr<transport> connect(const layout& memory) = 0;

  // Called when the session of this process has ended as it should. Ends the program with a
  // sentence if another process that this one has begun does not end as it should.
  virtual void finish() noexcept = 0;

  // Called in a process that the program has forked from this one. It keeps no connection open by
  // which others would notice that this one dies.
  void leave_in_child() noexcept {
    for (const int each : watched_)
      close(each);
    watched_.clear();
  }

protected:
  explicit launch(engine carrier) noexcept : carrier_{carrier} {}

  const engine carrier_;
  std::vector<int> watched_; // descriptors that tell of the life of this process or of others
};

// Begins the launch that options and the environment ask for. A program is linked with one of its
// two forms: mpi_launch.cc or local_only.cc.
std::unique_ptr<launch> begin_launch(const options& settings);
// Forks the processes from the caller, which has no other threads (local.cc).
std::unique_ptr<launch> fork_processes(const options& settings);

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
