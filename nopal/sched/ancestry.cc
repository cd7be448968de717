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

// Lies in the owner's room of each stack, which is zero until the stack is first used.
struct owners {
  origin from;
  sync::wait_word waits;
  join::descendant below;
};
static_assert(sizeof(owners) <= stack::owners_bytes);

owners& owners_of(stack::stack_id stack) noexcept {
  return *static_cast<owners*>(stack::owners_room(stack));
}
origin& own_origin(stack::stack_id stack) noexcept { return owners_of(stack).from; }

// Begins the origin of a stack; the caller sets the scope or the fork.
origin& begin_origin(stack::stack_id stack, origin::kind tag, fiber_context* context) noexcept {
  origin& own = own_origin(stack);
  owners_of(stack).below.remove(); // it was in no list, or nothing is above it
  own.tag = tag;
  own.stopped.reset(); // nothing is known of the strands that will run here
  own.context = context;
  own.holder = nullptr;
  own.stops_at = 0;
  return own;
}

// Whether a child comes serially after a failed one (join/README.md). The child of a private fork
// has not left the main path, so the scope's count of steals is its epoch.
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
  const fork_record* stopping = nullptr; // the lowest fork that stops; those above were not seen
  const fork_record* highest = nullptr;
  bool shielded = false; // one of them shields, and none below it stops
};
seen look(std::uintptr_t from, worker* holder) noexcept {
  seen forks;
  const std::uintptr_t top = stack::top(stack::stack_of(from)) - stack::top_margin;
  for (std::uintptr_t at = from; (at = stack::marks::lowest(at, top)) != 0; at += sizeof at) {
    forks.highest = reinterpret_cast<const fork_record*>(at);
    if (shields_children(forks.highest)) {
      forks.shielded = true;
      break;
    }
    if (stops(forks.highest, holder)) {
      forks.stopping = forks.highest;
      break;
    }
  }
  return forks;
}

bool is_cancelled(const fiber_context* context) noexcept {
  return context->cancels != nullptr && context->cancels->cancelled();
}

// The next step of the walk, from one stack to the stack that its strands come from.
struct step {
  bool stops = false;      // the strands stop because of their origin
  std::uintptr_t from = 0; // where the walk goes on; 0: nothing is above
  worker* holder = nullptr;
};

step above(const origin& from, const fork_record* highest) noexcept {
  switch (from.tag) {
  case origin::kind::steal: {
    // If a child of the scope is on the stack, the main path has left the stack.
    const scope_frame* const scope = from.stolen;
    const bool is_main_path = highest == nullptr || highest->scope() != scope;
    return {is_main_path && scope->is_structured() && scope->overtaken(), scope->stack_pointer,
            nullptr};
  }
  case origin::kind::first_child:
    if (shields_children(from.fork))
      return {};
    return {stops(from.fork, nullptr), reinterpret_cast<std::uintptr_t>(from.fork), from.holder};
  case origin::kind::fiber:
    if (from.context == nullptr)
      return {};
    break;
  }
  const vproc::fiber* const caller = from.context->computation->waiting;
  return {is_cancelled(from.context), caller->stack_pointer, caller->left};
}

} // namespace

sync::wait_word& wait_word_of(stack::stack_id stack) noexcept { return owners_of(stack).waits; }

void set_origin(stack::stack_id stack, const scope_frame* stolen) noexcept {
  fiber_context* const context = context_at(stolen->stack_pointer);
  begin_origin(stack, origin::kind::steal, context).stolen = const_cast<scope_frame*>(stolen);
}

void set_origin(stack::stack_id stack, const fork_record* first_child, worker* outer) noexcept {
  fiber_context* const context = context_at(reinterpret_cast<std::uintptr_t>(first_child));
  origin& own = begin_origin(stack, origin::kind::first_child, context);
  own.fork = first_child;
  own.holder = outer;
}

void set_origin(stack::stack_id stack, fiber_context* begins) noexcept {
  begin_origin(stack, origin::kind::fiber, begins).stolen = nullptr;
}

void forget_context(stack::stack_id stack) noexcept { own_origin(stack).context = nullptr; }

const origin& origin_of(stack::stack_id stack) noexcept { return own_origin(stack); }

join::descendant& descendant_of(stack::stack_id stack) noexcept { return owners_of(stack).below; }
stack::stack_id stack_of(const join::descendant* below) noexcept {
  return stack::stack_of(reinterpret_cast<std::uintptr_t>(below));
}

fiber_context* context_of(stack::stack_id stack) noexcept { return origin_of(stack).context; }

fiber_context* context_at(std::uintptr_t stack_pointer) noexcept {
  return stack::is_ours(stack_pointer) ? context_of(stack::stack_of(stack_pointer)) : nullptr;
}

fiber_context* current_context() noexcept {
  return vproc::on_strand() ? context_at(arch::stack_pointer()) : nullptr;
}

bool is_to_stop(std::uintptr_t from, worker* holder) noexcept {
  if (!stack::is_ours(from))
    return false;
  origin& own = own_origin(stack::stack_of(from));
  // Without shields, what an earlier walk has found holds for all strands below it.
  const bool from_memory = !shields.any();
  if (from_memory && own.stopped.taken())
    return true;
  if (from_memory && own.stops_at > from && stack::marks::is_open(own.stops_at) &&
      stops(reinterpret_cast<const fork_record*>(own.stops_at), holder))
    return true;
  seen forks = look(from, holder);
  if (forks.shielded)
    return false;
  if (forks.stopping != nullptr) {
    own.stops_at = reinterpret_cast<std::uintptr_t>(forks.stopping);
    return true;
  }
  step next = above(own, forks.highest);
  while (!next.stops && stack::is_ours(next.from)) {
    const origin& outer = own_origin(stack::stack_of(next.from));
    forks = look(next.from, next.holder);
    if (forks.shielded)
      return false;
    next = outer.stopped.taken() || forks.stopping != nullptr ? step{true}
                                                              : above(outer, forks.highest);
  }
  if (next.stops)
    own.stopped.take(); // found above this stack, so true for all its strands
  return next.stops;
}

bool in_cancelled_region(const fork_record* fork) noexcept {
  const join::region_frame* const frame = region_of(fork);
  return frame != nullptr && frame->region != nullptr && frame->region->cancelled();
}

std::vector<const join::cancelable*> regions_above(std::uintptr_t from) {
  std::vector<const join::cancelable*> all;
  // False: the fork shields what is below it.
  const auto add = [&all](const fork_record* fork) {
    if (const join::region_frame* const frame = region_of(fork);
        frame != nullptr && frame->region != nullptr)
      all.push_back(frame->region);
    return !shields_children(fork);
  };
  while (stack::is_ours(from)) {
    const stack::stack_id on = stack::stack_of(from);
    const std::uintptr_t top = stack::top(on) - stack::top_margin;
    const fork_record* highest = nullptr;
    for (std::uintptr_t at = from; (at = stack::marks::lowest(at, top)) != 0; at += sizeof at)
      if (!add(highest = reinterpret_cast<const fork_record*>(at)))
        return all;
    const origin& source = own_origin(on);
    if (source.tag == origin::kind::first_child && !add(source.fork))
      return all;
    from = above(source, highest).from;
  }
  return all;
}

void note_shield_begins() noexcept { shields.add(); }
void note_shield_ends() noexcept { shields.subtract(); }

} // namespace nopal::inline NOPAL_ABI::sched
