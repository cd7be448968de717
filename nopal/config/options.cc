// SPDX-License-Identifier: MIT
// The rules of the core's options.
#include "nopal/config/options.h"

#include "nopal/base/die.h"
#include "nopal/config/environment.h"
#include "nopal/config/option_rules.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <unistd.h>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config {
namespace {

bool is_budget(number bytes) noexcept { return bytes <= number{1} << 40 || bytes == unlimited; }
std::optional<number> parse_budget(std::string_view text) noexcept {
  const auto bytes = parse_bytes(text);
  return text == "unlimited" ? unlimited : bytes == unlimited ? std::nullopt : bytes;
}
std::optional<number> parse_bind(std::string_view text) noexcept {
  return parse_flag(text == "none" ? "0" : text == "cores" ? "1" : "");
}

std::string show_budget(number bytes) {
  return bytes == unlimited ? "unlimited" : show_bytes(bytes);
}
// A program may have cast any number to the type: then the number is shown.
std::string show_bind(number value) {
  return value == 0 ? "none" : value == 1 ? "cores" : show_number(value);
}

enum option {
  num_workers,
  stack_size,
  fiber_stack_size,
  fiber_guards,
  stack_budget,
  max_stacks,
  binding,
  tick,
  max_blocking,
  virtual_workers,
  races,
  stats,
  verbose,
  seed
};

// One rule for each option, in the order of `option`, which indexes it.
// clang-format off
constexpr rule rules[] = {
    {"NOPAL_NUM_WORKERS", "num_workers", "a whole number from 1 to 1024", "",
     1, most_workers, parse_decimal, show_number},
    {"NOPAL_STACK_SIZE", "stack_size", "a power of two from 64K to 32M", in_bytes,
     64 << 10, 32 << 20, parse_bytes, show_bytes, std::has_single_bit},
    {"NOPAL_FIBER_STACK_SIZE", "fiber_stack_size", "a power of two from 32K to 1M", in_bytes,
     32 << 10, 1 << 20, parse_bytes, show_bytes, std::has_single_bit},
    {"NOPAL_FIBER_GUARDS", "fiber_guards", "0 or 1", "",
     0, 1, parse_flag, show_number},
    {"NOPAL_STACK_BUDGET", "stack_budget", "unlimited or a size up to 1024G", in_bytes,
     0, unlimited, parse_budget, show_budget, is_budget},
    {"NOPAL_MAX_STACKS", "max_stacks", "a whole number from 0 to 16384, where 0 sets no bound", "",
     0, 16384, parse_decimal, show_number},
    {"NOPAL_BIND", "binding", "none or cores", "",
     0, 1, parse_bind, show_bind},
    {"NOPAL_TICK", "tick",
     "a whole number of milliseconds from 0 to 1000, where 0 preempts nothing", "",
     0, 1000, parse_decimal, show_number},
    {"NOPAL_MAX_BLOCKING", "max_blocking", "a whole number from 1 to 4096", "",
     1, 4096, parse_decimal, show_number},
    {"NOPAL_VIRTUAL_WORKERS", "virtual_workers",
     "a whole number from 0 to 64, where 0 means real ones", "", 0, 64, parse_decimal, show_number},
    {"NOPAL_RACES", "races", "0 or 1", "",
     0, 1, parse_flag, show_number},
    stats_rule, verbose_rule, seed_rule,
};
// clang-format on

template <class T> std::string explain_option(const char* what, option which, const setting<T>& s) {
  return std::string(what) + " " + rules[which].show(static_cast<number>(s.value)) + " (" + s.from +
         ")";
}

std::string explain_workers(const resolved_options& resolved) {
  const auto& [workers, from] = resolved.num_workers;
  const unsigned allowed = resolved.cpus.count;
  const std::string cpus = std::to_string(allowed) + (allowed == 1 ? " CPU" : " CPUs");
  std::string line = std::to_string(workers) + (workers == 1 ? " worker (" : " workers (") + from;
  if (!from.empty())
    line += (workers > allowed ? ", more than the " : ", of the ") + cpus + " allowed: ";
  else if (workers < allowed)
    line += "the most there can be, for " + cpus + ": ";
  return line + resolved.cpus.why + ")";
}

// Virtual workers share the program's thread, so there is no pool, and no timer to preempt them.
resolved_options on_one_thread(resolved_options all) {
  if (all.virtual_workers.value == 0)
    all.virtual_workers = {1, all.races.from};
  all.num_workers = {1, all.virtual_workers.from};
  all.tick = {0, all.virtual_workers.from};
  return all;
}

// The variables of programs on several processes (process/options.cc, mapped/start.cc). Every
// program accepts them, since such a program may run threads too.
constexpr std::string_view process_variables[] = {
    "NOPAL_PROCESSES",  "NOPAL_REGION_SIZE", "NOPAL_HEAP_SIZE",  "NOPAL_TRANSPORT",
    "NOPAL_LATENCY_US", "NOPAL_PROGRESS",    "NOPAL_INTERFACES", "NOPAL_MAPPED"};

// What build tools, package managers and modules call the folders and the version of a package:
// NOPAL_ROOT and so on. They speak to others.
constexpr std::string_view of_installations[] = {"ROOT", "DIR", "HOME", "PREFIX", "VERSION"};

bool is_known(std::string_view name) {
  return std::ranges::count(of_installations, name.substr(std::string_view{"NOPAL_"}.size())) !=
             0 ||
         std::ranges::count(rules, name, &rule::variable) != 0 ||
         std::ranges::count(process_variables, name) != 0 ||
         name == "NOPAL_ADDRESSES_FIXED" || // a process sets it before it begins anew
         name.starts_with("NOPAL_UCX_");    // UCX reads these
}

} // namespace

std::variant<resolved_options, std::string> resolve(const options& asked, const defaults& usual,
                                                    const variable_lookup& lookup,
                                                    const cpu_count& cpus,
                                                    std::uint64_t clock_seed) {
  resolver settings{lookup, "options::"};
  // Braces are evaluated in this order, so the first complaint is about the first wrong option.
  const resolved_options resolved{
      settings.decide(rules[num_workers], unless_zero(asked.num_workers),
                      std::min(cpus.count, static_cast<unsigned>(rules[num_workers].most)), ""),
      settings.decide(rules[stack_size], unless_zero(asked.stack_size), std::size_t{1} << 20),
      settings.decide(rules[fiber_stack_size], unless_zero(asked.fiber_stack_size),
                      std::size_t{256} << 10),
      settings.decide(rules[fiber_guards], asked.fiber_guards, true),
      settings.decide(rules[stack_budget], asked.stack_budget, usual.stack_budget),
      settings.decide(rules[max_stacks], asked.max_stacks, usual.max_stacks),
      settings.decide(rules[binding], asked.binding, bind::none),
      settings.decide(rules[tick], asked.tick, 10u),
      settings.decide(rules[max_blocking], unless_zero(asked.max_blocking), 256u),
      settings.decide(rules[virtual_workers], asked.virtual_workers, 0u),
      settings.decide(rules[races], asked.races, false),
      settings.decide(rules[stats], asked.stats, false),
      settings.decide(rules[verbose], asked.verbose, false),
      settings.decide(rules[seed], asked.seed, clock_seed, "from the clock"),
      cpus,
  };
  if (!settings.complaint().empty())
    return settings.complaint();
  const bool real = resolved.virtual_workers.value == 0 && !resolved.races.value;
  return real ? resolved : on_one_thread(resolved);
}

std::vector<std::string> explain(const resolved_options& resolved) {
  std::vector<std::string> lines = {
      explain_workers(resolved),
      explain_option("stack size", stack_size, resolved.stack_size),
      explain_option("fiber stack size", fiber_stack_size, resolved.fiber_stack_size),
      explain_option("stack budget", stack_budget, resolved.stack_budget),
      resolved.max_stacks.value == 0
          ? "as many stacks as there is room for"
          : explain_option("stacks at most", max_stacks, resolved.max_stacks),
      explain_option("binding", binding, resolved.binding),
      explain_option("milliseconds between ticks", tick, resolved.tick),
      explain_option("threads in nopal::blocking at most", max_blocking, resolved.max_blocking),
      explain_option("seed", seed, resolved.seed),
  };
  if (resolved.virtual_workers.value != 0)
    lines.push_back(
        explain_option("virtual workers on one thread", virtual_workers, resolved.virtual_workers));
  return lines;
}

std::vector<std::string> unknown_variables(const char* const* environment) {
  std::string known;
  for (const rule& each : rules)
    known.append(known.empty() ? "" : ", ").append(each.variable);
  for (const std::string_view each : process_variables)
    known.append(", ").append(each);
  std::vector<std::string> sentences;
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::string name(entry.substr(0, entry.find('=')));
    if (name.starts_with("NOPAL_") && !is_known(name))
      sentences.emplace_back(name)
          .append(" is not a variable that Nopal knows and has no effect; it knows ")
          .append(known);
  }
  return sentences;
}

resolved_options resolve_or_die(const options& asked, const defaults& usual) {
  const auto affinity = static_cast<unsigned>(affinity_cpus().size());
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  auto outcome =
      resolve(asked, usual, variable, available_cpus(affinity), static_cast<std::uint64_t>(now));
  if (const auto* const complaint = std::get_if<std::string>(&outcome))
    base::die("%s", complaint->c_str());
  for (const std::string& warning : unknown_variables(all_variables()))
    base::say("%s", warning.c_str());
  auto& resolved = std::get<resolved_options>(outcome);
  if (resolved.verbose.value)
    for (const std::string& line : explain(resolved))
      base::say("%s", line.c_str());
  return std::move(resolved);
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config
