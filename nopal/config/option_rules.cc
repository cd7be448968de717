// SPDX-License-Identifier: MIT
// What rules have in common, and how one is applied.
#include "nopal/config/option_rules.h"

#include <utility>

namespace nopal::config {

std::optional<number> parse_flag(std::string_view text) noexcept {
  return text.size() == 1 ? parse_decimal(text) : std::nullopt;
}

std::string show_number(number value) { return std::to_string(value); }

std::string show_bytes(number bytes) {
  constexpr std::pair<unsigned, const char*> units[] = {{30, "G"}, {20, "M"}, {10, "K"}};
  for (const auto& [shift, suffix] : units)
    if (bytes != 0 && bytes % (number{1} << shift) == 0)
      return std::to_string(bytes >> shift) + suffix;
  return std::to_string(bytes);
}

std::optional<number> resolver::read(const rule& by) {
  const char* const text = lookup_(by.variable);
  if (text == nullptr)
    return std::nullopt;
  const std::optional<number> found = by.parse(text);
  if (!found || !by.valid(*found))
    complain(std::string(by.variable) + " is " + in_quotes(text), by, by.spelling);
  return found;
}

void resolver::check(const rule& by, number asked) {
  if (!by.valid(asked))
    complain(std::string(owner_) + by.member + " is " + by.show(asked), by, "");
}

void resolver::complain(const std::string& what, const rule& by, const char* spelling) {
  if (complaint_.empty())
    complaint_ = what + ", but it must be " + by.accepted + spelling;
}

} // namespace nopal::config
