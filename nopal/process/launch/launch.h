// SPDX-License-Identifier: MIT
// How the processes of a program come to know each other: begun by a launcher of MPI, or forked
// from one.
#pragma once

#include "nopal/config.h"
#include "nopal/process/options.h"
#include "nopal/process/transport/group.h"
#include "nopal/process/transport/layout.h"
#include "nopal/process/transport/transport.h"

#include <memory>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

class launch : public group {
public:
  // Of what carries data, as the option `transport` calls it.
  virtual const char* engine_name() const noexcept = 0;

  // Collective: makes the block, zeroed, at its address in each process, and the way to the others.
  virtual std::unique_ptr<transport> connect(const layout& as) = 0;

  // The process has come to its end as it should; returns what it exits with if others have not.
  virtual int finish() noexcept = 0;
};

// Of this program, as options and the environment say; argv is main's.
std::unique_ptr<launch> begin_launch(const resolved_options& options, char** argv);
// Processes forked from the caller, which has no other threads (local.cc).
std::unique_ptr<launch> fork_processes(const resolved_options& options);

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
