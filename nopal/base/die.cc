// SPDX-License-Identifier: MIT
// Writes the runtime's messages straight to file descriptor 2, past the buffers and locks of stdio.
#include "nopal/base/die.h"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/uio.h>
#include <unistd.h>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {
namespace {

char prefix[] = "nopal: ";
char cut_end[] = "...\n"; // behind a sentence that is cut; behind others its last character only

// A pipe takes a write of 4096 bytes in one piece (PIPE_BUF), prefix and newline included.
constexpr std::size_t sentence_bytes_max = 4096 - sizeof prefix;

// A signal handler may call this, also on a stack of a few kilobytes.
void write_line(const char* sentence, std::size_t length) noexcept {
  const std::size_t dots = length > sentence_bytes_max ? 3 : 0;
  const std::size_t kept = std::min(length, sentence_bytes_max) - dots;
  const iovec line[] = {{prefix, sizeof prefix - 1},
                        {const_cast<char*>(sentence), kept},
                        {cut_end + 3 - dots, 1 + dots}};
  while (writev(STDERR_FILENO, line, 3) < 0 && errno == EINTR) {
  }
}

void print_line(const char* format, std::va_list arguments) noexcept {
  char sentence[sentence_bytes_max + 1];
  const int length = std::vsnprintf(sentence, sizeof sentence, format, arguments);
  write_line(sentence, length < 0 ? 0 : static_cast<std::size_t>(length));
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
  write_line(sentence, std::strlen(sentence));
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

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
