// SPDX-License-Identifier: MIT
// What a message with a continuation holds: the entry, then the frames.
#include "nopal/process/transport/steal_service.h"

#include "nopal/base/sanitizer.h"
#include "nopal/process/transport/layout.h"

#include <cstring>
#include <utility>

namespace nopal::inline NOPAL_ABI::process {
namespace {

// The frames of a task, parts of which AddressSanitizer counts as nobody's.
NOPAL_READS_FRAMES void copy_frames(std::uint64_t* to, std::uintptr_t from,
                                    std::size_t bytes) noexcept {
  const auto* const words = reinterpret_cast<const volatile std::uint64_t*>(from);
  for (std::size_t i = 0; i < bytes / sizeof *to; ++i)
    to[i] = words[i];
}

// This process's own queue, as `steal` needs a victim (queue.h).
struct own_queue_as_victim {
  const std::uintptr_t region;
  queue_type& queue = control().queue;
  std::vector<std::uint64_t> message = {};

  // Two reads, not one as by a thief elsewhere: the head first, so that no old tail is paired with
  // a new head.
  std::uint64_t read_ends() const noexcept {
    const std::uint32_t head = queue.head.load(base::acquire);
    base::full_fence();                                                // F
    return head | std::uint64_t{queue.tail.load(base::acquire)} << 32; // T
  }
  bool take(std::uint32_t head, std::uint64_t& entry) const noexcept {
    std::uint32_t expected = head;
    if (!queue.head.compare_exchange_strong(expected, head + 1, base::seq_cst,
                                            base::seq_cst)) // C
      return false;
    entry = queue.entry(head).load(base::relaxed);
    return true;
  }
  void copy(segment stolen) {
    message.resize(1 + stolen.size() / sizeof(std::uint64_t));
    message[0] = stolen.packed();
    copy_frames(&message[1], region + stolen.lower, stolen.size());
  }
  void acknowledge() const noexcept { queue.acknowledged.fetch_add(1, base::release); } // K
};

} // namespace

std::vector<std::uint64_t> serve_steal(std::uintptr_t region) {
  own_queue_as_victim victim{region};
  steal(victim);
  return std::move(victim.message);
}

std::optional<segment> place_stolen(std::uintptr_t region, const void* message,
                                    std::size_t bytes) noexcept {
  if (bytes == 0)
    return std::nullopt;
  std::uint64_t entry = 0;
  std::memcpy(&entry, message, sizeof entry);
  const segment stolen = segment::unpacked(entry);
  std::memcpy(reinterpret_cast<void*>(region + stolen.lower),
              static_cast<const char*>(message) + sizeof entry, stolen.size());
  return stolen;
}

} // namespace nopal::inline NOPAL_ABI::process
