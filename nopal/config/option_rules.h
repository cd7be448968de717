// SPDX-License-Identifier: MIT
// A rule for each option: its names, and how it is read, checked and shown. The core's rules are in
// options.cc. A higher layer with options of its own has rules of the same kind and applies them by
// the same resolver.
#pragma once

#include "nopal/config.h"
#include "nopal/config/environment.h"
#include "nopal/config/setting.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config {

// Each value is handled as a number: a flag as 0 or 1, a choice by its place in a list.
using number = std::uint64_t;

struct rule {
  const char* variable;
  const char* member;   // its name in the program's options
  const char* accepted; // the values, as the end of "... must be"
  const char* spelling; // more that the variable's text may be, behind `accepted`
  number least;
  number most;
  std::optional<number> (*parse)(std::string_view text) noexcept;
  std::string (*show)(number value);
  bool (*also)(number value) noexcept = nullptr; // a further condition; null: there is none

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
// clang-format off
inline constexpr rule stats_rule{
    "NOPAL_STATS", "stats", "0 or 1", "", 0, 1, parse_flag, show_number};
inline constexpr rule verbose_rule{
    "NOPAL_VERBOSE", "verbose", "0 or 1", "", 0, 1, parse_flag, show_number};
inline constexpr rule seed_rule{
    "NOPAL_SEED", "seed", "an unsigned number of 64 bits", ", decimal or hexadecimal after 0x",
    0, ~number{0}, parse_decimal_or_hex, show_number};
// clang-format on

template <class T> std::optional<T> unless_zero(T value) {
  return value == 0 ? std::nullopt : std::optional(value);
}

// Applies rules and keeps the first complaint. If there is one, no value may be used.
class resolver {
public:
  // `owner` stands before the members' names in a complaint: "options::". Both must outlive this.
  resolver(const variable_lookup& lookup, const char* owner) : lookup_{lookup}, owner_{owner} {}

  // The program's value, else the variable's (both are checked), else `fallback` from `from`.
  template <class T>
  setting<T> decide(const rule& option, std::optional<T> asked, T fallback,
                    const char* from = "default") {
    const std::optional<number> found = read(option);
    if (asked)
      check(option, static_cast<number>(*asked));
    return asked   ? setting<T>{*asked, "set by the program"}
           : found ? setting<T>{static_cast<T>(*found), option.variable}
                   : setting<T>{fallback, from};
  }

  // The sentence that says which value is wrong, or nothing.
  const std::string& complaint() const noexcept { return complaint_; }

private:
  std::optional<number> read(const rule& option);
  void check(const rule& option, number asked);
  void complain(const std::string& what, const rule& option, const char* spelling);

  const variable_lookup& lookup_;
  const char* const owner_;
  std::string complaint_;
};

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config
NOPAL_HIDDEN_END
