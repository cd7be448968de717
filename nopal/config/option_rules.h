// SPDX-License-Identifier: MIT
// How an option is called, read, checked and shown: a rule for each. The options of the core have
// theirs in options.cc; a higher layer with options of its own writes rules of the same kind, and
// resolves them by the same resolver.
#pragma once

#include "nopal/config.h"
#include "nopal/config/environment.h"
#include "nopal/config/setting.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

NOPAL_HIDDEN_BEGIN
namespace nopal::config {

// Each value is handled as a number: a flag as 0 or 1, a choice by its place in a list.
using number = std::uint64_t;

struct rule {
  const char* variable;
  const char* member; // of the program's options
  const char* accepted;
  const char* spelling; // what the text of the variable may be beyond that
  number least;
  number most;
  std::optional<number> (*parse)(std::string_view text) noexcept;
  std::string (*show)(number value);
  bool (*also)(number value) noexcept = nullptr; // what must hold besides

  bool valid(number value) const {
    return value >= least && value <= most && (also == nullptr || also(value));
  }
};

// One digit, so 01 is refused; the rule says which digits are accepted.
std::optional<number> parse_flag(std::string_view text) noexcept;
std::string show_number(number value);
std::string show_bytes(number bytes);

inline constexpr const char* in_bytes = ", in bytes or with a suffix K, M or G";

// Options of the core and of programs on several processes alike.
inline constexpr rule stats_rule{"NOPAL_STATS", "stats",    "0 or 1", "", 0, 1,
                                 parse_flag,    show_number};
inline constexpr rule verbose_rule{"NOPAL_VERBOSE", "verbose",  "0 or 1", "", 0, 1,
                                   parse_flag,      show_number};
inline constexpr rule seed_rule{"NOPAL_SEED",
                                "seed",
                                "an unsigned number of 64 bits",
                                ", decimal or hexadecimal after 0x",
                                0,
                                ~number{0},
                                parse_decimal_or_hex,
                                show_number};

template <class T> std::optional<T> unless_zero(T value) {
  return value == 0 ? std::nullopt : std::optional(value);
}

// Applies rules and keeps the first complaint.
class resolver {
public:
  // `owner` is what comes before the members' names in a complaint: "options::".
  resolver(const variable_lookup& lookup, const char* owner) : lookup_{lookup}, owner_{owner} {}

  template <class T>
  setting<T> decide(const rule& by, std::optional<T> asked, T fallback,
                    const char* from = "default") {
    const std::optional<number> found = read(by);
    if (asked)
      check(by, static_cast<number>(*asked));
    return asked   ? setting<T>{*asked, "set by the program"}
           : found ? setting<T>{static_cast<T>(*found), by.variable}
                   : setting<T>{fallback, from};
  }

  // The sentence that says which value is wrong, or nothing.
  const std::string& complaint() const noexcept { return complaint_; }

private:
  std::optional<number> read(const rule& by);
  void check(const rule& by, number asked);
  void complain(const std::string& what, const rule& by, const char* spelling);

  const variable_lookup& lookup_;
  const char* const owner_;
  std::string complaint_;
};

} // namespace nopal::config
NOPAL_HIDDEN_END
