// SPDX-License-Identifier: MIT
// Which of ThreadSanitizer's fibers a strand has, and what orders them.
//
// Nothing in this file is instrumented: strands that are not ordered share these lists. So there
// are no templates of the library, and each function says so.
#include "nopal/base/races.h"

#include "nopal/base/instrumented.h"

extern "C" {
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
[[gnu::weak]] void __tsan_acquire(void*);
[[gnu::weak]] void __tsan_release(void*);
[[gnu::weak]] void __tsan_ignore_thread_begin();
[[gnu::weak]] void __tsan_ignore_thread_end();
[[gnu::weak]] void AnnotateIgnoreSyncBegin(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreSyncEnd(const char* file, int line);
}

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

bool strands_apart = false;

namespace {

constexpr unsigned orders_nothing = 1; // a flag of __tsan_switch_to_fiber

struct ring {
  ring* next;
  ring* before;
};
struct open_scope;

} // namespace

// A strand that has ended lies in a bag: of the scope that has not joined it yet, or of the strand
// that has.
struct seen_strand {
  ring in_bag; // first: a member of a bag is taken for its strand
  ring joined; // strands that are ordered before this one
  void* fiber;
  seen_strand* parent;
  open_scope* child_of;
  open_scope* scopes; // that it has forked in and not joined, the innermost first
  void* fork_key;     // its address: the strand releases it at a fork, and the child acquires it
  unsigned ended;     // when, in the order of ends
  bool runs;          // it has not ended
  bool hidden;
  bool shown_before_wait;
  unsigned uses;
  void* used[8];
};

namespace {

struct open_scope {
  const void* scope;
  seen_strand* main_path;
  open_scope* outer;
  ring ended; // its children
  void* key;  // its address: children release it, and the join acquires it
};

// A strand of `run` has one in any case, so there may be more than most_seen.
constexpr unsigned most_strands = 4096;
seen_strand* strands[most_strands];
unsigned number_of_strands = 0;
unsigned number_of_ends = 0;
ring unowned; // ended, and in no other bag
bool locked_by_thread = false;
void* keys_of_workers[64]; // their addresses; each is a unit of ThreadSanitizer's

thread_local seen_strand* current = nullptr;
thread_local seen_strand* schedulers = nullptr;
thread_local seen_strand* enqueued = nullptr; // by the scheduler, which has this thread meanwhile

NOPAL_SWITCHES void lock() noexcept {
  while (__atomic_exchange_n(&locked_by_thread, true, __ATOMIC_ACQUIRE))
    __builtin_ia32_pause();
}
NOPAL_SWITCHES void unlock() noexcept {
  __atomic_store_n(&locked_by_thread, false, __ATOMIC_RELEASE);
}

NOPAL_SWITCHES void make_empty(ring& bag) noexcept { bag.next = bag.before = &bag; }
NOPAL_SWITCHES bool is_empty(const ring& bag) noexcept { return bag.next == &bag; }
NOPAL_SWITCHES void put(ring& bag, ring& added) noexcept {
  added.next = bag.next;
  added.before = &bag;
  bag.next->before = &added;
  bag.next = &added;
}
NOPAL_SWITCHES void take_out(ring& member) noexcept {
  member.before->next = member.next;
  member.next->before = member.before;
}
NOPAL_SWITCHES void put_all(ring& bag, ring& from) noexcept {
  if (is_empty(from))
    return;
  from.before->next = bag.next;
  bag.next->before = from.before;
  bag.next = from.next;
  from.next->before = &bag;
  make_empty(from);
}

// ThreadSanitizer takes time for these, so they are not called for nothing.
NOPAL_SWITCHES void ignore_thread() noexcept {
  __tsan_ignore_thread_begin();
  AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
}
NOPAL_SWITCHES void heed_thread() noexcept {
  AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
  __tsan_ignore_thread_end();
}

// The scheduler itself orders nothing.
NOPAL_SWITCHES void order(void (*tool)(void*), const void* key) noexcept {
  if (current != schedulers || schedulers == nullptr)
    return tool(const_cast<void*>(key));
  if (enqueued == nullptr)
    return;
  __tsan_switch_to_fiber(enqueued->fiber, orders_nothing); // it is hidden
  heed_thread();
  tool(const_cast<void*>(key));
  ignore_thread();
  __tsan_switch_to_fiber(schedulers->fiber, orders_nothing);
}

NOPAL_SWITCHES void end_uses(seen_strand* strand) noexcept {
  while (strand->uses != 0)
    __tsan_release(strand->used[--strand->uses]);
}

// Under the lock, if it is in a bag.
NOPAL_SWITCHES void start(seen_strand* strand) noexcept {
  if (strand->in_bag.next != nullptr)
    take_out(strand->in_bag);
  strand->parent = nullptr;
  strand->child_of = nullptr;
  strand->scopes = nullptr;
  strand->runs = true;
  strand->shown_before_wait = false;
}

// With a fiber of its own, or this one.
NOPAL_SWITCHES seen_strand* make_strand(void* fiber) noexcept {
  auto* const made = new seen_strand{};
  make_empty(made->joined);
  made->fiber = fiber != nullptr ? fiber : __tsan_create_fiber(0);
  start(made);
  lock();
  if (number_of_strands < most_strands) // one that is not noted is never taken again
    strands[number_of_strands++] = made;
  unlock();
  return made;
}

// The one that has ended first, with all that it knows. Null: all run.
NOPAL_SWITCHES seen_strand* take_ended() noexcept {
  seen_strand* taken = nullptr;
  lock();
  for (unsigned i = 0; i < number_of_strands; ++i)
    if (!strands[i]->runs && (taken == nullptr || strands[i]->ended < taken->ended))
      taken = strands[i];
  if (taken != nullptr)
    start(taken);
  unlock();
  return taken;
}

NOPAL_SWITCHES seen_strand* take_joined(seen_strand* parent) noexcept {
  lock();
  auto* const first = reinterpret_cast<seen_strand*>(parent->joined.next);
  const bool any = !is_empty(parent->joined);
  if (any)
    start(first);
  unlock();
  return any ? first : nullptr;
}

NOPAL_SWITCHES open_scope* find(const seen_strand* strand, const void* scope) noexcept {
  open_scope* found = strand->scopes;
  while (found != nullptr && found->scope != scope)
    found = found->outer;
  return found;
}

NOPAL_SWITCHES open_scope* open(seen_strand* strand, const void* scope) noexcept {
  if (open_scope* const found = find(strand, scope))
    return found;
  auto* const opened = new open_scope{scope, strand, strand->scopes, {}, nullptr};
  make_empty(opened->ended);
  lock();
  strand->scopes = opened;
  unlock();
  return opened;
}

// Called by the strand.
NOPAL_SWITCHES void finish(seen_strand* ended, ring& bag) noexcept {
  show_strand();
  end_uses(ended);
  if (ended->child_of != nullptr)
    __tsan_release(&ended->child_of->key);
  lock();
  ended->runs = false;
  ended->ended = ++number_of_ends;
  put_all(bag, ended->joined);
  put(bag, ended->in_bag);
  unlock();
}

} // namespace

NOPAL_SWITCHES bool keep_strands_apart() noexcept {
  if (__tsan_switch_to_fiber == nullptr)
    return false;
  make_empty(unowned);
  strands_apart = true;
  return true;
}

NOPAL_SWITCHES bool are_apart() noexcept { return strands_apart; }

NOPAL_SWITCHES seen_strand* this_strand() noexcept {
  if (!strands_apart)
    return nullptr;
  if (current == nullptr)
    current = make_strand(__tsan_get_current_fiber());
  return current;
}

NOPAL_SWITCHES void go_on_as(seen_strand* strand) noexcept {
  if (strand == nullptr || strand == this_strand())
    return;
  current = strand;
  __tsan_switch_to_fiber(strand->fiber, orders_nothing);
}

NOPAL_SWITCHES seen_strand* scheduler_strand() noexcept {
  if (schedulers == nullptr) {
    seen_strand* const before = this_strand();
    schedulers = make_strand(nullptr);
    go_on_as(schedulers);
    ignore_thread();
    schedulers->hidden = true;
    go_on_as(before);
  }
  return schedulers;
}

NOPAL_SWITCHES seen_strand* begin_child(const void* scope) noexcept {
  seen_strand* const parent = this_strand();
  show_strand();
  end_uses(parent);
  open_scope* const opened = open(parent, scope);
  seen_strand* child = take_joined(parent);
  if (child == nullptr)
    child = number_of_strands < most_seen ? make_strand(nullptr) : take_ended();
  if (child == nullptr)
    return nullptr;
  child->parent = parent;
  child->child_of = opened;
  __tsan_release(&parent->fork_key);
  go_on_as(child);
  __tsan_acquire(&parent->fork_key);
  hide_strand();
  return child;
}

NOPAL_SWITCHES void end_child(seen_strand* child) noexcept {
  finish(child, child->child_of->ended);
  go_on_as(child->parent);
}

NOPAL_SWITCHES void end_detached_child(const void* scope) noexcept {
  seen_strand* const child = this_strand();
  if (child->child_of != nullptr && child->child_of->scope == scope)
    finish(child, child->child_of->ended);
}

NOPAL_SWITCHES void note_join(const void* scope) noexcept {
  if (!strands_apart || current == nullptr || find(current, scope) == nullptr)
    return;
  for (bool found = false; !found;) { // an exception may have left inner scopes
    open_scope* const closed = current->scopes;
    found = closed->scope == scope;
    __tsan_acquire(&closed->key);
    lock();
    current->scopes = closed->outer;
    put_all(current->joined, closed->ended);
    unlock();
    delete closed;
  }
}

NOPAL_SWITCHES seen_strand* main_path_of(const void* scope) noexcept {
  const open_scope* found = nullptr;
  lock();
  for (unsigned i = 0; i < number_of_strands && found == nullptr; ++i)
    if (strands[i]->runs)
      found = find(strands[i], scope);
  unlock();
  return found == nullptr ? nullptr : found->main_path;
}

NOPAL_SWITCHES seen_strand* begin_strand() noexcept {
  seen_strand* const taken = number_of_strands < most_seen ? nullptr : take_ended();
  return taken != nullptr ? taken : make_strand(nullptr);
}

NOPAL_SWITCHES void end_strand() noexcept { finish(this_strand(), unowned); }

NOPAL_SWITCHES bool hide_strand() noexcept {
  seen_strand* const self = this_strand();
  if (self == schedulers || self->hidden)
    return false;
  self->hidden = true;
  ignore_thread();
  return true;
}
NOPAL_SWITCHES void show_strand() noexcept {
  seen_strand* const self = this_strand();
  if (self == schedulers || !self->hidden)
    return;
  self->hidden = false;
  heed_thread();
}

NOPAL_SWITCHES void begin_wait() noexcept {
  seen_strand* const self = this_strand();
  if (!self->hidden)
    end_uses(self);
  self->shown_before_wait = hide_strand();
}
NOPAL_SWITCHES void end_wait() noexcept {
  seen_strand* const self = this_strand();
  if (self->shown_before_wait)
    show_strand();
  self->shown_before_wait = false;
}

NOPAL_SWITCHES void begin_enqueue() noexcept { enqueued = this_strand(); }
NOPAL_SWITCHES void end_enqueue() noexcept { enqueued = nullptr; }
NOPAL_SWITCHES void release_for_strand(const void* key) noexcept { order(__tsan_release, key); }
NOPAL_SWITCHES void acquire_for_strand(const void* key) noexcept { order(__tsan_acquire, key); }

NOPAL_SWITCHES void note_use(const void* key) noexcept {
  if (!strands_apart || this_strand() == schedulers)
    return;
  constexpr unsigned most = sizeof current->used / sizeof current->used[0];
  for (unsigned i = 0; i < current->uses; ++i)
    if (current->used[i] == key)
      return;
  if (current->uses + 1 >= most) // the last one stands for all that have no place
    key = &keys_of_workers;
  __tsan_acquire(const_cast<void*>(key));
  if (current->uses < most)
    current->used[current->uses++] = const_cast<void*>(key);
}
NOPAL_SWITCHES void note_use_of_worker(unsigned number) noexcept {
  note_use(&keys_of_workers[number % 64]);
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
