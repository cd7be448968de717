// SPDX-License-Identifier: MIT
// The parsers and printers that rules share, and how a resolver applies a rule.
#include "nopal/config/option_rules.h"

#include <utility>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config {

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

std::optional<number> resolver::read(const rule& option) {
  const char* const text = lookup_(option.variable);
  if (text == nullptr)
    return std::nullopt;
  const std::optional<number> found = option.parse(text);
  if (!found || !option.valid(*found))
    complain(std::string(option.variable) + " is " + in_quotes(text), option, option.spelling);
  return found;
}

void resolver::check(const rule& option, number asked) {
  if (!option.valid(asked))
    complain(std::string(owner_) + option.member + " is " + option.show(asked), option, "");
}

void resolver::complain(const std::string& what, const rule& option, const char* spelling) {
  if (complaint_.empty())
    complaint_ = what + ", but it must be " + option.accepted + spelling;
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config
