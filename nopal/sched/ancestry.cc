// SPDX-License-Identifier: MIT
// The walk through the forks that a strand stands in.
#include "nopal/sched/ancestry.h"

#include "nopal/base/count.h"
#include "nopal/join/cancelable.h"
#include "nopal/stack/marks.h"
#include "nopal/vproc/cancel_node.h"

#include <new>

namespace nopal::inline NOPAL_ABI::sched {
namespace {

// The word of a stack that was never used is zero.
struct owners {
  origin from;
  sync::wait_word waits;
};
static_assert(sizeof(owners) <= stack::owners_bytes);

owners& owners_of(stack::stack_id of) noexcept {
  return *static_cast<owners*>(stack::owners_room(of));
}
origin& origin_of(stack::stack_id of) noexcept { return owners_of(of).from; }

void set(stack::stack_id of, const origin& from) noexcept {
  origin& here = origin_of(of);
  here.what = from.what;
  here.stopped.reset();
  here.context = from.context;
  if (from.what == origin::kind::first_child)
    here.fork = from.fork;
  else
    here.stolen = from.stolen;
  here.holder = from.holder;
  here.stops_at = 0;
}

// The children of a scope stop from the first that comes after a failed one (join/README.md). The
// child of a private fork has not left the main path, and knows of all steals before it.
bool is_overtaken(const fork_record* child, bool is_private) noexcept {
  const scope_frame* const scope = child->scope();
  if (is_private && !scope->needs_join())
    return false;
  const std::int64_t epoch = is_private ? scope->steals() : child->steals_before;
  return scope->first_failure() < 2 * epoch;
}

const join::region_frame* region_of(const fork_record* fork) noexcept {
  return fork->kind() == join::fork_kind::region
             ? static_cast<const join::region_frame*>(fork->scope())
             : nullptr;
}

bool shields_children(const fork_record* fork) noexcept {
  const join::region_frame* const frame = region_of(fork);
  return frame != nullptr && frame->region == nullptr;
}

bool stops(const fork_record* fork, worker* holder) noexcept {
  if (const join::region_frame* const frame = region_of(fork))
    return frame->region->marked();
  if (holder == nullptr)
    return is_overtaken(fork, false);
  return holder->deque.look_at(fork,
                               [fork](bool is_private) { return is_overtaken(fork, is_private); });
}

base::count shields;

// The open forks of a stack from this address upwards.
struct seen {
  const fork_record* stopping = nullptr; // the lowest one that stops; those above it were not seen
  const fork_record* highest = nullptr;
  bool shielded = false; // by one of them, and none below it stops
};
seen look(std::uintptr_t from, worker* holder) noexcept {
  seen here;
  const std::uintptr_t top = stack::top(stack::stack_of(from)) - stack::top_margin;
  for (std::uintptr_t at = from; (at = stack::marks::lowest(at, top)) != 0; at += sizeof at) {
    here.highest = reinterpret_cast<const fork_record*>(at);
    if (shields_children(here.highest)) {
      here.shielded = true;
      break;
    }
    if (stops(here.highest, holder)) {
      here.stopping = here.highest;
      break;
    }
  }
  return here;
}

bool is_cancelled(const fiber_context* of) noexcept {
  return of->cancels != nullptr && of->cancels->cancelled();
}

// Where the strands of a stack come from: whether they stop because of that, and how to go on.
struct step {
  bool stops = false;
  std::uintptr_t from = 0; // 0: nothing is above
  worker* holder = nullptr;
};

step above(const origin& here, const fork_record* highest) noexcept {
  switch (here.what) {
  case origin::kind::steal: {
    // Where a child of the scope is on the stack, the main path has left it.
    const scope_frame* const scope = here.stolen;
    const bool is_main_path = highest == nullptr || highest->scope() != scope;
    return {is_main_path && scope->is_structured() && scope->overtaken(), scope->stack_pointer,
            nullptr};
  }
  case origin::kind::first_child:
    if (shields_children(here.fork))
      return {};
    return {stops(here.fork, nullptr), reinterpret_cast<std::uintptr_t>(here.fork), here.holder};
  case origin::kind::fiber:
    if (here.context == nullptr)
      return {};
    break;
  }
  const vproc::fiber* const caller = here.context->in->waiting;
  return {is_cancelled(here.context), caller->stack_pointer, caller->left};
}

} // namespace

sync::wait_word& wait_word_of(stack::stack_id of) noexcept { return owners_of(of).waits; }

void set_origin(stack::stack_id of, const scope_frame* stolen) noexcept {
  set(of, {.what = origin::kind::steal,
           .stopped = {},
           .context = context_at(stolen->stack_pointer),
           .stolen = const_cast<scope_frame*>(stolen)});
}

void set_origin(stack::stack_id of, const fork_record* first_child, worker* outer) noexcept {
  set(of, {.what = origin::kind::first_child,
           .stopped = {},
           .context = context_at(reinterpret_cast<std::uintptr_t>(first_child)),
           .fork = first_child,
           .holder = outer});
}

void set_origin(stack::stack_id of, fiber_context* begins) noexcept {
  set(of, {.what = origin::kind::fiber, .stopped = {}, .context = begins, .stolen = nullptr});
}

void forget_context(stack::stack_id of) noexcept { origin_of(of).context = nullptr; }

fiber_context* context_of(stack::stack_id of) noexcept { return origin_of(of).context; }

fiber_context* context_at(std::uintptr_t stack_pointer) noexcept {
  return stack::is_ours(stack_pointer) ? context_of(stack::stack_of(stack_pointer)) : nullptr;
}

fiber_context* current_context() noexcept {
  return vproc::on_strand() ? context_at(arch::stack_pointer()) : nullptr;
}

bool is_to_stop(std::uintptr_t from, worker* holder) noexcept {
  if (!stack::is_ours(from))
    return false;
  origin& own = origin_of(stack::stack_of(from));
  const bool from_memory = !shields.any(); // what was found before holds for all below it
  if (from_memory && own.stopped.taken())
    return true;
  if (from_memory && own.stops_at > from && stack::marks::is_open(own.stops_at) &&
      stops(reinterpret_cast<const fork_record*>(own.stops_at), holder))
    return true;
  seen here = look(from, holder);
  if (here.shielded)
    return false;
  if (here.stopping != nullptr) {
    own.stops_at = reinterpret_cast<std::uintptr_t>(here.stopping);
    return true;
  }
  step next = above(own, here.highest);
  while (!next.stops && stack::is_ours(next.from)) {
    const origin& there = origin_of(stack::stack_of(next.from));
    here = look(next.from, next.holder);
    if (here.shielded)
      return false;
    next =
        there.stopped.taken() || here.stopping != nullptr ? step{true} : above(there, here.highest);
  }
  if (next.stops)
    own.stopped.take();
  return next.stops;
}

bool in_cancelled_region(const fork_record* fork) noexcept {
  const join::region_frame* const frame = region_of(fork);
  return frame != nullptr && frame->region != nullptr && frame->region->cancelled();
}

namespace {
// False: the frame shields what is in it.
bool note(const join::region_frame* frame, std::vector<const join::cancelable*>& in) {
  if (frame != nullptr && frame->region != nullptr)
    in.push_back(frame->region);
  return frame == nullptr || frame->region != nullptr;
}
} // namespace

std::vector<const join::cancelable*> regions_above(std::uintptr_t from) {
  std::vector<const join::cancelable*> all;
  while (stack::is_ours(from)) {
    const stack::stack_id on = stack::stack_of(from);
    const std::uintptr_t top = stack::top(on) - stack::top_margin;
    const fork_record* highest = nullptr;
    for (std::uintptr_t at = from; (at = stack::marks::lowest(at, top)) != 0; at += sizeof at) {
      highest = reinterpret_cast<const fork_record*>(at);
      if (const join::region_frame* const frame = region_of(highest); !note(frame, all))
        return all;
    }
    const origin& there = origin_of(on);
    if (there.what == origin::kind::first_child)
      if (const join::region_frame* const frame = region_of(there.fork); !note(frame, all))
        return all;
    from = above(there, highest).from;
  }
  return all;
}

void note_shield_begins() noexcept { shields.add(); }
void note_shield_ends() noexcept { shields.subtract(); }

} // namespace nopal::inline NOPAL_ABI::sched
