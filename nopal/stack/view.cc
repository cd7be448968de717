// SPDX-License-Identifier: MIT
// Which stacks a view consists of, and the fewest system calls that change it.
#include "nopal/stack/view.h"

#include "nopal/base/atomic.h"
#include "nopal/base/check.h"
#include "nopal/base/limits.h"
#include "nopal/base/os.h"
#include "nopal/base/shared.h"
#include "nopal/stack/view_parts.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

// Whether this is there was decided when the program was linked.
NOPAL_HIDDEN_BEGIN
extern "C" [[gnu::weak]] const char nopal_plain_stacks;
NOPAL_HIDDEN_END

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack::view {

range where;

namespace {

constexpr std::uintptr_t kGuard = std::uintptr_t{64} << 20;
constexpr std::uintptr_t kPlain = ~std::uintptr_t{0};

struct alignas(64) entry : segment {
  std::byte owners[owners_bytes];
  base::handed_over<std::uintptr_t> frame_low{0}; // the parent's frame's, below which it begins
};
const slot_range* stacks = nullptr;
entry* entries = nullptr; // one for each of them

entry& entry_of(stack_id stack) noexcept { return entries[stacks->number_of(stack)]; }

// What a process shows, and room for what it shows next.
struct shown {
  parts now, next;
  std::size_t now_room = 0, next_room = 0;
  stack_id leaf = no_stack;

  void make_room(std::size_t count) noexcept {
    if (count <= next_room)
      return;
    next_room = 2 * count;
    void* const room = std::realloc(next.all, next_room * sizeof(part));
    NOPAL_ASSERT(room != nullptr, "no memory for a view of %zu stacks", count);
    next.all = static_cast<part*>(room);
  }
  void show_next(stack_id shows) noexcept {
    std::swap(now, next);
    std::swap(now_room, next_room);
    leaf = shows;
  }
};
thread_local constinit shown mine;
// Frees the room when a thread ends, though destructors of other objects may fork after that.
struct room_of_thread {
  ~room_of_thread() {
    std::free(mine.now.all);
    std::free(mine.next.all);
    mine = {};
  }
};
thread_local const room_of_thread room;

alignas(64) base::atomic<std::uint64_t> shows{0};
base::atomic<std::uint64_t> maps{0};

void map(std::uintptr_t low, std::uintptr_t high, const part& shown) noexcept {
  const std::uintptr_t offset = stacks->top(shown.shows) - shown.top;
  maps.fetch_add(1, base::relaxed);
  NOPAL_ASSERT(base::shared->map_again(low + offset, low, high - low, false),
               "the kernel refused to map a part of a stack: %s; a process may have "
               "vm.max_map_count mappings",
               std::strerror(errno));
}

} // namespace

void open(const slot_range& range) noexcept {
  if (base::shared == nullptr)
    return;
  NOPAL_ASSERT(range.stack_bytes + kGuard <= base::shared->view_room,
               "where workers are processes, a stack has at most %zu MiB; lower NOPAL_STACK_SIZE",
               (base::shared->view_room - kGuard) >> 20);
  stacks = &range;
  entries = static_cast<entry*>(base::map_zeroed(range.capacity * sizeof(entry)));
  NOPAL_ASSERT(entries != nullptr, "no memory for a table of %zu stacks: %s", range.capacity,
               base::why_refused(range.capacity * sizeof(entry)).text);
  where = {base::shared->view_end - range.stack_bytes, base::shared->view_end, kGuard};
}

void begin(stack_id stack, std::uintptr_t frame_low, stack_id parent) noexcept {
  if (&nopal_plain_stacks != nullptr)
    return begin_plain(stack);
  const bool below = holds(frame_low);
  entry& begun = entry_of(stack);
  begun.frame_low = frame_low;
  begun.top = below ? top_below(frame_low, base::page_size()) : where.end;
  begun.parent = below ? parent : no_stack;
}

void begin_plain(stack_id stack) noexcept {
  entry_of(stack).top = kPlain;
  entry_of(stack).parent = no_stack;
}

std::uintptr_t top(stack_id stack) noexcept { return entry_of(stack).top; }

void show(stack_id leaf) noexcept {
  if (!stacks->hold(leaf) || top(leaf) > where.end)
    return; // a small stack, or a plain one
  static_cast<void>(&room);
  mine.make_room(parts_of(leaf, entry_of));
  list(leaf, where.low, entry_of, mine.next);
  change(mine.now, mine.next, where.end, map);
  mine.show_next(leaf);
  shows.fetch_add(1, base::relaxed);
}

stack_id leaf() noexcept { return mine.leaf; }

stack_id home(stack_id on, std::uintptr_t address) noexcept { return home(on, address, entry_of); }

bool shows_frame(stack_id on, std::uintptr_t lowest, std::uintptr_t address) noexcept {
  for (; on != no_stack && address >= top(on); on = entry_of(on).parent)
    lowest = entry_of(on).frame_low;
  return on != no_stack && address >= lowest;
}

void* owners_room(stack_id stack) noexcept { return entry_of(stack).owners; }

stack_id stack_of_owners(const void* in_room) noexcept {
  const auto offset =
      reinterpret_cast<std::uintptr_t>(in_room) - reinterpret_cast<std::uintptr_t>(entries);
  return offset / sizeof(entry) < stacks->capacity ? stacks->start(offset / sizeof(entry))
                                                   : no_stack;
}

counts counted() noexcept { return {shows.load(base::relaxed), maps.load(base::relaxed)}; }

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack::view
