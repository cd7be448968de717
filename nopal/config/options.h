// SPDX-License-Identifier: MIT
// What can be configured, and how program, environment and machine decide it together.
//
// The program's own options beat environment variables, which beat what the machine suggests. A
// value that is not accepted, wherever it comes from and even where a stronger one hides it, is an
// error: never a silent default.
#pragma once

#include "nopal/config.h"
#include "nopal/config/cpus.h"
#include "nopal/config/setting.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config {

inline constexpr unsigned most_workers = 1024;

// The stack budget with which unused pages are kept, however many there are, and not counted.
inline constexpr std::size_t unlimited = ~std::size_t{0};

// The defaults that differ between Nopal and its baselines (config.h).
struct defaults {
  std::size_t stack_budget;
  unsigned max_stacks;
};

// How workers are bound: not at all, or each to a CPU, physical cores first. Spares never are.
enum class bind : unsigned char { none, cores };

// What a program asks for. Zero or empty means "not given": then the environment decides, or else
// the default.
struct NOPAL_TYPE options {
  unsigned num_workers = 0;   // NOPAL_NUM_WORKERS, 1 to 1024; default: the CPUs allowed
  std::size_t stack_size = 0; // NOPAL_STACK_SIZE, bytes, a power of two, 64K to 32M; default 1M
  // NOPAL_FIBER_STACK_SIZE, bytes, a power of two, 32K to 1M; default 256K. The stack of a spawned
  // fiber. A strand that is stolen from a fiber runs on a stack of stack_size.
  std::size_t fiber_stack_size = 0;
  // NOPAL_FIBER_GUARDS, 0 or 1; default 1. Guards below the stacks of fibers: half of stack_size
  // each, so that no frame that forks leaps over one, and at least 512K where addresses are not
  // limited. With 0 nothing notices a fiber that outgrows its stack. Where the kernel makes no
  // guard regions (before Linux 6.13, or in locked memory), about 29700 fibers can have begun.
  std::optional<bool> fiber_guards = {};
  // NOPAL_STACK_BUDGET, bytes up to 1024G, or unlimited; default 64M. The most memory that pages
  // without frames take, of stacks on which no strand runs. With 0 they go back to the kernel each
  // time that a strand leaves a stack.
  std::optional<std::size_t> stack_budget = {};
  // NOPAL_MAX_STACKS, 0 to 16384; default 0. A thief makes a new stack only while there are fewer
  // than this, and otherwise waits for one. With 0 only addresses and mappings bound the stacks.
  std::optional<unsigned> max_stacks = {};
  std::optional<bind> binding = {}; // NOPAL_BIND, none or cores; default none
  // NOPAL_TICK, milliseconds from 0 to 1000; default 10. After so long a strand that forks or polls
  // gives way to others that are ready; with 0 no strand has to.
  std::optional<unsigned> tick = {};
  // NOPAL_MAX_BLOCKING, 1 to 4096; default 256. The most strands that are in nopal::blocking at a
  // time, each with a thread; further ones wait, in the order in which they came.
  unsigned max_blocking = 0;
  // NOPAL_VIRTUAL_WORKERS, 0 to 64; default 0. Not 0: one thread stands for so many workers, and
  // the seed decides at each fork, poll and wait which of them goes on. The same program with the
  // same seed and input then runs in the same order.
  std::optional<unsigned> virtual_workers = {};
  // NOPAL_RACES, 0 or 1; default 0. With 1 the order of virtual workers, of which there is at least
  // one, orders nothing for ThreadSanitizer: it reports the races of all schedules. A program that
  // is not linked with it ends with a message.
  std::optional<bool> races = {};
  std::optional<bool> stats = {};         // NOPAL_STATS, 0 or 1; default 0
  std::optional<bool> verbose = {};       // NOPAL_VERBOSE, 0 or 1; default 0
  std::optional<std::uint64_t> seed = {}; // NOPAL_SEED, decimal or 0x; default: from the clock
  // Each of the pool's threads calls the first before its first strand, and the second after its
  // last one, if the pool ends (nopal::stop_workers). They neither fork nor throw, and may run on
  // several threads at a time. Threads of the program's own do not call them.
  std::function<void()> on_worker_start = {};
  std::function<void()> on_worker_end = {};
};

// Options in force: each value is one that its rule accepts.
struct resolved_options {
  setting<unsigned> num_workers;
  setting<std::size_t> stack_size;
  setting<std::size_t> fiber_stack_size;
  setting<bool> fiber_guards;
  setting<std::size_t> stack_budget;
  setting<unsigned> max_stacks;
  setting<bind> binding;
  setting<unsigned> tick; // milliseconds
  setting<unsigned> max_blocking;
  setting<unsigned> virtual_workers;
  setting<bool> races;
  setting<bool> stats;
  setting<bool> verbose;
  setting<std::uint64_t> seed;
  cpu_count cpus;
};

// The options, or the sentence that says which value is wrong and what is accepted. Depends on its
// arguments only. `asked` is what the program asked for; `usual` are the defaults of the parts that
// were compiled in (config.h).
std::variant<resolved_options, std::string> resolve(const options& asked, const defaults& usual,
                                                    const variable_lookup& lookup,
                                                    const cpu_count& cpus,
                                                    std::uint64_t clock_seed);

// A line for each option but flags, with its value and its source, as NOPAL_VERBOSE=1 prints them.
std::vector<std::string> explain(const resolved_options& resolved);

// A sentence for each variable of `environment` (as in environ: "NAME=value", null at the end)
// whose name begins with NOPAL_ and is unknown: otherwise nobody would notice a misspelt name.
std::vector<std::string> unknown_variables(const char* const* environment);

// Resolves with the real environment and machine. A value that is not accepted ends the program.
// Prints a warning for each unknown variable and, if verbose, the lines of explain(). Precondition:
// no other thread changes the environment meanwhile (setenv).
resolved_options resolve_or_die(const options& asked, const defaults& usual);

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config
NOPAL_HIDDEN_END
