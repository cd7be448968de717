// SPDX-License-Identifier: MIT
// Which stacks a view consists of, and the fewest system calls that change it.
#include "nopal/stack/view.h"

#include "nopal/base/atomic.h"
#include "nopal/base/check.h"
#include "nopal/base/limits.h"
#include "nopal/base/os.h"
#include "nopal/base/shared.h"
#include "nopal/stack/stack.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace nopal::stack::view {

range where;

namespace {

constexpr std::uintptr_t kGuard = std::uintptr_t{64} << 20;
constexpr std::uintptr_t kPlain = ~std::uintptr_t{0};

struct alignas(64) segment {
  std::uintptr_t top;
  stack_id parent;
  std::byte owners[owners_bytes];
};
segment* segments = nullptr; // one for each large stack
std::size_t most = 0;

segment& segment_of(stack_id stack) noexcept { return segments[large_ones.number_of(stack)]; }

// A part of a view: from `low` up to the part before it, or the view's end, it shows this stack.
struct part {
  std::uintptr_t low;
  stack_id of;
};
// What a process shows, the highest part first.
struct parts {
  part* all;
  std::size_t count;
};
struct shown {
  parts now;
  parts next; // room for the next ones
  stack_id leaf;
};
thread_local shown mine{};

alignas(64) base::atomic<std::uint64_t> shows{0};
base::atomic<std::uint64_t> maps{0};

parts room_for_parts() noexcept {
  void* const room = base::map_zeroed(most * sizeof(part));
  NOPAL_ASSERT(room != nullptr, "no memory for a view of %zu stacks: %s", most,
               base::why_refused(most * sizeof(part)).text);
  return {static_cast<part*>(room), 0};
}

// The parts of a view of this stack: each stack from its top down to that of its child.
void list(stack_id leaf, parts& to) noexcept {
  std::size_t count = 0;
  for (stack_id stack = leaf; stack != no_stack; stack = segment_of(stack).parent)
    ++count;
  to.count = count;
  std::uintptr_t low = where.low;
  for (stack_id stack = leaf; stack != no_stack; stack = segment_of(stack).parent) {
    to.all[--count] = {low, stack};
    low = segment_of(stack).top;
  }
}

void map(std::uintptr_t low, std::uintptr_t high, stack_id stack) noexcept {
  maps.fetch_add(1, base::relaxed);
  NOPAL_ASSERT(base::shared->map_again(low + offset(stack), low, high - low, false),
               "the kernel refused to map a part of a stack: %s; a process may have "
               "vm.max_map_count mappings",
               std::strerror(errno));
}

// Maps what of [low, high) does not show the stack yet. `at` is the first of the parts that are
// shown now which may reach below `high`; it moves on.
void change(std::uintptr_t low, std::uintptr_t high, stack_id stack, std::size_t& at) noexcept {
  const parts& now = mine.now;
  std::uintptr_t differs = 0; // where an unfinished range begins that shows something else
  while (high > low) {
    while (at < now.count && now.all[at].low >= high)
      ++at;
    const bool known = at < now.count;
    const bool same = known && now.all[at].of == stack;
    if (!same && differs == 0)
      differs = high;
    if (same && differs != 0) {
      map(high, differs, stack);
      differs = 0;
    }
    high = known && now.all[at].low > low ? now.all[at].low : low;
  }
  if (differs != 0)
    map(low, differs, stack);
}

} // namespace

void open(std::size_t stack_bytes, std::size_t stacks) noexcept {
  if (base::shared == nullptr)
    return;
  NOPAL_ASSERT(stack_bytes + kGuard <= base::shared->view_room,
               "where workers are processes, a stack has at most %zu MiB; lower NOPAL_STACK_SIZE",
               (base::shared->view_room - kGuard) >> 20);
  most = stacks;
  segments = static_cast<segment*>(base::map_zeroed(stacks * sizeof(segment)));
  NOPAL_ASSERT(segments != nullptr, "no memory for a table of %zu stacks: %s", stacks,
               base::why_refused(stacks * sizeof(segment)).text);
  where = {base::shared->view_end - stack_bytes, base::shared->view_end, kGuard};
}

void begin(stack_id stack, std::uintptr_t frame_low, stack_id parent) noexcept {
  segment& own = segment_of(stack);
  const bool below = holds(frame_low);
  const std::uintptr_t top = below ? frame_low & ~(base::page_size() - 1) : where.end;
  const std::uintptr_t used = std::min(own.top, where.end); // 0 in a new stack
  own.top = top;
  if (top < used)
    base::discard(reinterpret_cast<void*>(top + offset(stack)), used - top);
  own.parent = below ? parent : no_stack;
}

void begin_plain(stack_id stack) noexcept { segment_of(stack).top = kPlain; }

std::uintptr_t top(stack_id stack) noexcept { return segment_of(stack).top; }

void show(stack_id leaf) noexcept {
  if (!is_viewed(leaf))
    return;
  if (mine.now.all == nullptr)
    mine = {room_for_parts(), room_for_parts(), no_stack};
  list(leaf, mine.next);
  std::uintptr_t high = where.end;
  std::size_t at = 0;
  for (std::size_t i = 0; i < mine.next.count; ++i) {
    change(mine.next.all[i].low, high, mine.next.all[i].of, at);
    high = mine.next.all[i].low;
  }
  const parts before = mine.now;
  mine = {mine.next, before, leaf};
  shows.fetch_add(1, base::relaxed);
}

stack_id leaf() noexcept { return mine.leaf; }

stack_id home(stack_id on, std::uintptr_t address) noexcept {
  while (on != no_stack && address >= segment_of(on).top)
    on = segment_of(on).parent;
  return on;
}

void* owners_room(stack_id stack) noexcept { return segment_of(stack).owners; }

counts counted() noexcept { return {shows.load(base::relaxed), maps.load(base::relaxed)}; }

} // namespace nopal::stack::view
