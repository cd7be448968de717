// SPDX-License-Identifier: MIT
// What a message with a continuation holds: the entry, then the frames.
#include "nopal/process/transport/steal_service.h"

#include "nopal/base/die.h"
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

// In whole words, from a lower end up to a higher one.
bool lies_in(segment stolen, std::size_t room) noexcept {
  constexpr std::size_t word_size = sizeof(std::uint64_t);
  return stolen.lower < stolen.upper && stolen.upper <= room && stolen.lower % word_size == 0 &&
         stolen.upper % word_size == 0;
}

} // namespace

std::vector<std::uint64_t> serve_steal(std::uintptr_t region) {
  own_queue_as_victim victim{region};
  steal(victim);
  return std::move(victim.message);
}

std::optional<segment> place_stolen(unsigned victim, const layout& memory, const void* message,
                                    std::size_t bytes) noexcept {
  if (bytes == 0)
    return std::nullopt;
  std::uint64_t entry = 0;
  if (bytes < sizeof entry)
    base::die(
        "process %u has answered a request for a steal by %zu bytes; none, or an entry of %zu "
        "and frames, are accepted",
        victim, bytes, sizeof entry);
  std::memcpy(&entry, message, sizeof entry);
  const segment stolen = segment::unpacked(entry);
  if (!lies_in(stolen, memory.regions * memory.region_size) ||
      bytes - sizeof entry != stolen.size())
    base::die("process %u has answered a request for a steal by %zu bytes of frames from %#x up to "
              "%#x; they are to be as many, in whole words, and within a region of %#zx bytes",
              victim, bytes - sizeof entry, stolen.lower, stolen.upper,
              memory.regions * memory.region_size);
  std::memcpy(reinterpret_cast<void*>(memory.region_at() + stolen.lower),
              static_cast<const char*>(message) + sizeof entry, stolen.size());
  return stolen;
}

} // namespace nopal::inline NOPAL_ABI::process
