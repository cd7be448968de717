// SPDX-License-Identifier: MIT
// The queue of the paper about uni-address threads, instead of nopal/process/transport/queue.h: the
// deque THE, whose lock a thief takes by a remote fetch-and-add.
//
// Roles:     owner, thief   as in queue.h
//
// A steal takes seven operations, one after the other:
//
//   1  read head and tail         4  raise the head           6  copy the frames
//   2  take the lock              5  read the entry           7  free the lock
//   3  read head and tail
//
// A pop clears the entry, where Cilk's lowers the tail, so that (5) shows at once whether the owner
// came first, and what it has left; then the thief lowers the head again.
//
// Invariant: (lock free)  head <= tail;  entries [head, tail) are open. A thief holds the lock
//            until it has copied the frames, and the owner takes the lock before it finds an entry
//            stolen. So nothing is still being copied when a pop has failed (is_settled).
// Orders:
//   T  push: store release of entry and tail. Partner: the thief's reads, which acquire.
//   F  pop: store of the empty entry, full fence, load of the head. Thief: put of the head (4),
//      done at the victim, then the read (5). One of the two sees the other.
//   L  lock: fetch_add acquire; store release. A thief that finds it taken has added to it all the
//      same; the holder frees it by storing 0.
//
// Paper: uni-address-hpdc15, section 5.3, Figure 6, Table 3.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/os.h"
#include "nopal/config.h"
#include "nopal/process/transport/segment.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

template <std::uint32_t Capacity> struct queue_memory {
  static constexpr std::uint32_t capacity = Capacity;
  static_assert((Capacity & (Capacity - 1)) == 0);

  alignas(8) base::atomic<std::uint32_t> head{0}; // these two are read as one
  base::atomic<std::uint32_t> tail{0};
  alignas(64) base::atomic<std::uint32_t> lock{0};
  alignas(64) base::atomic<std::uint64_t> entries[Capacity]{};

  base::atomic<std::uint64_t>& entry(std::uint32_t number) noexcept {
    return entries[number & (Capacity - 1)];
  }
};

template <class Place> class queue_owner {
public:
  constexpr explicit queue_owner(Place in = {}) noexcept : in_{in} {}

  [[gnu::always_inline]] bool push(segment pushed) noexcept {
    const std::uint32_t tail = in_().tail.load(base::relaxed);
    if (tail - in_().head.load(base::relaxed) >= capacity - 1) [[unlikely]]
      return false;
    in_().entry(tail).store(pushed.packed(), base::release); // T
    in_().tail.store(tail + 1, base::release);               // T
    return true;
  }

  [[gnu::always_inline]] bool pop() noexcept {
    const std::uint32_t newest = in_().tail.load(base::relaxed) - 1;
    in_().tail.store(newest, base::relaxed);
    in_().entry(newest).store(0, base::relaxed);
    base::full_fence(); // F
    if (static_cast<std::int32_t>(newest - in_().head.load(base::relaxed)) >= 0) [[likely]]
      return true;
    return pop_locked(newest);
  }

  std::optional<segment> pop_newest() noexcept {
    const std::uint32_t newest = in_().tail.load(base::relaxed) - 1;
    const std::uint64_t kept = in_().entry(newest).load(base::relaxed);
    return pop() ? std::optional(segment::unpacked(kept)) : std::nullopt;
  }

  bool is_settled() const noexcept { return true; }
  // The number of steals so far; it counts one more while a thief tries.
  std::uint32_t stolen() const noexcept { return in_().head.load(base::relaxed); }

private:
  [[gnu::noinline]] bool pop_locked(std::uint32_t newest) noexcept {
    for (unsigned tries = 1; in_().lock.fetch_add(1, base::acquire) != 0; ++tries) // L
      base::wait_briefly(tries);
    const std::uint32_t head = in_().head.load(base::relaxed);
    const bool own = static_cast<std::int32_t>(newest - head) >= 0;
    if (!own)
      in_().tail.store(head, base::relaxed);
    in_().lock.store(0, base::release); // L
    return own;
  }

  static constexpr std::uint32_t capacity =
      std::remove_reference_t<std::invoke_result_t<const Place&>>::capacity;

  [[no_unique_address]] Place in_;
};

struct no_steps {
  void operator()(int) const noexcept {}
};
// A Peer has read_ends, try_lock, put_head, read_entry, copy and unlock. A Step is told when
// operation 1, operations 2 to 5, and operation 6 have ended.
template <class Peer, class Step = no_steps>
std::optional<segment> steal(Peer& victim, Step step = {}) {
  const auto is_empty = [](std::uint64_t ends) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(ends >> 32) -
                                     static_cast<std::uint32_t>(ends)) <= 0;
  };
  const bool empty = is_empty(victim.read_ends());
  step(1);
  if (empty || !victim.try_lock()) // L
    return std::nullopt;
  const std::uint64_t ends = victim.read_ends();
  const auto head = static_cast<std::uint32_t>(ends);
  std::uint64_t entry = 0;
  if (!is_empty(ends)) {
    victim.put_head(head + 1);       // F
    entry = victim.read_entry(head); // F, T
    if (entry == 0)
      victim.put_head(head);
  }
  step(2);
  if (entry != 0) {
    victim.copy(segment::unpacked(entry));
    step(3);
  }
  victim.unlock(); // L
  return entry != 0 ? std::optional(segment::unpacked(entry)) : std::nullopt;
}

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
