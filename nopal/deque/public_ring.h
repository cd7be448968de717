// SPDX-License-Identifier: MIT
// The public part of a deque: a small ring of open forks that thieves take with one CAS.
//
//   word:  tag (32 bits) | head (16 bits) | tail (16 bits)      entries head .. tail-1 are public
//
// The tag grows with every change. Without the tag a thief's CAS succeeds on a position that was
// taken back and filled anew in between (ABA), and the thief resumes the wrong frame.
//
// Roles: the lock holder pushes and takes back; any thread steals, without the lock.
// Invariant: 0 <= tail - head <= capacity; an entry's fields do not change while it is public.
// Orders:
//   P  push: word CAS release. Partner: S. A thief that sees the entry sees the frame behind it.
//   S  steal, holds: word load acquire. Partner: P.
//   T  steal: word CAS release. Partner: the acquire load of push, which fills the slot anew.
//   B  take back: word CAS relaxed. The lock orders it after a push in the owner's name, which may
//      have filled the same slot.
// Progress: an attempt to steal takes a bounded number of steps; it fails only if another succeeds.
#pragma once

#include "nopal/arch/arch.h"
#include "nopal/base/atomic.h"
#include "nopal/base/check.h"
#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::deque {

template <class Record> struct entry {
  Record* record;
  typename Record::frame_type* frame;
  void* group;
  int error = 0; // errno (error_place.h)
};

// Whether a thief that looks for forks of the group `wanted` (null: of any) may take a fork of the
// group `owner`. A group whose address is odd is closed (vproc/group.h): only a thief that looks
// for this group may take its forks.
inline bool may_take(const void* wanted, const void* owner) noexcept {
  return wanted == owner ||
         (wanted == nullptr && (reinterpret_cast<std::uintptr_t>(owner) & 1) == 0);
}

// Asks for the lines of what the thread writes next. They come while it waits for another line.
template <class T> inline void will_write(const T* next) noexcept {
  constexpr std::size_t line = 64;
  for (std::size_t at = 0; at < sizeof(T); at += line)
    arch::will_write(reinterpret_cast<const char*>(next) + at);
}

enum class outcome : std::uint8_t {
  got,
  empty,
  foreign, // the oldest belongs to another group
  lost     // the ring changed meanwhile
};

// The packed word and its transitions.
struct ring_word {
  std::uint64_t bits;

  std::uint16_t head() const noexcept { return static_cast<std::uint16_t>(bits >> 16); }
  std::uint16_t tail() const noexcept { return static_cast<std::uint16_t>(bits); }
  std::uint16_t count() const noexcept { return static_cast<std::uint16_t>(tail() - head()); }

  static ring_word next(std::uint64_t old, unsigned head, unsigned tail) noexcept {
    return {(((old >> 32) + 1) << 32) | ((head & 0xffffu) << 16) | (tail & 0xffffu)};
  }
  ring_word pushed() const noexcept { return next(bits, head(), tail() + 1u); }
  ring_word pushed_first() const noexcept { return next(bits, 0, 1); }
  ring_word withdrawn() const noexcept { return next(bits, head(), tail() - 1u); }
  ring_word stolen() const noexcept { return next(bits, head() + 1u, tail()); }
};

template <class Record, std::uint32_t Capacity> class public_ring {
  static_assert((Capacity & (Capacity - 1)) == 0 && Capacity <= 0x8000);

public:
  bool empty() const noexcept { return count() == 0; }
  std::uint32_t count() const noexcept { return ring_word{word_.load(base::relaxed)}.count(); }

  // Lock held. The ring must not be full. `split` is what withdraw returns.
  void push(const entry<Record>& item, std::uintptr_t split) noexcept {
    ring_word word{word_.load(base::acquire)}; // T
    NOPAL_CHECK(word.count() < Capacity);
    // An empty ring begins anew at its first slot, which lies in the word's cache line. The slot is
    // written now, so it remains this one if thieves empty the ring meanwhile.
    const bool first = word.count() == 0;
    slot& free = slots_[first ? 0 : word.tail() % Capacity];
    free.record.store(item.record, base::relaxed);
    free.frame.store(item.frame, base::relaxed);
    free.group.store(item.group, base::relaxed);
    free.error.store(item.error, base::relaxed);
    free.split = split;
    while (!word_.compare_exchange_weak(
        word.bits, (first ? word.pushed_first() : word.pushed()).bits, base::release, // P
        base::relaxed)) {
    }
  }

  // Owner, lock held. True: the fork was the newest public one, nobody can take it any more, and
  // `split` is what push was given.
  bool withdraw(const Record* record, std::uintptr_t& split) noexcept {
    ring_word word{word_.load(base::relaxed)};
    while (word.count() != 0) {
      const slot& newest = slots_[(word.tail() - 1u) % Capacity];
      if (newest.record.load(base::relaxed) != record)
        return false;
      if (word_.compare_exchange_weak(word.bits, word.withdrawn().bits, base::relaxed, // B
                                      base::relaxed)) {
        split = newest.split;
        return true;
      }
    }
    return false;
  }

  // Any thread. One attempt at the oldest fork. `taken` is valid only if the outcome is `got`.
  outcome steal(const void* group, entry<Record>& taken) noexcept {
    ring_word word{word_.load(base::acquire)}; // S
    if (word.count() == 0)
      return outcome::empty;
    const slot& oldest = slots_[word.head() % Capacity];
    taken = {oldest.record.load(base::relaxed), oldest.frame.load(base::relaxed),
             oldest.group.load(base::relaxed), oldest.error.load(base::relaxed)};
    if (!may_take(group, taken.group))
      return outcome::foreign;
    will_write(taken.frame);
    return word_.compare_exchange_strong(word.bits, word.stolen().bits, base::release, // T
                                         base::relaxed)
               ? outcome::got
               : outcome::lost;
  }

  // Any thread. A hint that it changes the ring next.
  void will_change() const noexcept { arch::will_write(&word_); }

  // Any thread. Whether a thief that looks for this group (null: any) may take the oldest fork.
  bool holds(const void* group) const noexcept {
    const ring_word word{word_.load(base::acquire)}; // S
    return word.count() != 0 &&
           may_take(group, slots_[word.head() % Capacity].group.load(base::relaxed));
  }

private:
  struct slot {
    base::atomic<Record*> record{nullptr};
    base::atomic<typename Record::frame_type*> frame{nullptr};
    base::atomic<void*> group{nullptr};
    base::atomic<int> error{0};
    std::uintptr_t split = 0; // what the deque's split was before this fork; under the lock
  };

  base::atomic<std::uint64_t> word_{0};
  slot slots_[Capacity];
};

} // namespace nopal::inline NOPAL_ABI::deque
NOPAL_HIDDEN_END
