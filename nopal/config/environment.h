// SPDX-License-Identifier: MIT
// Reads and parses variables, and reads the kernel's files, without a state: for any thread.
#pragma once

#include "nopal/config.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config {

// The value of a variable, or null: it is not set, or the program has rights that its user lacks
// (set-user-ID, capabilities of the file: AT_SECURE), and obeys no environment. All of Nopal asks
// here, which a test checks.
const char* variable(const char* name) noexcept;
// All variables, as in environ; none where `variable` knows none.
const char* const* all_variables() noexcept;

// Nothing unless the whole text is decimal digits (no sign, space or suffix) of at most 64 bits.
std::optional<std::uint64_t> parse_decimal(std::string_view text) noexcept;

// The same, or hexadecimal digits after 0x.
std::optional<std::uint64_t> parse_decimal_or_hex(std::string_view text) noexcept;

// A number of bytes, or, with K, M or G behind it, of KiB, MiB or GiB.
std::optional<std::uint64_t> parse_bytes(std::string_view text) noexcept;

// The text in double quotes, for a message of one line: at most 60 characters, control ones as '?'.
std::string in_quotes(std::string_view text);

// The text of a file without its last newline; or, if it cannot be read, no text and errno.
struct file_text {
  std::string text;
  int error = 0; // 0: the file was read
};

file_text read_file(const std::string& path);

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config
NOPAL_HIDDEN_END
