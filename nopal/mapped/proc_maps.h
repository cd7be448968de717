// SPDX-License-Identifier: MIT
// The mappings of this process, as the kernel lists them.
#pragma once

#include "nopal/config.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {

struct mapping {
  std::uintptr_t from, to;
  int access; // PROT_*
  bool shared;
  std::uintptr_t offset;
  bool of_file; // not anonymous
  std::string_view name;
};

// Reads the list into a buffer, without any call of the C library. The text ends where the buffer
// does; false: it does not fit.
bool read_mappings(char* buffer, std::size_t bytes, std::string_view& text) noexcept;
// Takes the next line off the text. False: there is none.
bool next_mapping(std::string_view& text, mapping& found) noexcept;

// The list while it is read, in little memory. What is mapped meanwhile may be in it or not.
class open_mappings {
public:
  open_mappings() noexcept;
  ~open_mappings();
  open_mappings(const open_mappings&) = delete;
  open_mappings& operator=(const open_mappings&) = delete;
  bool next(mapping& found) noexcept;

private:
  bool has_line() const noexcept { return text_.find('\n') != std::string_view::npos; }

  long file_;
  std::string_view text_;
  char buffer_[2048];
};

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
NOPAL_HIDDEN_END
