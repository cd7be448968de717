// SPDX-License-Identifier: MIT
// Where a stolen continuation puts its frames, if frames never move: three rows of Cilk-M's table
// of strategies (cilk-m-pact10, Figure 2 and section 3), in a runtime that is as small as they
// allow.
//
//   one_stack         2  below all else on the thief's only stack
//   depth_restricted  3  likewise, and a thief takes nothing shallower than the frame it waits with
//   reuse_ancestors   6  below an ancestor that is the lowest frame of its stack, if there is one
//
// A worker whose frame waits for stolen work steals on. With one stack for each worker it does so
// below that frame, and only it can go on with the frame, once all below has ended; whoever
// finishes the last child says so in `completed`. With the third a stack lies idle for its lowest
// frame, and belongs to nobody; the thread that finishes the last child goes on with that frame
// there.
//
// A frame waits for newer frames alone: its descendants, and those below it on its stack. So the
// newest one can always go on.
//
// Deques and joins have locks, and each scope knows its parent. So the time of a fork tells
// nothing: the programs that tell the strategies apart wait for the clock.
#pragma once

#include "bench/baseline/locked.h"
#include "bench/random.h"
#include "nopal/arch/arch.h"
#include "nopal/base/os.h"

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

namespace bench::linear_stacks {

namespace arch = nopal::arch;

enum class strategy { one_stack, depth_restricted, reuse_ancestors };
inline constexpr strategy chosen = strategy::BENCH_STRATEGY;
inline constexpr bool reuses = chosen == strategy::reuse_ancestors;

class scope;

struct stack {
  std::uintptr_t top;
  scope* idle_for;            // its lowest frame, if nobody runs there
  std::vector<scope*> floors; // the frames below which it was claimed; all but the last wait
};

// All stacks, in one range of addresses. A stack is never unmapped, so its pages are the most so
// far.
class stack_pool {
public:
  stack_pool() {
    void* const at = mmap(nullptr, most * bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED || madvise(at, most * bytes, MADV_NOHUGEPAGE) != 0)
      throw std::runtime_error("the stacks could not be had");
    low_ = reinterpret_cast<std::uintptr_t>(at);
  }
  ~stack_pool() { munmap(reinterpret_cast<void*>(low_), most * bytes); }
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;

  stack* take() {
    if (free_.empty()) {
      if (made_.size() == most) {
        std::fprintf(stderr, "all %zu stacks are in use\n", most);
        std::abort();
      }
      made_.push_back({low_ + (made_.size() + 1) * bytes, nullptr, {}});
      return &made_.back();
    }
    stack* const taken = free_.back();
    free_.pop_back();
    return taken;
  }
  void give(stack* unused) { free_.push_back(unused); }

  stack* stack_of(std::uintptr_t address) { return &made_[(address - low_) / bytes]; }
  // Whether a frame of any size has room there.
  bool has_room(std::uintptr_t floor) const { return (floor - low_) % bytes > bytes / 4; }

  std::size_t number() const { return made_.size(); }
  std::uint64_t pages() const {
    return nopal::base::resident_pages(reinterpret_cast<void*>(low_), made_.size() * bytes);
  }

private:
  static constexpr std::size_t bytes = std::size_t{16} << 20;
  static constexpr std::size_t most = 1024;

  std::uintptr_t low_;
  std::deque<stack> made_;
  std::vector<stack*> free_;
};

struct worker;

// A scope's part of a frame, as in Nopal: a context that a thief can resume.
class scope : public arch::context {
public:
  [[gnu::always_inline]] inline scope() noexcept {
    NOPAL_STORE_STACK_POINTER(stack_pointer);
    NOPAL_PIN_FRAME
    frame_pointer = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    enter();
  }
  ~scope() { leave(); }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

  template <class Body> [[gnu::always_inline]] inline void fork(const Body& body) {
    reinterpret_cast<void (*)(scope*, const Body*)>(&stub<Body>)(this, &body);
  }
  [[gnu::always_inline]] inline void join() {
    if (children.steals() != 0)
      arch::nopal_arch_suspend(this, main_path_waits);
  }

  nopal::join::locked children;
  scope* parent = nullptr;
  unsigned depth = 0;
  std::atomic<bool> completed = false; // one stack for each worker: its owner may go on with it
  scope* above = nullptr;              // the frame that waits above it on the same stack

private:
  template <class Body>
  [[gnu::noinline, gnu::visibility("hidden")]] static void thunk(scope* self,
                                                                 const Body* argument) {
    const Body body = *argument; // before a thief can go on
    self->resume_at = *static_cast<void**>(self->resume_at);
    self->open();
    body();
    self->close();
  }
  template <class Body>
  NOPAL_FORK_STUB static void stub(NOPAL_STUB_PARAMETERS(scope*, const Body*)) {
    NOPAL_RECORD_CALLER_AND_GO_TO(thunk<Body>);
  }

  inline void enter() noexcept;
  inline void leave() noexcept;
  inline void open() noexcept;
  inline void close() noexcept;
  static inline void main_path_waits(arch::context* at, std::uintptr_t) noexcept;
};

struct worker : arch::runner {
  static worker& current() noexcept { return *static_cast<worker*>(arch::current()); }

  // Calls `begin` on the scheduler's stack, and returns when the scheduler ends.
  void enter_scheduler(void (*begin)(arch::context*, std::uintptr_t)) noexcept {
    arch::runner* const before = std::exchange(arch::nopal_self, this);
    scheduler_stack = (arch::stack_pointer() - 1024) & ~std::uintptr_t{63};
    arch::nopal_arch_park(&outside, begin);
    arch::nopal_self = before;
  }
  // Where the segment of the stack begins that the next strand has for itself.
  std::uintptr_t floor() const noexcept {
    if constexpr (reuses)
      return current_stack->floors.empty() ? current_stack->top
                                           : current_stack->floors.back()->stack_pointer;
    else
      return waiting == nullptr ? current_stack->top : waiting->stack_pointer;
  }

  std::mutex lock;
  std::deque<scope*> forks;   // under the lock, the oldest first
  scope* innermost = nullptr; // of the strand that it runs
  stack* current_stack = nullptr;
  scope* waiting = nullptr; // one stack: the lowest frame that waits on it
  arch::context outside{};
  random_numbers random{mixed(reinterpret_cast<std::uintptr_t>(this))};
  std::atomic<std::uint64_t> steals = 0;
  std::atomic<std::uint64_t> suspensions = 0;
};

inline stack_pool stacks;
inline std::mutex claims; // guards `stacks`, and which stack is whose
inline std::deque<worker> workers;
inline std::atomic<bool> ends = false;     // the workers but the first
inline std::atomic<bool> finished = false; // the program, which the first one waits for

// The thief's frames are to lie below this ancestor of what it has stolen. Under `claims`.
inline bool claim(worker& self, scope* ancestor) noexcept {
  stack* const place = stacks.stack_of(ancestor->stack_pointer);
  if (place->idle_for != ancestor || !stacks.has_room(ancestor->stack_pointer))
    return false;
  place->idle_for = nullptr;
  place->floors.push_back(ancestor);
  if (self.current_stack != nullptr)
    stacks.give(self.current_stack);
  self.current_stack = place;
  return true;
}

// The thief goes on with the main path. Room for what the frame passes in memory is left above:
// more than any of these programs needs.
[[noreturn]] inline void resume(worker& self, scope* stolen) noexcept {
  constexpr std::uintptr_t room = 512 + arch::alignment;
  {
    const std::lock_guard guard(claims);
    scope* at = reuses ? stolen->parent : nullptr;
    while (at != nullptr && !claim(self, at))
      at = at->parent;
    if (self.current_stack == nullptr)
      self.current_stack = stacks.take();
  }
  self.innermost = stolen;
  const std::uintptr_t below = (self.floor() - room) & ~(arch::alignment - 1);
  arch::nopal_arch_resume(stolen, below | (stolen->stack_pointer & (arch::alignment - 1)));
}

// All strands of the scope have met.
[[noreturn]] inline void go_on(worker& self, scope* joined) noexcept {
  if constexpr (reuses) {
    const std::lock_guard guard(claims);
    if (self.current_stack != nullptr)
      stacks.give(self.current_stack);
    self.current_stack = stacks.stack_of(joined->stack_pointer);
    self.current_stack->idle_for = nullptr;
  } else {
    self.waiting = joined->above;
  }
  joined->children.reset();
  self.innermost = joined;
  arch::nopal_arch_resume(joined, joined->stack_pointer);
}

inline scope* steal(worker& self) noexcept {
  worker& victim = workers[self.random.next() % workers.size()];
  if (&victim == &self)
    return nullptr;
  const std::lock_guard guard(victim.lock);
  if (victim.forks.empty())
    return nullptr;
  scope* const oldest = victim.forks.front();
  if (chosen == strategy::depth_restricted && self.waiting != nullptr &&
      oldest->depth < self.waiting->depth)
    return nullptr;
  victim.forks.pop_front();
  oldest->children.count_steal();
  return oldest;
}

[[noreturn]] inline void search(worker& self) noexcept {
  const bool first = &self == &workers.front();
  for (unsigned vain = 1;; ++vain) {
    if ((first ? finished : ends).load(std::memory_order_acquire))
      arch::nopal_arch_resume(&self.outside, self.outside.stack_pointer);
    if (self.waiting != nullptr && self.waiting->completed.load(std::memory_order_acquire))
      go_on(self, self.waiting);
    if (scope* const stolen = steal(self)) {
      self.steals.fetch_add(1, std::memory_order_relaxed);
      resume(self, stolen);
    }
    if (vain % 256 == 0)
      nopal::base::sleep_us(20);
    else
      nopal::base::wait_briefly(vain);
  }
}
inline void begin_search(arch::context*, std::uintptr_t) noexcept { search(worker::current()); }

// The strand has ended, or waits elsewhere, and has left nothing on its segment.
inline void leave_empty(worker& self) noexcept {
  const std::lock_guard guard(claims);
  if (!reuses || self.current_stack->floors.empty())
    return; // the stack is its own, and kept for the next steal
  self.current_stack->idle_for = self.current_stack->floors.back();
  self.current_stack->floors.pop_back();
  self.current_stack = nullptr;
}

// The child has ended, and its parent's main path is a thief's. If the parent's frame is what the
// segment begins with, it stays there.
inline void leave_with(worker& self, scope* parent) noexcept {
  {
    const std::lock_guard guard(claims);
    if (stacks.stack_of(parent->stack_pointer) == self.current_stack &&
        parent->stack_pointer < self.floor()) {
      parent->completed.store(false, std::memory_order_relaxed);
      parent->above = std::exchange(self.waiting, reuses ? nullptr : parent);
      if constexpr (reuses)
        std::exchange(self.current_stack, nullptr)->idle_for = parent;
      return;
    }
  }
  leave_empty(self);
}

[[noreturn]] inline void all_met(worker& self, scope* joined) noexcept {
  if constexpr (reuses)
    go_on(self, joined);
  joined->completed.store(true, std::memory_order_release);
  search(self);
}

inline void child_ended(void* argument) noexcept {
  auto* const parent = static_cast<scope*>(argument);
  worker& self = worker::current();
  leave_with(self, parent);
  if (parent->children.child_finished())
    all_met(self, parent);
  search(self);
}

inline void scope::main_path_waits(arch::context* at, std::uintptr_t) noexcept {
  auto* const joined = static_cast<scope*>(at);
  worker& self = worker::current();
  leave_empty(self);
  if (joined->children.arrive())
    all_met(self, joined);
  self.suspensions.fetch_add(1, std::memory_order_relaxed);
  search(self);
}

inline void scope::enter() noexcept {
  worker& self = worker::current();
  parent = self.innermost;
  depth = parent == nullptr ? 0 : parent->depth + 1;
  self.innermost = this;
}
inline void scope::leave() noexcept { worker::current().innermost = parent; }

inline void scope::open() noexcept {
  worker& self = worker::current();
  const std::lock_guard guard(self.lock);
  self.forks.push_back(this);
}
// What is left of the deque is older than a fork, so all of it was stolen before the fork.
inline void scope::close() noexcept {
  worker& self = worker::current();
  {
    const std::lock_guard guard(self.lock);
    if (!self.forks.empty())
      return self.forks.pop_back();
  }
  arch::nopal_arch_leave(child_ended, this, self.scheduler_stack);
}

// Runs f(argument) as a program of all workers; the first one calls this.
inline void execute(void (*f)(void*), void* argument) noexcept {
  static void (*program)(void*);
  static void* given;
  program = f;
  given = argument;
  finished.store(false, std::memory_order_relaxed);
  workers.front().enter_scheduler([](arch::context*, std::uintptr_t) {
    worker& self = worker::current();
    {
      const std::lock_guard guard(claims);
      if (self.current_stack == nullptr)
        self.current_stack = stacks.take();
    }
    self.innermost = nullptr;
    const auto run = [](void*) {
      program(given);
      leave_empty(worker::current());
      finished.store(true, std::memory_order_release);
      const auto idle = [](void*) { search(worker::current()); };
      arch::nopal_arch_leave(idle, nullptr, worker::current().scheduler_stack);
    };
    arch::nopal_arch_leave(run, nullptr, self.floor() - arch::alignment);
  });
}

} // namespace bench::linear_stacks
