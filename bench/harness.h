// SPDX-License-Identifier: MIT
// The harness of every benchmark program reads options, measures one run and prints a JSON line.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

// `test` takes milliseconds, `quick` about a second on one core, `paper` is what the papers ran.
enum class size { test, quick, paper };

struct input {
  size chosen = size::test;
  std::optional<long> n = {};           // instead of the size's own
  std::optional<std::string> file = {}; // read instead of the input of a size
};

// What a runtime can tell of itself; empty where it has no such figure. Events are counted since
// the program began, pages and stacks are the most so far, the last two tell of the last run.
struct counters {
  std::optional<std::uint64_t> steals = {};
  std::optional<std::uint64_t> suspensions = {};
  std::optional<std::uint64_t> unmaps = {};
  std::optional<std::uint64_t> stacks = {};
  std::optional<std::uint64_t> stack_pages = {};
  std::optional<std::uint64_t> page_counts = {}; // calls that counted a stack's dead pages
  // With BENCH_CENSUS=1, else 0: the most pages of stacks on which no thread runs, of pages with
  // frames and of pages without.
  std::optional<std::uint64_t> live_pages = {};
  std::optional<std::uint64_t> dead_pages = {};
  std::optional<std::uint64_t> depth = {};        // forking frames on the longest path
  std::optional<std::uint64_t> serial_pages = {}; // pages of stack that a serial run touches
};

// One problem of one size on one runtime. The harness calls prepare, warm_up, compute, verify in
// this order, each once; compute alone is timed.
class experiment {
public:
  virtual ~experiment() = default;

  virtual long n() const = 0;
  // Forks that one compute() executes.
  virtual std::uint64_t forks() const = 0;
  virtual void prepare() = 0;
  virtual void warm_up() = 0;
  virtual void compute() = 0;
  virtual bool verify() = 0;
  virtual counters read_counters() const = 0;
  // The seconds that compute took, where the experiment measures them itself.
  virtual std::optional<double> took_s() const { return {}; }
  // Numbers that only this problem, or this runtime, knows of its run, by their names.
  virtual std::map<std::string, double> metrics() const { return {}; }
  // Whether this process prints the line; of several that run one program, one does.
  virtual bool speaks() const { return true; }
};

struct program {
  std::string_view problem;
  std::string_view runtime;
  bool parallel;
  // Whether --n may choose the input instead of the size's own.
  bool any_n;
  // Whether --input may name a file to read.
  bool any_file;
  std::function<std::unique_ptr<experiment>(const input&, unsigned workers)> make;
};

// The whole of main(): exit status 0 when the result verified, 1 when not, 2 for bad options.
int run_program(const program& what, int argc, char** argv);

} // namespace bench
