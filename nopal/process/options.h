// SPDX-License-Identifier: MIT
// What can be configured of programs on several processes, by the program or the environment.
//
// The program's own options beat environment variables. A value that is not accepted is an error,
// as in config/options.h.
#pragma once

#include "nopal/config.h"
#include "nopal/config/setting.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

/// What carries data between processes (transport below).
enum class engine : unsigned char { best, ucx, ucx_messages, mpi, mpi_messages, local };
/// As the variable NOPAL_TRANSPORT has it; for all but `best`.
const char* name_of(engine carrier) noexcept;

/// What a program asks for. Zero or empty means "not given": then the variable decides, or else the
/// default.
struct NOPAL_TYPE options {
  /// NOPAL_PROCESSES, 1 to 64; default 1. How many processes the program becomes where no launcher
  /// of MPI has begun it.
  unsigned processes = 0;
  /// NOPAL_REGION_SIZE, bytes, a power of two from 64K to 1G; default 256K. Room for the stacks of
  /// all tasks that are open in one process at a time.
  std::size_t region_size = 0;
  /// NOPAL_HEAP_SIZE, bytes, a power of two from 1M to 16G; default 16M. Room for the results of
  /// tasks that have not been joined, and for the stacks of tasks that wait.
  std::size_t heap_size = 0;
  /// NOPAL_TRANSPORT, ucx, mpi or local; default the first of these that there is: what carries
  /// data between machines. On one machine the processes share memory, whatever it is; but
  /// ucx_messages and mpi_messages are ucx and mpi as between machines, also on one.
  engine transport = engine::best;
  /// NOPAL_STATS, 0 or 1; default 0. Lines of counters when the session ends.
  std::optional<bool> stats = {};
  /// NOPAL_VERBOSE, 0 or 1; default 0. A line that says what is in force.
  std::optional<bool> verbose = {};
  /// NOPAL_SEED, decimal or 0x; default from the clock. Decides from which processes thieves try to
  /// steal.
  std::optional<std::uint64_t> seed = {};
  /// NOPAL_LATENCY_US, 0 to 1000000; default 0. Each operation of the transport `local` takes so
  /// many microseconds longer, as over a network.
  std::optional<unsigned> latency_us = {};
  /// NOPAL_PROGRESS, seconds, 0 to 3600; default 0: never. After each such time process 0 prints a
  /// line of what it has done so far.
  std::optional<unsigned> progress = {};
  /// NOPAL_INTERFACES, names of interfaces and IPv4 networks, as eth1,10.0.0.0/8; default those
  /// that lead to the other machines. Where processes on several machines listen for each other.
  std::string interfaces = {};
};

/// For the session: the same options, each with its value in force, but for `transport`, which may
/// remain `best`. Or the sentence that says which value is wrong and what is accepted.
std::variant<options, std::string>
resolve(const options& asked, const config::variable_lookup& lookup, std::uint64_t clock_seed);

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
