// SPDX-License-Identifier: MIT
// Measures one experiment: reads the options, times it, checks it, prints a JSON line.
#include "bench/harness.h"

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace bench {
namespace {

constexpr unsigned workers_max = 1024;

struct arguments {
  std::string size_name = "test";
  input in;
  unsigned workers = 1;
};

const std::map<std::string, size> sizes{
    {"test", size::test}, {"quick", size::quick}, {"paper", size::paper}};

arguments parse(const program& what, int argc, char** argv) {
  arguments a;
  CLI::App app{std::string(what.problem) + " on " + std::string(what.runtime)};
  CLI::Option* const size_option =
      app.add_option("--size", a.size_name, "input size: test, quick or paper");
  size_option->capture_default_str();
  app.add_option("--workers", a.workers, "number of workers")->capture_default_str();
  if (what.any_n)
    app.add_option("--n", a.in.n, "the input itself, instead of that of the size");
  if (what.any_file)
    app.add_option("--input", a.in.file, "a file to read the input from")->excludes(size_option);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    std::exit(app.exit(help));
  } catch (const CLI::ParseError& e) {
    throw std::invalid_argument(std::string(e.what()) +
                                "; accepted are --size test|quick|paper and --workers N" +
                                (what.any_n ? " and --n N" : "") +
                                (what.any_file ? ", or --input FILE in place of --size" : ""));
  }
  const auto found = sizes.find(a.size_name);
  if (found == sizes.end()) {
    throw std::invalid_argument("--size " + a.size_name +
                                " is not known; accepted are test, quick and paper");
  }
  a.in.chosen = found->second;
  if (a.in.n && *a.in.n < 1)
    throw std::invalid_argument("--n " + std::to_string(*a.in.n) +
                                " is out of range; accepted are numbers from 1");
  const unsigned most = what.parallel ? workers_max : 1;
  if (a.workers < 1 || a.workers > most) {
    throw std::invalid_argument("--workers " + std::to_string(a.workers) +
                                " is out of range; accepted are 1 to " + std::to_string(most));
  }
  return a;
}

// VmRSS or VmHWM, its peak. getrusage's ru_maxrss would be inherited from the process that launched
// the program; VmHWM is not.
std::uint64_t rss_kib(std::string_view which) {
  std::ifstream status("/proc/self/status");
  std::string key;
  while (status >> key) {
    if (key == which) {
      std::uint64_t kib = 0;
      if (status >> kib)
        return kib;
      break;
    }
    std::getline(status, key);
  }
  throw std::runtime_error("/proc/self/status has no line " + std::string(which) +
                           ", so memory use is unknown");
}

std::int64_t minor_faults() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0)
    throw std::runtime_error("getrusage failed");
  return usage.ru_minflt;
}

nlohmann::ordered_json figure(const std::optional<std::uint64_t>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json difference(const std::optional<std::uint64_t>& after,
                                  const std::optional<std::uint64_t>& before) {
  if (!after || !before)
    return nullptr;
  return *after - *before;
}

// Prints the line; returns whether the result verified.
bool measure(const program& what, const arguments& a) {
  using clock = std::chrono::steady_clock;
  const auto subject = what.make(a.in, a.workers);
  subject->prepare();
  subject->warm_up();

  const std::uint64_t rss_before = rss_kib("VmRSS:");
  const counters before = subject->read_counters();
  const std::int64_t faults_before = minor_faults();
  const auto begin = clock::now();
  subject->compute();
  const auto end = clock::now();
  const std::int64_t faults = minor_faults() - faults_before;
  const counters after = subject->read_counters();
  // Read before verification, which may use memory of its own.
  const std::uint64_t rss = rss_kib("VmHWM:");

  nlohmann::ordered_json line;
  line["problem"] = what.problem;
  line["runtime"] = what.runtime;
  line["workers"] = a.workers;
  line["size"] = a.in.file ? "input" : a.size_name;
  line["n"] = subject->n();
  line["time_s"] = subject->took_s().value_or(std::chrono::duration<double>(end - begin).count());
  line["verified"] = subject->verify();
  line["forks"] = subject->forks();
  line["max_rss_kib"] = rss;
  line["minor_faults"] = faults;
  line["steals"] = difference(after.steals, before.steals);
  line["suspensions"] = difference(after.suspensions, before.suspensions);
  line["unmaps"] = difference(after.unmaps, before.unmaps);
  line["stacks"] = figure(after.stacks);
  line["stack_pages"] = figure(after.stack_pages);
  line["page_counts"] = difference(after.page_counts, before.page_counts);
  line["live_pages"] = figure(after.live_pages);
  line["dead_pages"] = figure(after.dead_pages);
  line["rss_before_kib"] = rss_before;
  line["depth"] = figure(after.depth);
  line["serial_pages"] = figure(after.serial_pages);
  const std::map<std::string, double> metrics = subject->metrics();
  line["told"] =
      metrics.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(metrics);
  if (subject->speaks())
    std::cout << line.dump() << std::endl;
  return line["verified"].get<bool>();
}

} // namespace

int run_program(const program& what, int argc, char** argv) {
  const std::string name = std::string(what.problem) + "-" + std::string(what.runtime);
  try {
    return measure(what, parse(what, argc, argv)) ? 0 : 1;
  } catch (const std::invalid_argument& e) {
    std::cerr << name << ": " << e.what() << "\n";
    return 2;
  } catch (const std::exception& e) {
    std::cerr << name << ": " << e.what() << "\n";
    return 1;
  }
}

} // namespace bench
