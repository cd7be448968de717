// SPDX-License-Identifier: MIT
// What others call of this room.
#include "nopal/mapped/sharing.h"

#include "nopal/base/shared.h"
#include "nopal/mapped/memory.h"

#include <cerrno>
#include <sys/mman.h>

namespace nopal::mapped {
namespace {

constinit counts all{};

} // namespace

bool on() noexcept { return base::shared != nullptr; }

bool map_again(std::uintptr_t shared, std::uintptr_t at, std::size_t bytes,
               bool populate) noexcept {
  const long mapped =
      map_part(shared, at, bytes, PROT_READ | PROT_WRITE, populate ? MAP_POPULATE : 0);
  if (mapped < 0)
    errno = static_cast<int>(-mapped);
  return mapped >= 0;
}

range view_range() noexcept { return {layout::view_end - layout::view_room, layout::view_end}; }

counts& counted() noexcept { return all; }

} // namespace nopal::mapped
