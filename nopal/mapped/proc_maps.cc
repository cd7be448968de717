// SPDX-License-Identifier: MIT
// Parses /proc/self/maps. It runs while the program's variables are being moved, so it writes none.
#include "nopal/mapped/proc_maps.h"

#include "nopal/arch/mapped.h"

#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {
namespace {

using arch::raw;

std::uintptr_t take_hex(std::string_view& line) noexcept {
  std::uintptr_t value = 0;
  for (; !line.empty(); line.remove_prefix(1)) {
    const char c = line.front();
    if (c >= '0' && c <= '9')
      value = value * 16 + static_cast<unsigned>(c - '0');
    else if (c >= 'a' && c <= 'f')
      value = value * 16 + static_cast<unsigned>(c - 'a' + 10);
    else
      break;
  }
  if (!line.empty())
    line.remove_prefix(1); // the separator
  return value;
}

} // namespace

bool read_mappings(char* buffer, std::size_t bytes, std::string_view& text) noexcept {
  const long file = raw(SYS_open, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
  std::size_t length = 0;
  long got = file;
  while (file >= 0 && length < bytes &&
         (got = raw(SYS_read, file, buffer + length, bytes - length)) > 0)
    length += static_cast<std::size_t>(got);
  if (file >= 0)
    raw(SYS_close, file);
  text = {buffer, length};
  return got == 0;
}

open_mappings::open_mappings() noexcept
    : file_{raw(SYS_open, "/proc/self/maps", O_RDONLY | O_CLOEXEC)}, text_{buffer_, 0} {}

open_mappings::~open_mappings() {
  if (file_ >= 0)
    raw(SYS_close, file_);
}

// A line that is longer than the buffer is cut, in its name, and its rest is left out.
bool open_mappings::next(mapping& found) noexcept {
  while (!has_line() && text_.size() < sizeof buffer_) {
    std::memmove(buffer_, text_.data(), text_.size());
    const long got = raw(SYS_read, file_, buffer_ + text_.size(), sizeof buffer_ - text_.size());
    if (got <= 0)
      break;
    text_ = {buffer_, text_.size() + static_cast<std::size_t>(got)};
  }
  if (!has_line() && text_.size() == sizeof buffer_)
    for (char c = 0; c != '\n' && raw(SYS_read, file_, &c, 1) == 1;) {
    }
  return next_mapping(text_, found);
}

// from-to rwxp offset device inode   name
bool next_mapping(std::string_view& text, mapping& found) noexcept {
  if (text.empty())
    return false;
  std::size_t end = 0;
  while (end < text.size() && text[end] != '\n')
    ++end;
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end < text.size() ? end + 1 : end);
  found.from = take_hex(line);
  found.to = take_hex(line);
  found.access = (line[0] == 'r' ? PROT_READ : 0) | (line[1] == 'w' ? PROT_WRITE : 0) |
                 (line[2] == 'x' ? PROT_EXEC : 0);
  found.shared = line[3] == 's';
  line.remove_prefix(5);
  found.offset = take_hex(line);
  take_hex(line); // the device, two numbers
  take_hex(line);
  found.of_file = line[0] != '0'; // the inode
  while (!line.empty() && line.front() != ' ')
    line.remove_prefix(1);
  while (!line.empty() && line.front() == ' ')
    line.remove_prefix(1);
  found.name = line;
  return true;
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
