// SPDX-License-Identifier: MIT
// Models of views (stack/view.h): workers that are processes play fork-join programs (calls.h).
//
// Each frame is written through the view of the worker that runs it. At each step a strand looks at
// the frames of all its ancestors through its worker's view, and compares what the worker shows
// with what the stacks say (V1). A page has four units; a frame shares one with the child below it
// (V3). A unit that two workers use without an order between them is a race; what is left or given
// back is 0, and nobody may read it. A function goes on at the step that its frame says, and a
// child writes its result into its caller's frame. A stack's memory ends at its top.
//
// Covered: a frame that is stolen twice, its joins by each strand; thieves of thieves, four stacks
// deep; a stack that begins lower and higher than before, amid views that show it as it was; dead
// pages that are given back at once, or by others while thieves have the ancestors mapped;
// reclaimers that go on; strands that wait.
//
// The calls and their order are those of sched/schedule.cc (resume, child_ended), sched/forks.cc
// (child_returned, main_path_waits), sched/park.cc (strand_waits, run), sched/views.cc,
// sched/steal.cc (reclaim_stacks), join/scope_frame.cc (complete), stack/stack.cc (take, release)
// and stack/pages.cc (retire).
#include "calls.h"
#include "harness.h"

#include "nopal/base/free_list.h"
#include "nopal/deque/public_ring.h"
#include "nopal/join/wait_free.h"
#include "nopal/stack/retirement.h"
#include "nopal/stack/view_parts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

namespace nopal::model {
namespace {

namespace view = stack::view;
using deque::outcome;
using stack::no_stack;
using stack::stack_id;

constexpr std::uintptr_t page = 4;
constexpr std::uintptr_t low = 16 * page;
constexpr std::uintptr_t end = low + 8 * page;
constexpr std::size_t pages = (end - low) / page;
constexpr std::uint32_t most_stacks = 8;

struct scope {
  int function = none;
  join::wait_free join;
  base::handed_over<stack_id> home{no_stack};
  base::handed_over<std::uintptr_t> low{0};
};
struct fiber {
  int function = none;
  base::handed_over<stack_id> on{no_stack};
  base::handed_over<std::uintptr_t> pointer{0};
};
struct fork_record {
  using frame_type = scope;
};

struct memory {
  base::free_list::link next{0};
  view::segment segment;
  stack::retirement retired;
  base::handed_over<int> units[end - low];

  // Where the memory has what a view shows at an address.
  std::uintptr_t place(std::uintptr_t address) noexcept { return address + end - segment.top; }
};

// A worker, and what its process shows.
struct process {
  view::part shows[pages]{};
  view::part room[2][most_stacks];
  view::parts now{room[0], 0};
  view::parts next{room[1], 0};
  stack_id leaf = no_stack;
  stack_id stack = no_stack;    // its strand's, or an empty one
  std::uintptr_t pointer = end; // its strand's stack pointer
  deque::public_ring<fork_record, 4> ring;
};

enum class dead_pages { at_once, later };
using enum dead_pages;

template <class Program, int Workers, dead_pages Dead>
struct views : scenario<views<Program, Workers, Dead>, Workers> {
  memory stacks[most_stacks];
  base::free_list pool;
  process workers[Workers];
  scope scopes[most_functions];
  fiber fibers[most_functions];
  base::atomic<fiber*> ready{nullptr};
  fork_record records[most_functions];
  base::atomic<bool> over{false};

  // The model's own notes.
  std::uintptr_t lows[most_functions]{};
  int result = no_result;

  static constexpr const call& code(int function) noexcept { return Program::calls[function]; }

  memory& at(stack_id stack) noexcept {
    check(stack != no_stack, "nothing is mapped at an address");
    return stacks[stack - 1];
  }
  auto segments() noexcept {
    return [this](stack_id stack) -> view::segment& { return at(stack).segment; };
  }

  void before() {
    pool.open(stacks, sizeof stacks[0]);
    for (std::size_t i = 0; i < std::size(Program::calls); ++i)
      scopes[i].function = fibers[i].function = static_cast<int>(i);
  }

  void thread(unsigned self) {
    process& own = workers[self];
    if (self == 0) {
      own.stack = acquire();
      see_below(own, end, no_stack);
      run(own, enter(own, 0));
    }
    while (!over.load(base::relaxed)) {
      int function = go_on(own);
      for (unsigned i = 1; i < Workers && function == none; ++i)
        function = steal(own, workers[(self + i) % Workers]);
      if (function == none)
        function = reclaim(own);
      if (function == none)
        base::spin_pause();
      run(own, function);
    }
  }

  void after() {
    check(result == static_cast<int>(std::size(Program::calls)), "a result is wrong");
    for (memory& each : stacks)
      for (base::handed_over<int>& unit : each.units)
        check(unit == nothing || unit == linkage, "a frame is left behind");
  }

  // What a process sees.
  base::handed_over<int>& unit(const process& own, std::uintptr_t address) noexcept {
    check(address >= low && address < end, "an address lies outside of the view");
    const view::part& shown = own.shows[(address - low) / page];
    return at(shown.shows).units[address + end - shown.top - low];
  }
  int read(const process& own, std::uintptr_t address) noexcept {
    const int value = unit(own, address);
    check(value != nothing, "what was left, or given back, is read");
    return value;
  }
  void write(const process& own, std::uintptr_t address, int value) noexcept {
    unit(own, address) = value;
  }
  void look(const process& own, int function) noexcept {
    for (std::uintptr_t address = own.pointer; address < end; ++address) {
      const view::part& shown = own.shows[(address - low) / page];
      const stack_id home = view::home(own.leaf, address, segments());
      check(shown.shows == home && shown.top == at(home).segment.top,
            "a worker shows another stack than its strand should see");
    }
    for (; function != none; function = code(function).caller)
      check(read(own, lows[function] + name_at) == function + 1, "an ancestor's frame is another");
  }

  void show(process& own, stack_id leaf) noexcept {
    view::list(leaf, low, segments(), own.next);
    view::change(own.now, own.next, end,
                 [&own](std::uintptr_t from, std::uintptr_t to, const view::part& wanted) {
                   check(from < to && from % page == 0 && to % page == 0, "no pages are mapped");
                   for (std::uintptr_t address = from; address < to; address += page)
                     own.shows[(address - low) / page] = wanted;
                 });
    std::swap(own.now, own.next);
    own.leaf = leaf;
  }
  void see_below(process& own, std::uintptr_t frame_low, stack_id parent) noexcept {
    view::segment& begun = at(own.stack).segment;
    begun.top = view::top_below(frame_low, page);
    begun.parent = parent;
    show(own, own.stack);
    own.pointer = begun.top;
  }

  // Stacks.
  static void discard(memory& in, std::uintptr_t from, std::uintptr_t to) noexcept {
    for (std::uintptr_t place = from; place < to; ++place)
      in.units[place - low] = nothing;
  }
  stack_id acquire() noexcept {
    for (std::uint32_t pooled; (pooled = pool.take()) != base::free_list::none;)
      if (reuse(pooled + 1, {}))
        return pooled + 1;
    const std::uint32_t number = pool.create(most_stacks);
    check(number != base::free_list::none, "there are more stacks than the program needs");
    return number + 1;
  }
  void release(stack_id unused) noexcept {
    retire(unused, at(unused).segment.top);
    pool.put(static_cast<std::uint32_t>(unused - 1));
  }
  void retire(stack_id left, std::uintptr_t from) noexcept {
    memory& stack_left = at(left);
    const std::uintptr_t high = stack_left.place(from) & ~(page - 1);
    stack::charge charged{0, true};
    if (Dead == later)
      charged = {static_cast<std::uint32_t>((high - low) / page), false};
    else
      discard(stack_left, low, high);
    stack_left.retired.retire(high, charged);
  }
  bool reuse(stack_id wanted, stack::handoff to_do) noexcept {
    stack::charge charged;
    return at(wanted).retired.reuse(to_do, charged);
  }
  // Returns the function that goes on, or none.
  int reclaim(process& own) noexcept {
    if (Dead == at_once)
      return none;
    for (stack_id stack = 1; stack <= pool.created(); ++stack) {
      memory& found = at(stack);
      stack::charge charged;
      stack::handoff to_do;
      if (!found.retired.claim(charged, true))
        continue;
      discard(found, low, found.retired.frames());
      if (!found.retired.give_back(charged, {0, true}, to_do))
        continue;
      if (to_do.frame == nullptr) {
        pool.put(static_cast<std::uint32_t>(stack - 1));
        continue;
      }
      if (to_do.group == nullptr)
        return go_on(own, *static_cast<fiber*>(to_do.frame));
      scope& main_path = *static_cast<scope*>(to_do.frame);
      show(own, main_path.home);
      return joined(own, main_path.function);
    }
    return none;
  }

  // Strands. Each step returns the function that goes on, or none: the strand has left the worker.
  void run(process& own, int function) noexcept {
    while (function != none) {
      look(own, function);
      function = step(own, function);
    }
  }
  int step(process& own, int function) noexcept {
    const int number = read(own, lows[function] + step_at);
    const char* const now = code(function).steps + number - 1;
    if (*now == '\0')
      return leave(own, function);
    write(own, lows[function] + step_at, number + (calls(*now) ? 2 : 1));
    if (*now == 'w')
      return own.ring.empty() ? wait(own, fibers[function]) : function;
    if (*now == 'j')
      return scopes[function].join.steals() == 0 ? function : main_path_waits(own, function);
    const int child = now[1] - '0';
    if (*now == 'f')
      publish(own, function, records[child]);
    return enter(own, child);
  }
  int enter(process& own, int function) noexcept {
    const std::uintptr_t units = code(function).units;
    own.pointer -= units;
    lows[function] = own.pointer;
    for (std::uintptr_t i = 0; i < units; ++i) {
      const int before = unit(own, own.pointer + i);
      check(before == nothing || before == linkage, "a frame begins where another lies");
      write(own, own.pointer + i, no_result);
    }
    write(own, own.pointer + name_at, function + 1);
    write(own, own.pointer + step_at, 1);
    return function;
  }
  int leave(process& own, int function) noexcept {
    const call& ends = code(function);
    int sum = 1;
    for (std::uintptr_t i = results_at; i < ends.units; ++i)
      sum += std::max(read(own, lows[function] + i), 0);
    for (std::uintptr_t i = 0; i < ends.units; ++i)
      write(own, lows[function] + i, nothing);
    own.pointer += ends.units;
    if (ends.caller == none) {
      result = sum;
      over.store(true, base::relaxed);
      return none;
    }
    const callee child = find(function, code(ends.caller));
    write(own, lows[ends.caller] + child.result_at, sum);
    if (child.how == 'c')
      return ends.caller;
    base::spin_pause(); // thieves come
    std::uintptr_t split = 0;
    return own.ring.withdraw(&records[function], split) ? ends.caller
                                                        : child_ended(own, ends.caller);
  }
  void publish(process& own, int function, fork_record& fork) noexcept {
    scope& its_scope = scopes[function];
    if (its_scope.join.steals() == 0) {
      its_scope.low = lows[function];
      its_scope.home = view::home(own.leaf, lows[function], segments());
    }
    own.ring.push({&fork, &its_scope, nullptr}, 0);
  }
  int steal(process& own, process& victim) noexcept {
    deque::entry<fork_record> taken{};
    if (victim.ring.steal(nullptr, taken) != outcome::got)
      return none;
    if (own.stack == no_stack)
      own.stack = acquire();
    see_below(own, taken.frame->low, taken.frame->home);
    write(own, --own.pointer, linkage);
    taken.frame->join.count_steal();
    return taken.frame->function;
  }
  int child_ended(process& own, int caller) noexcept {
    join::wait_free& join = scopes[caller].join;
    if (view::home(own.leaf, lows[caller], segments()) == own.stack) {
      if (!join.last_child())
        retire(own.stack, lows[caller]);
      own.stack = no_stack;
    }
    return join.child_finished() ? joined(own, caller) : none;
  }
  int main_path_waits(process& own, int function) noexcept {
    check(read(own, own.pointer) == linkage, "a main path has lost its linkage area");
    write(own, own.pointer, nothing);
    return scopes[function].join.arrive() ? joined(own, function) : none;
  }
  int joined(process& own, int function) noexcept {
    scope& its_scope = scopes[function];
    check(read(own, lows[function] + name_at) == function + 1, "a scope's frame is not seen");
    const stack_id home = view::home(own.leaf, lows[function], segments());
    if (!reuse(home, {&its_scope, this}))
      return none;
    its_scope.join.reset();
    if (own.stack != home && own.stack != no_stack)
      release(own.stack);
    own.stack = home;
    show(own, its_scope.home);
    own.pointer = lows[function];
    return function;
  }

  // A strand without open forks waits, and is ready at once; if another one is ready, it goes on.
  int wait(process& own, fiber& strand) noexcept {
    strand.on = own.stack;
    strand.pointer = own.pointer;
    own.stack = no_stack;
    retire(strand.on, strand.pointer);
    fiber* none_waits = nullptr;
    if (ready.compare_exchange_strong(none_waits, &strand, base::release, base::relaxed))
      return none;
    return go_on(own, strand);
  }
  int go_on(process& own) noexcept {
    fiber* strand = ready.load(base::relaxed);
    return strand != nullptr &&
                   ready.compare_exchange_strong(strand, nullptr, base::acquire, base::relaxed)
               ? go_on(own, *strand)
               : none;
  }
  int go_on(process& own, fiber& strand) noexcept {
    if (!reuse(strand.on, {&strand, nullptr}))
      return none;
    if (own.stack != no_stack)
      release(own.stack);
    own.stack = strand.on;
    show(own, own.stack);
    own.pointer = strand.pointer;
    return strand.function;
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<views<lower_and_higher, 2, at_once>>("views: lower and higher, two workers");
  models.random<views<lower_and_higher, 3, later>>("views: lower and higher, reclaimed");
  models.random<views<waits, 3, at_once>>("views: strands wait");
  models.random<views<waits, 3, later>>("views: strands wait, reclaimed");
  models.random<views<stolen_twice, 3, at_once>>("views: a frame stolen twice");
  models.random<views<stolen_twice, 3, later>>("views: a frame stolen twice, reclaimed");
  models.random<views<thieves_of_thieves, 3, at_once>>("views: thieves of thieves");
  models.random<views<thieves_of_thieves, 3, later>>("views: thieves of thieves, reclaimed");
  models.random<views<tree, 3, at_once>>("views: both children fork");
  models.random<views<tree, 3, later>>("views: both children fork, reclaimed");
  models.bounded<views<lower_and_higher, 2, at_once>>("views: lower and higher, two workers", 2);
  return models.result();
}
