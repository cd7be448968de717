// SPDX-License-Identifier: MIT
// Writes the runtime's messages straight to file descriptor 2, past every buffer and lock of stdio.
#include "nopal/base/die.h"

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace nopal::base {
namespace {

constexpr char prefix[] = "nopal: ";
constexpr std::size_t prefix_length = sizeof prefix - 1;
constexpr char cut_mark[] = "...";
constexpr std::size_t cut_length = sizeof cut_mark - 1;

// PIPE_BUF: the longest write that a pipe takes in one piece.
constexpr std::size_t line_bytes_max = 4096;
// A handler of SIGSEGV runs on an alternate stack of a few kilobytes.
constexpr std::size_t handler_line_bytes_max = 512;

void write_to_stderr(const char* bytes, std::size_t length) noexcept {
  while (write(STDERR_FILENO, bytes, length) < 0 && errno == EINTR) {
  }
}

// `line` holds the prefix and has `wanted` characters after it, of which only what fits was stored.
void finish_and_write(char* line, std::size_t capacity, std::size_t wanted) noexcept {
  std::size_t length = prefix_length + wanted;
  if (length > capacity - 1) {
    length = capacity - 1;
    std::memcpy(line + length - cut_length, cut_mark, cut_length);
  }
  line[length] = '\n';
  write_to_stderr(line, length + 1);
}

void print_line(const char* format, std::va_list arguments) noexcept {
  char line[line_bytes_max];
  std::memcpy(line, prefix, prefix_length);
  // vsnprintf keeps the last byte for its NUL, which finish_and_write replaces.
  const int wanted =
      std::vsnprintf(line + prefix_length, sizeof line - prefix_length, format, arguments);
  finish_and_write(line, sizeof line, wanted < 0 ? 0 : static_cast<std::size_t>(wanted));
}

} // namespace

void die(const char* format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  print_line(format, arguments);
  va_end(arguments);
  std::_Exit(exit_status_died);
}

void die_in_signal_handler(const char* sentence) noexcept {
  char line[handler_line_bytes_max];
  const std::size_t wanted = std::strlen(sentence);
  const std::size_t room = sizeof line - prefix_length;
  std::memcpy(line, prefix, prefix_length);
  std::memcpy(line + prefix_length, sentence, wanted < room ? wanted : room);
  finish_and_write(line, sizeof line, wanted);
  _exit(exit_status_died);
}

void say(const char* format, ...) noexcept {
  const int saved_errno = errno;
  std::va_list arguments;
  va_start(arguments, format);
  print_line(format, arguments);
  va_end(arguments);
  errno = saved_errno;
}

} // namespace nopal::base
