// SPDX-License-Identifier: MIT
// Variables, strict parsers, and a reader of the kernel's small files, whose size it does not tell.
#include "nopal/config/environment.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <sys/auxv.h>
#include <unistd.h>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config {
namespace {

// Nothing unless the whole text is a number; from_chars by itself accepts text behind the number.
std::optional<std::uint64_t> parse_whole(std::string_view text, int base) noexcept {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  return error == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

} // namespace

const char* variable(const char* name) noexcept { return secure_getenv(name); }

const char* const* all_variables() noexcept {
  static constexpr const char* none[] = {nullptr};
  return getauxval(AT_SECURE) != 0 ? none : environ;
}

std::optional<std::uint64_t> parse_decimal(std::string_view text) noexcept {
  return parse_whole(text, 10);
}

std::optional<std::uint64_t> parse_decimal_or_hex(std::string_view text) noexcept {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  return hex ? parse_whole(text.substr(2), 16) : parse_decimal(text);
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) noexcept {
  const char last = text.empty() ? '0' : text.back();
  const unsigned shift = last == 'K' ? 10 : last == 'M' ? 20 : last == 'G' ? 30 : 0;
  const auto number = parse_decimal(text.substr(0, text.size() - (shift != 0 ? 1 : 0)));
  return number && *number <= UINT64_MAX >> shift ? std::optional(*number << shift) : std::nullopt;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t length_max = 60;
  std::string shown(text.substr(0, length_max));
  std::ranges::replace_if(shown, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return '"' + shown + (text.size() > length_max ? "...\"" : "\"");
}

file_text read_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return {{}, errno};
  file_text result; // a file that breaks off with an error has no text
  char buffer[4096];
  ssize_t got;
  while ((got = read(file, buffer, sizeof buffer)) > 0)
    result.text.append(buffer, static_cast<std::size_t>(got));
  if (got < 0)
    result = {{}, errno};
  close(file);
  if (result.text.ends_with('\n'))
    result.text.pop_back();
  return result;
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config
