// SPDX-License-Identifier: MIT
// The directory: a hash table of lines, and a row of counts for each thread.
//
// Updates are relaxed and not atomic as a whole: where two threads access a line at the same time,
// either order may be what is counted.
#include "bench/counted/directory.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace bench::counted {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr unsigned words = threads_max / 64;
constexpr int table_bits = 17;
constexpr unsigned probes_max = 256;
constexpr unsigned none = ~0u;

// Of plain words, since Clang counts a step for each atomic that is to be initialised.
struct alignas(64) line {
  std::uintptr_t number; // the address divided by 64; 0: not in use
  std::uint64_t holders[words];
};
constinit line table[std::size_t{1} << table_bits]{};

struct alignas(64) row {
  std::atomic<std::uint64_t> counts[names.size()];
};
constinit row rows[threads_max];

constinit std::atomic<unsigned> threads{0};
constinit std::atomic<std::uint32_t> sleepers{0};

thread_local constinit unsigned own_number = none;
thread_local constinit unsigned unnoticed_depth = 0;

unsigned this_thread() noexcept {
  if (own_number == none) {
    own_number = threads.fetch_add(1, relaxed);
    if (own_number >= threads_max) {
      std::fprintf(stderr, "counts are kept of at most %u threads\n", threads_max);
      std::abort();
    }
  }
  return own_number;
}

void add(unsigned thread, event what, std::uint64_t times) noexcept {
  std::atomic<std::uint64_t>& count = rows[thread].counts[static_cast<unsigned>(what)];
  count.store(count.load(relaxed) + times, relaxed);
}

// Returns null if there is no room.
line* find(const void* at) noexcept {
  const std::uintptr_t number = reinterpret_cast<std::uintptr_t>(at) >> 6;
  std::size_t place = (number * 0x9e3779b97f4a7c15) >> (64 - table_bits);
  for (unsigned probes = 0; probes < probes_max; ++probes) {
    line& entry = table[place];
    const std::atomic_ref its{entry.number};
    std::uintptr_t found = its.load(relaxed);
    if (found == 0 && its.compare_exchange_strong(found, number, relaxed))
      return &entry;
    if (found == number)
      return &entry;
    place = (place + 1) % std::size(table);
  }
  return nullptr;
}

constinit std::atomic<const known_parts*> parts{nullptr};

// Files of a room, and those of a baseline that stand for that room's.
constexpr std::array<std::pair<std::string_view, part>, 8> files{{
    {"/nopal/deque/", part::deque},
    {"/stack/marks.", part::deque},
    {"/baseline/chase_lev.h", part::deque},
    {"/baseline/the.h", part::deque},
    {"/nopal/join/", part::join},
    {"/baseline/locked.h", part::join},
    {"/baseline/eager_frame.h", part::join},
    {"/nopal/stack/", part::stacks},
}};

part part_by_file(std::string_view file) noexcept {
  for (const auto& [where, what] : files)
    if (file.find(where) != file.npos)
      return what;
  return part::others;
}

part part_of(const void* at, std::string_view file) noexcept {
  const known_parts* const known = parts.load(relaxed);
  part found = part_by_file(file);
  if (known == nullptr)
    return found;
  if (file.find("/nopal/base/") != file.npos)
    found = known->at_address(at);
  return found == part::deque && known->searches() ? part::search : found;
}

event of_part(event first, part what) noexcept {
  return static_cast<event>(static_cast<unsigned>(first) + static_cast<unsigned>(what));
}

std::atomic_ref<std::uint64_t> holders_of(line& held, unsigned word) noexcept {
  return std::atomic_ref{held.holders[word]};
}

unsigned others_that_hold(line& held, unsigned self) noexcept {
  unsigned count = 0;
  for (unsigned i = 0; i < words; ++i) {
    const std::uint64_t own = i == self / 64 ? std::uint64_t{1} << (self % 64) : 0;
    count += static_cast<unsigned>(std::popcount(holders_of(held, i).load(relaxed) & ~own));
  }
  return count;
}

} // namespace

// Out of line, so that a strand that has moved to another thread finds that thread's number: a
// compiler may keep the address of a thread-local variable across a change of stacks.
[[gnu::noinline]] void note(event what, std::uint64_t times) noexcept {
  if (unnoticed_depth == 0)
    add(this_thread(), what, times);
}

[[gnu::noinline]] void note_read(const void* at, const char* file) noexcept {
  if (unnoticed_depth != 0)
    return;
  const unsigned self = this_thread();
  line* const entry = find(at);
  if (entry == nullptr)
    return add(self, event::unknown_lines, 1);
  const std::uint64_t own = std::uint64_t{1} << (self % 64);
  if ((holders_of(*entry, self / 64).load(relaxed) & own) != 0)
    return;
  if (others_that_hold(*entry, self) != 0) {
    add(self, event::remote_reads, 1);
    add(self, of_part(event::deque_lines, part_of(at, file)), 1);
  }
  holders_of(*entry, self / 64).fetch_or(own, relaxed);
}

[[gnu::noinline]] void note_write(const void* at, const char* file) noexcept {
  if (unnoticed_depth != 0)
    return;
  const unsigned self = this_thread();
  line* const entry = find(at);
  if (entry == nullptr)
    return add(self, event::unknown_lines, 1);
  const unsigned others = others_that_hold(*entry, self);
  const std::uint64_t own = std::uint64_t{1} << (self % 64);
  if (others == 0 && (holders_of(*entry, self / 64).load(relaxed) & own) != 0)
    return;
  if (others != 0) {
    add(self, event::remote_writes, 1);
    add(self, event::copies_lost, others);
    add(self, of_part(event::deque_lines, part_of(at, file)), 1);
  }
  for (unsigned i = 0; i < words; ++i)
    holders_of(*entry, i).store(i == self / 64 ? own : 0, relaxed);
}

[[gnu::noinline]] void note_failed(const void* at, const char* file) noexcept {
  note(of_part(event::deque_failed, part_of(at, file)));
}

void tell_parts(const known_parts* known) noexcept { parts.store(known, relaxed); }

totals so_far() noexcept {
  totals sum{};
  for (const row& each : rows)
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] += each.counts[i].load(relaxed);
  return sum;
}

std::uint32_t asleep() noexcept { return sleepers.load(relaxed); }
void fall_asleep() noexcept { sleepers.fetch_add(1, relaxed); }
void wake_up(std::uint32_t count) noexcept { sleepers.fetch_sub(count, relaxed); }
std::uint32_t awake() noexcept { return threads.load(relaxed) - asleep(); }

[[gnu::noinline]] unnoticed::unnoticed() noexcept { ++unnoticed_depth; }
[[gnu::noinline]] unnoticed::~unnoticed() { --unnoticed_depth; }

} // namespace bench::counted
