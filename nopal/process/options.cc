// SPDX-License-Identifier: MIT
// One rule per option.
#include "nopal/process/options.h"

#include "nopal/config/environment.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace nopal::inline NOPAL_ABI::process {
namespace {

using number = std::uint64_t;

struct rule {
  const char* variable;
  const char* member;
  const char* accepted;
  number least;
  number most;
  std::optional<number> (*parse)(std::string_view text) noexcept;
  bool power_of_two = false;

  bool valid(number value) const {
    return value >= least && value <= most && (!power_of_two || std::has_single_bit(value));
  }
};

std::optional<number> parse_flag(std::string_view text) noexcept {
  return text.size() == 1 ? config::parse_decimal(text) : std::nullopt;
}
std::optional<number> parse_engine(std::string_view text) noexcept {
  constexpr std::string_view names[] = {"ucx", "mpi", "mpi_messages", "local"}; // from engine::ucx
  const auto* const found = std::ranges::find(names, text);
  return found == std::end(names) ? std::nullopt : std::optional<number>(found - names + 1);
}

constexpr rule processes{"NOPAL_PROCESSES",    "processes", "a whole number from 1 to 64", 1, 64,
                         config::parse_decimal};
constexpr rule region_size{"NOPAL_REGION_SIZE",
                           "region_size",
                           "a power of two from 64K to 1G, in bytes or with a suffix K, M or G",
                           number{64} << 10,
                           number{1} << 30,
                           config::parse_bytes,
                           true};
constexpr rule heap_size{"NOPAL_HEAP_SIZE",
                         "heap_size",
                         "a power of two from 1M to 16G, in bytes or with a suffix K, M or G",
                         number{1} << 20,
                         number{16} << 30,
                         config::parse_bytes,
                         true};
constexpr rule transport{"NOPAL_TRANSPORT", "transport", "ucx, mpi, mpi_messages or local", 1, 4,
                         parse_engine};
constexpr rule stats{"NOPAL_STATS", "stats", "0 or 1", 0, 1, parse_flag};
constexpr rule verbose{"NOPAL_VERBOSE", "verbose", "0 or 1", 0, 1, parse_flag};
constexpr rule seed{"NOPAL_SEED",
                    "seed",
                    "an unsigned number of 64 bits, decimal or hexadecimal after 0x",
                    0,
                    ~number{0},
                    config::parse_decimal_or_hex};
constexpr rule latency{
    "NOPAL_LATENCY_US", "latency_us",         "a whole number of microseconds from 0 to 1000000", 0,
    1'000'000,          config::parse_decimal};
constexpr rule progress{
    "NOPAL_PROGRESS",     "progress", "a whole number of seconds from 0 to 3600", 0, 3600,
    config::parse_decimal};

struct resolver {
  const char* (*lookup)(const char*);
  std::string complaint = {};

  number decide(const rule& by, std::optional<number> asked, number fallback) {
    const char* const text = lookup(by.variable);
    std::optional<number> found;
    if (text != nullptr) {
      found = by.parse(text);
      if (!found || !by.valid(*found))
        complain(std::string(by.variable) + " is " + config::in_quotes(text), by);
    }
    if (asked && !by.valid(*asked))
      complain("process::options::" + std::string(by.member) + " is " + std::to_string(*asked), by);
    return asked.value_or(found.value_or(fallback));
  }

private:
  void complain(const std::string& what, const rule& by) {
    if (complaint.empty())
      complaint = what + ", but it must be " + by.accepted;
  }
};

std::optional<number> unless_zero(number value) {
  return value == 0 ? std::nullopt : std::optional(value);
}

} // namespace

std::variant<resolved_options, std::string>
resolve(const options& asked, const char* (*lookup)(const char*), std::uint64_t clock_seed) {
  resolver r{lookup};
  const resolved_options all{
      static_cast<unsigned>(r.decide(processes, unless_zero(asked.processes), 1)),
      r.decide(region_size, unless_zero(asked.region_size), number{256} << 10),
      r.decide(heap_size, unless_zero(asked.heap_size), number{16} << 20),
      static_cast<engine>(r.decide(transport, unless_zero(number(asked.transport)), 0)),
      r.decide(stats, asked.stats, 0) != 0,
      r.decide(verbose, asked.verbose, 0) != 0,
      r.decide(seed, asked.seed, clock_seed),
      static_cast<unsigned>(r.decide(latency, asked.latency_us, 0)),
      static_cast<unsigned>(r.decide(progress, asked.progress, 0)),
  };
  if (!r.complaint.empty())
    return r.complaint;
  return all;
}

} // namespace nopal::inline NOPAL_ABI::process
