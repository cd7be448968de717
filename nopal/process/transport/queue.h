// SPDX-License-Identifier: MIT
// The open spawns of one process, oldest first: its owner pushes and pops at the tail, thieves of
// other processes take from the head, one-sided. All of it lies in memory that others can reach.
//
// Roles:     owner   the process that runs the tasks: push, pop, is_settled
//            thief   any other: steal, by way of a Peer (transport.h) or what a model brings
//
// A steal takes three operations one after the other, and one that nobody waits for:
//
//   1  read head and tail, which are one word of 8 bytes
//   2  compare-and-swap the head, then read the entry there
//   3  copy the frames that the entry names
//   4  add one to `acknowledged`
//
// Invariant: head <= tail, as differences of numbers that wrap. Entries [head, tail) are open. Of
//            the entries below the head each was taken once, by a thief or, as the last one, by its
//            owner:  head = stolen + taken_by_owner.  acknowledged <= stolen.
//            An entry that a thief has taken, and the frames that it names, are not written before
//            the thief has acknowledged: push leaves its slot alone, and nothing is put on the
//            owner's region unless  acknowledged == stolen  (is_settled). If the thief dies, that
//            never comes, and the owner ends with the computation.
// Ownership: tail, entries -> owner; head -> any, by compare-and-swap; acknowledged -> thieves.
// Orders:
//   T  push, pop: store release of the tail. Partner: the thief's read of the word (1), which
//      acquires: a thief that sees an entry open, also by a lowered tail, sees the entry and its
//      frames.
//   F  pop: store of the tail, full fence, load of the head. Thief: the read (1), then the
//      compare-and-swap (2), seq_cst. If the thief read the tail before the owner lowered it,
//      either the owner sees that the head has risen, or both compare-and-swap the head.
//   C  head: compare-and-swap seq_cst; that of the owner takes the last entry.
//   K  acknowledged: fetch_add release after the copy (3). Partner: the acquire in is_settled.
//
// Why (1) must be one read: a thief that read the tail first, and then the head after another
// steal, would take an entry for open which its owner has popped without a compare-and-swap. A
// thief in the owner's process (steal_service.h) reads the head, has a full fence, and reads the
// tail.
//
// Why the owner may use its processor's instructions on words that thieves change: a thief of the
// same machine uses the same instructions on the same memory (direct.h), and for a thief elsewhere
// a thread of the owner's process steals. The operations of a network adapter would not be atomic
// to the processor's; with them the owner would have to go by the adapter too.
//
// The head's number wraps after 2^32 steals and last pops. A thief that is stopped between (1) and
// (2) for exactly so many would be deceived.
//
// Paper: uni-address-hpdc15, section 5.3, whose protocol is THE; the owner's half here is the deque
//        of Chase and Lev.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/process/transport/segment.h"

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
  alignas(64) base::atomic<std::uint32_t> acknowledged{0};
  alignas(64) base::atomic<std::uint64_t> entries[Capacity]{};

  base::atomic<std::uint64_t>& entry(std::uint32_t number) noexcept {
    return entries[number & (Capacity - 1)];
  }
};

// Place() is the memory, which is as it was made; head and tail are `first`.
//
// Invariant: full_at_ is a tail that push may not reach without looking: an entry there would lie
//            in the slot of one that a thief may not have acknowledged.  tail <= full_at_.
//            taken_ is first + the entries that pop took last (C), so  stolen = head - taken_.
template <class Place> class queue_owner {
public:
  constexpr explicit queue_owner(Place in = {}, std::uint32_t first = 0) noexcept
      : in_{in}, full_at_{first + capacity}, taken_{first} {}

  // False: there is no room, and the continuation is not offered.
  [[gnu::always_inline]] bool push(segment task) noexcept {
    const std::uint32_t tail = in_().tail.load(base::relaxed);
    if (tail == full_at_ && !make_room(tail)) [[unlikely]]
      return false;
    in_().entry(tail).store(task.packed(), base::relaxed);
    in_().tail.store(tail + 1, base::release); // T
    return true;
  }

  // Takes the newest entry back. False: a thief has it, and with it all older ones.
  [[gnu::always_inline]] bool pop() noexcept {
    const std::uint32_t tail = in_().tail.load(base::relaxed) - 1;
    in_().tail.store(tail, base::release); // T
    base::full_fence();                    // F
    const std::uint32_t head = in_().head.load(base::relaxed);
    if (static_cast<std::int32_t>(tail - head) > 0) [[likely]]
      return true;
    return pop_last(tail, head);
  }

  // Takes the newest entry, if there is one, and returns it.
  std::optional<segment> pop_newest() noexcept {
    const std::uint32_t tail = in_().tail.load(base::relaxed);
    const std::uint64_t newest = in_().entry(tail - 1).load(base::relaxed);
    return pop() ? std::optional(segment::unpacked(newest)) : std::nullopt;
  }

  // True: no entry is open, and what was stolen has been copied.
  bool is_settled() const noexcept {
    const std::uint32_t acknowledged = in_().acknowledged.load(base::acquire); // K
    return acknowledged == in_().head.load(base::relaxed) - taken_;
  }

  std::uint32_t stolen() const noexcept { return in_().head.load(base::relaxed) - taken_; }

private:
  // The entry at `tail` was the last one, or thieves have taken it. If the owner takes it, it
  // raises the head over it, as a thief would, and so head and tail meet at the next number.
  [[gnu::noinline]] bool pop_last(std::uint32_t tail, std::uint32_t head) noexcept {
    std::uint32_t expected = tail;
    const bool own = head == tail && in_().head.compare_exchange_strong(
                                         expected, tail + 1, base::seq_cst, base::relaxed); // C
    in_().tail.store(own ? tail + 1 : in_().head.load(base::relaxed), base::relaxed);
    taken_ += own ? 1 : 0;
    return own;
  }

  // Leaves alone the slots of entries that were stolen and not acknowledged. Thieves acknowledge in
  // any order, so which slots these are is known only when there are none: when the count has come
  // up to the head that is read after it. If the head rises later, its slots are above `done`.
  [[gnu::noinline]] bool make_room(std::uint32_t tail) noexcept {
    const std::uint32_t done = in_().acknowledged.load(base::acquire) + taken_; // K
    if (done == in_().head.load(base::relaxed))
      full_at_ = done + capacity;
    return tail != full_at_;
  }

  static constexpr std::uint32_t capacity =
      std::remove_reference_t<std::invoke_result_t<const Place&>>::capacity;

  [[no_unique_address]] Place in_;
  std::uint32_t full_at_;
  std::uint32_t taken_;
};

// What a thief does with the queue of a peer. A Peer has
//   read_ends()                          head | tail << 32, as one
//   take(head, entry)                    compare-and-swap of the head, and a read of that entry
//   copy(segment)                        the frames
//   acknowledge()
struct no_steps {
  void operator()(int) const noexcept {}
};
template <class Peer, class Step = no_steps>
std::optional<segment> steal(Peer& victim, Step step = {}) {
  const std::uint64_t ends = victim.read_ends(); // T, F
  const auto head = static_cast<std::uint32_t>(ends);
  const auto tail = static_cast<std::uint32_t>(ends >> 32);
  step(1);
  if (static_cast<std::int32_t>(tail - head) <= 0)
    return std::nullopt;
  std::uint64_t entry = 0;
  const bool taken = victim.take(head, entry); // C
  step(2);
  if (!taken)
    return std::nullopt;
  const segment stolen = segment::unpacked(entry);
  victim.copy(stolen);
  step(3);
  victim.acknowledge(); // K
  return stolen;
}

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
