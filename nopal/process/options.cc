// SPDX-License-Identifier: MIT
// The rules of these options, which the resolver of all options applies (config/option_rules.h).
#include "nopal/process/options.h"

#include "nopal/config/option_rules.h"
#include "nopal/process/launch/interfaces.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace nopal::inline NOPAL_ABI::process {
namespace {

using namespace config; // the rules below

// In the order of `engine`, whose first value, `best`, has no name.
constexpr const char* engine_names[] = {"ucx", "ucx_messages", "mpi", "mpi_messages", "local"};

std::optional<number> parse_engine(std::string_view text) noexcept {
  const auto* const found = std::ranges::find(
      engine_names, text, [](const char* name) { return std::string_view(name); });
  return found == std::end(engine_names) ? std::nullopt
                                         : std::optional<number>(found - engine_names + 1);
}

// clang-format off
constexpr rule processes{"NOPAL_PROCESSES", "processes", "a whole number from 1 to 64", "",
    1, 64, parse_decimal, show_number};
constexpr rule region_size{"NOPAL_REGION_SIZE", "region_size",
    "a power of two from 64K to 1G", config::in_bytes,
    number{64} << 10, number{1} << 30, parse_bytes, show_bytes, std::has_single_bit};
constexpr rule heap_size{"NOPAL_HEAP_SIZE", "heap_size",
    "a power of two from 1M to 16G", config::in_bytes,
    number{1} << 20, number{16} << 30, parse_bytes, show_bytes, std::has_single_bit};
constexpr rule transport{"NOPAL_TRANSPORT", "transport",
    "ucx, ucx_messages, mpi, mpi_messages or local", "",
    1, std::size(engine_names), parse_engine, show_number};
constexpr rule latency{"NOPAL_LATENCY_US", "latency_us",
    "a whole number of microseconds from 0 to 1000000", "",
    0, 1'000'000, parse_decimal, show_number};
constexpr rule progress{"NOPAL_PROGRESS", "progress",
    "a whole number of seconds from 0 to 3600", "",
    0, 3600, parse_decimal, show_number};
// clang-format on

// No rule, since its value is no number. Returns the complaint about a value that is a wrong list.
std::string complain_of_interfaces(const std::string& of_program, const char* of_variable) {
  const bool wrong = of_variable != nullptr && !is_list_of_interfaces(of_variable);
  if (!wrong && (of_program.empty() || is_list_of_interfaces(of_program)))
    return {};
  return std::string(wrong ? "NOPAL_INTERFACES" : "process::options::interfaces") + " is \"" +
         (wrong ? of_variable : of_program) +
         "\", but it must be names of interfaces and IPv4 networks, separated by commas, as "
         "eth1,10.0.0.0/8";
}

} // namespace

const char* name_of(engine carrier) noexcept {
  return engine_names[static_cast<unsigned>(carrier) - 1];
}

std::variant<options, std::string>
resolve(const options& asked, const config::variable_lookup& lookup, std::uint64_t clock_seed) {
  config::resolver by{lookup, "process::options::"};
  const char* const interfaces = lookup("NOPAL_INTERFACES");
  // Braces: evaluated in this order, so the first complaint is that of the first option.
  const options all{
      by.decide(processes, unless_zero(asked.processes), 1u).value,
      by.decide(region_size, unless_zero(asked.region_size), std::size_t{256} << 10).value,
      by.decide(heap_size, unless_zero(asked.heap_size), std::size_t{16} << 20).value,
      static_cast<engine>(
          by.decide(transport, unless_zero(number(asked.transport)), number{0}).value),
      by.decide(config::stats_rule, asked.stats, false).value,
      by.decide(config::verbose_rule, asked.verbose, false).value,
      by.decide(config::seed_rule, asked.seed, clock_seed).value,
      by.decide(latency, asked.latency_us, 0u).value,
      by.decide(progress, asked.progress, 0u).value,
      asked.interfaces.empty() && interfaces != nullptr ? interfaces : asked.interfaces,
  };
  if (!by.complaint().empty())
    return by.complaint();
  if (std::string complaint = complain_of_interfaces(asked.interfaces, interfaces);
      !complaint.empty())
    return complaint;
  return all;
}

} // namespace nopal::inline NOPAL_ABI::process
