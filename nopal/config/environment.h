// SPDX-License-Identifier: MIT
// Reads what surrounds the process, strictly: the text of variables and the kernel's files.
#pragma once

#include "nopal/config.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

NOPAL_HIDDEN_BEGIN
namespace nopal::config {

// Digits only, the whole text: no sign, no space, no suffix. Nothing otherwise, or above 64 bits.
std::optional<std::uint64_t> parse_decimal(std::string_view text) noexcept;

// Decimal, or hexadecimal after 0x.
std::optional<std::uint64_t> parse_decimal_or_hex(std::string_view text) noexcept;

// Decimal bytes, or a number of KiB, MiB, GiB when K, M, G follows.
std::optional<std::uint64_t> parse_bytes(std::string_view text) noexcept;

// `text` in double quotes, for a one-line message: clipped when long, control characters as '?'.
std::string in_quotes(std::string_view text);

// What reading a file gave: its text without the last newline, or errno.
struct file_text {
  std::string text;
  int error = 0;
};

file_text read_file(const std::string& path);

} // namespace nopal::config
NOPAL_HIDDEN_END
