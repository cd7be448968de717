// SPDX-License-Identifier: MIT
// The walk through the forks that a strand stands in.
#include "nopal/sched/ancestry.h"

#include "nopal/base/count.h"
#include "nopal/join/cancelable.h"
#include "nopal/stack/marks.h"
#include "nopal/vproc/cancel_node.h"

#include <exception>

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
bool is_overtaken(const fork_record* child, const scope_frame* scope, bool is_private) noexcept {
  if (is_private && !scope->needs_join())
    return false;
  const std::int64_t epoch = is_private ? scope->steals() : child->steals_before;
  return scope->first_failure() < 2 * epoch;
}

// In all that follows `on` is the stack below all that is looked at; what lies in frames is read
// where all processes see it.
const join::region_frame* region_of(const fork_record* fork, stack::stack_id on) noexcept {
  return fork->kind() == join::fork_kind::region
             ? static_cast<const join::region_frame*>(stack::seen(on, fork->scope()))
             : nullptr;
}
const join::cancelable* node_of(const join::region_frame* frame, stack::stack_id on) noexcept {
  return stack::seen(on, frame->region);
}

enum class answer : std::uint8_t { passes, stops, shields };

// Whether the fork stops, or shields, a strand below its child with so many uncaught exceptions.
answer ask(const fork_record* fork, stack::stack_id on, bool is_private,
           unsigned uncaught) noexcept {
  const join::region_frame* const frame = region_of(fork, on);
  const bool is_shield = frame != nullptr && frame->region == nullptr;
  const scope_frame* const scope = stack::seen(on, fork->scope());
  if (is_shield || uncaught != (is_private ? scope->uncaught() : scope->state().uncaught))
    return answer::shields;
  const bool stops =
      frame != nullptr ? node_of(frame, on)->marked() : is_overtaken(fork, scope, is_private);
  return stops ? answer::stops : answer::passes;
}

// The fork at this address of the strand's stack.
answer ask(std::uintptr_t at, const fork_record* fork, const strand_at& strand) noexcept {
  if (strand.holder == nullptr)
    return ask(fork, strand.on, false, strand.uncaught);
  return strand.holder->deque.look_at(
      reinterpret_cast<const fork_record*>(at),
      [&](bool is_private) { return ask(fork, strand.on, is_private, strand.uncaught); });
}

base::count shields;

// The open forks of the stack where the strand stands, from there upwards.
struct seen {
  answer last = answer::passes; // of the fork that stops or shields; those above were not seen
  std::uintptr_t highest_at = 0;
  const fork_record* highest = nullptr; // where all processes see it
};
// `visit` is called for each fork that does not shield.
template <class Visit> seen look(const strand_at& strand, Visit visit) noexcept {
  seen forks;
  const stack::stack_id stack = stack::stack_of(strand.from, strand.on);
  const std::uintptr_t top = stack::frames_top(stack);
  const std::uintptr_t offset = stack::offset(stack);
  for (std::uintptr_t at = strand.from; (at = stack::marks::lowest(at, top, offset)) != 0;
       at += sizeof at) {
    forks.highest_at = at;
    forks.highest = reinterpret_cast<const fork_record*>(at + offset);
    forks.last = visit(forks.highest, ask(at, forks.highest, strand));
    if (forks.last != answer::passes)
      break;
  }
  return forks;
}

// How many exceptions are uncaught where strands of the stack begin.
unsigned uncaught_at(const origin& from, stack::stack_id on) noexcept {
  switch (from.tag) {
  case origin::kind::steal:
    return stack::seen(on, from.stolen)->state().uncaught;
  case origin::kind::first_child:
    return stack::seen(on, stack::seen(on, from.fork)->scope())->state().uncaught;
  case origin::kind::fiber:
    break;
  }
  return 0;
}

// The next step of the walk, from one stack to the stack that its strands come from.
struct step {
  answer at_origin;
  strand_at next; // where the walk goes on, if the origin passes; `from` is 0: nothing is above
};
constexpr strand_at nothing_above{0, nullptr, 0, stack::no_stack};

step above(const origin& from, const fork_record* highest, const strand_at& below) noexcept {
  const stack::stack_id on = below.on;
  if (below.uncaught != uncaught_at(from, on))
    return {answer::shields, nothing_above};
  switch (from.tag) {
  case origin::kind::steal: {
    // If a child of the scope is on the stack, the main path has left the stack.
    const bool is_main_path = highest == nullptr || highest->scope() != from.stolen;
    const scope_frame* const scope = stack::seen(on, from.stolen);
    return {is_main_path && scope->is_structured() && scope->overtaken() ? answer::stops
                                                                         : answer::passes,
            {scope->stack_pointer, nullptr, below.uncaught, on}};
  }
  case origin::kind::first_child:
    return {ask(stack::seen(on, from.fork), on, false, below.uncaught),
            {reinterpret_cast<std::uintptr_t>(from.fork), from.holder, below.uncaught, on}};
  case origin::kind::fiber:
    if (from.context == nullptr)
      return {answer::passes, nothing_above};
    break;
  }
  // The fiber begins without the exceptions of the caller, which has stopped with them.
  const vproc::fiber* const caller = from.context->computation->waiting;
  return {is_cancelled(from.context) ? answer::stops : answer::passes,
          {caller->stack_pointer, caller->left, caller->state.exceptions.uncaught, caller->on}};
}

// Calls `see` with each region above the strand and with the context of each fiber, the innermost
// first, up to the nearest shield. It goes on above what stops: others may be cancelled later, or
// earlier.
template <class See> void for_each_above(strand_at strand, See see) {
  const auto see_region = [&see, &strand](const fork_record* fork, answer given) {
    if (given == answer::shields)
      return given;
    if (const join::region_frame* const frame = region_of(fork, strand.on))
      see(node_of(frame, strand.on));
    return answer::passes;
  };
  answer last = answer::passes;
  while (last == answer::passes && stack::is_ours(strand.from)) {
    const origin& source = origin_of(stack::stack_of(strand.from, strand.on));
    const seen forks = look(strand, see_region);
    const step up = above(source, forks.highest, strand);
    last = forks.last != answer::passes ? forks.last
           : source.tag == origin::kind::first_child
               ? see_region(stack::seen(strand.on, source.fork), up.at_origin)
           : up.at_origin == answer::shields ? up.at_origin
                                             : answer::passes;
    if (last == answer::passes && source.tag == origin::kind::fiber && source.context != nullptr)
      see(static_cast<const fiber_context*>(source.context));
    strand = up.next;
  }
}

} // namespace

bool is_cancelled(const fiber_context* context) noexcept {
  return (context->cancels != nullptr && context->cancels->cancelled()) ||
         context->computation->failed.marked();
}

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
  return stack::stack_of_owners(below);
}

fiber_context* context_of(stack::stack_id stack) noexcept { return origin_of(stack).context; }

fiber_context* context_at(std::uintptr_t stack_pointer) noexcept {
  return stack::is_ours(stack_pointer) ? context_of(stack::stack_of(stack_pointer)) : nullptr;
}

fiber_context* current_context() noexcept {
  return vproc::on_strand() ? context_at(arch::stack_pointer()) : nullptr;
}

strand_at this_strand() noexcept {
  return {arch::stack_pointer(), vproc::current(),
          static_cast<unsigned>(std::uncaught_exceptions())};
}

bool is_to_stop(strand_at strand) noexcept {
  if (!stack::is_ours(strand.from))
    return false;
  origin& own = own_origin(stack::stack_of(strand.from, strand.on));
  // Without shields, what an earlier walk has found holds for all strands below it with as many
  // exceptions.
  const bool from_memory = !shields.any();
  if (from_memory && own.stopped.taken() && strand.uncaught == uncaught_at(own, strand.on))
    return true;
  const std::uintptr_t offset = stack::offset(stack::stack_of(strand.from, strand.on));
  if (from_memory && own.stops_at > strand.from && stack::marks::is_open(own.stops_at, offset) &&
      ask(own.stops_at, reinterpret_cast<const fork_record*>(own.stops_at + offset), strand) ==
          answer::stops)
    return true;
  const auto any = [](const fork_record*, answer given) { return given; };
  seen forks = look(strand, any);
  if (forks.last == answer::stops)
    own.stops_at = forks.highest_at;
  if (forks.last != answer::passes)
    return forks.last == answer::stops;
  step up = above(own, forks.highest, strand);
  while (up.at_origin == answer::passes && stack::is_ours(up.next.from)) {
    const strand_at outer = up.next;
    const origin& its = origin_of(stack::stack_of(outer.from, outer.on));
    forks = look(outer, any);
    if (forks.last == answer::passes && its.stopped.taken() &&
        outer.uncaught == uncaught_at(its, outer.on))
      forks.last = answer::stops;
    up = forks.last != answer::passes ? step{forks.last, nothing_above}
                                      : above(its, forks.highest, outer);
  }
  if (up.at_origin != answer::stops)
    return false;
  own.stopped.take(); // found above this stack, so true for all its strands
  return true;
}

std::vector<const join::cancelable*> nodes_above(strand_at strand) {
  std::vector<const join::cancelable*> all;
  struct {
    std::vector<const join::cancelable*>& seen;
    void operator()(const join::cancelable* region) const { seen.push_back(region); }
    void operator()(const fiber_context* fiber) const {
      if (fiber->cancels != nullptr)
        seen.push_back(fiber->cancels);
    }
  } add{all};
  for_each_above(strand, add);
  return all;
}

std::exception_ptr reason_above(strand_at strand) noexcept {
  std::exception_ptr found;
  struct {
    std::exception_ptr& first;
    void operator()(const join::cancelable* node) const noexcept {
      if (first == nullptr)
        first = node->reason();
    }
    void operator()(const fiber_context* fiber) const noexcept {
      if (fiber->cancels != nullptr)
        (*this)(fiber->cancels);
      (*this)(&fiber->computation->failed);
    }
  } keep{found};
  for_each_above(strand, keep);
  return found;
}

void note_shield_begins() noexcept { shields.add(); }
void note_shield_ends() noexcept { shields.subtract(); }

} // namespace nopal::inline NOPAL_ABI::sched
