// SPDX-License-Identifier: MIT
// Reads what surrounds the process, strictly: environment variables and the kernel's text files.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nopal::config {

// Gives the value of a variable, or null when it is not set. std::getenv is one; tests bring their
// own.
using variable_lookup = std::function<const char*(const char* name)>;

// One sentence for each variable of `environment` (as in environ: "NAME=value", null at the end)
// whose name begins with NOPAL_ and which Nopal does not know: a misspelt name would otherwise be
// ignored without a word.
std::vector<std::string> unknown_variables(const char* const* environment);

// Digits only, the whole text: no sign, no space, no suffix. Nothing when it is anything else or
// exceeds 64 bits.
std::optional<std::uint64_t> parse_decimal(std::string_view text) noexcept;

// Decimal, or hexadecimal after 0x.
std::optional<std::uint64_t> parse_decimal_or_hex(std::string_view text) noexcept;

// Decimal bytes, or a number of KiB, MiB, GiB when K, M, G follows.
std::optional<std::uint64_t> parse_bytes(std::string_view text) noexcept;

// `text` in double quotes, fit for a one-line message: clipped when long, control characters shown
// as '?'.
std::string in_quotes(std::string_view text);

// What reading a file gave: its text, or errno.
struct file_text {
  std::string text;
  int error = 0;
};

// Reads `path` (absolute, as the process sees it) below the file system root `root`; "/" is the
// machine's own.
file_text read_file(const std::string& root, const std::string& path);

} // namespace nopal::config
