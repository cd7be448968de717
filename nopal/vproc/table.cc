// SPDX-License-Identifier: MIT
// The tables of table.h, and the unused workers, groups and vprocs, under one lock.
#include "nopal/vproc/table.h"

#include "nopal/base/check.h"
#include "nopal/base/per_process.h"
#include "nopal/vproc/settings.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace nopal::inline NOPAL_ABI::vproc {

sync::suspended_workers<worker> suspended;

namespace {

constexpr std::uint32_t kSlots = most_vprocs;

// Written under the lock, read by any thread without it.
base::atomic<worker*> table[kSlots];
base::atomic<std::uint32_t> in_use{0};
base::atomic<vproc*> vprocs[kSlots];
base::atomic<std::uint32_t> vprocs_made{0};
base::atomic<std::uint64_t> live[(kSlots + 63) / 64];
base::atomic<vproc*> pool[kSlots];
base::atomic<std::uint32_t> pool_made{0};

struct unused {
  std::mutex lock;
  std::vector<worker*> workers;
  std::vector<group*> groups;
  std::size_t groups_in_use = 0; // begun and not ended
  std::vector<vproc*> vprocs;
  bool without_barrier = false;
  std::uint64_t seed = 0;
};

// Never destroyed: forks may come as late as from the last static destructor. Not in the heap,
// where ThreadSanitizer sees the allocation, but not what orders it before uses if the library is
// built without it.
alignas(unused) char room_of_unused[sizeof(unused)];
base::per_process<unused> all_unused{room_of_unused};

// The child of fork() has no vproc, worker or group. Those of its parent are never freed either.
NOPAL_IN_CHILD([]() noexcept {
  std::construct_at(&suspended);
  for (std::uint32_t i = 0; i < in_use.load(base::relaxed); ++i)
    table[i].store(nullptr, base::relaxed);
  for (std::uint32_t i = 0; i < vprocs_made.load(base::relaxed); ++i)
    vprocs[i].store(nullptr, base::relaxed);
  for (std::uint32_t i = 0; i < pool_made.load(base::relaxed); ++i)
    pool[i].store(nullptr, base::relaxed);
  for (base::atomic<std::uint64_t>& each : live)
    each.store(0, base::relaxed);
  for (base::atomic<std::uint32_t>* const each : {&in_use, &vprocs_made, &pool_made})
    each->store(0, base::relaxed);
});

// Holds the lock, which is the table's too, as long as it lives.
class locked_unused {
public:
  unused* operator->() const noexcept { return &all_; }

private:
  unused& all_ = all_unused.get();
  const std::scoped_lock<std::mutex> guard_{all_.lock};
};

// An unused object, or a new one.
template <class T> T* take(std::vector<T*>& from) {
  if (from.empty())
    return new T;
  T* const last = from.back();
  from.pop_back();
  return last;
}

// A heap, the vproc with the lowest number first.
bool higher(const vproc* a, const vproc* b) noexcept { return a->number > b->number; }
vproc* take_lowest(std::vector<vproc*>& from) {
  std::pop_heap(from.begin(), from.end(), higher);
  return take(from);
}

worker* any_worker(const locked_unused& all) {
  if (!all->workers.empty())
    return take(all->workers);
  auto* const made = new worker;
  made->deque.open(all->without_barrier);
  return made;
}

// Sleepers have asked the worker that had this slot before, not this one. So its first push looks
// for sleepers (sync/README.md, "A worker that comes into a slot").
void put(worker* placed, std::uint32_t slot) noexcept {
  placed->slot = slot;
  table[slot].store(placed, base::release); // its host and deque are complete
  placed->deque.ask_before_sleep();
}

// A thief that holds the worker still finds an empty deque.
void forget(const locked_unused& all, worker* left) {
  left->group = nullptr;
  left->host = nullptr;
  left->deque.error.set(nullptr);
  all->workers.push_back(left);
}

void offer_nothing(worker* left) noexcept {
  left->adopt(stack::no_stack, 0, nullptr);
  lend_stack(left);
}

vproc* make_vproc(const locked_unused& all) {
  const std::uint32_t number = vprocs_made.load(base::relaxed);
  NOPAL_ASSERT(
      number < kSlots,
      "more than %u threads use Nopal at the same time, blocked ones counted; let fewer fork "
      "at a time",
      kSlots);
  auto* const made = new vproc;
  made->number = number;
  made->random.reseed(all->seed, number);
  made->switches_shortly = !made->watched && virtual_workers() <= 1;
  made->ready.open(all->without_barrier);
  vprocs[number].store(made, base::release);    // before the count that covers it
  vprocs_made.store(number + 1, base::seq_cst); // sched/stop.h; before its bit is set
  return made;
}

// The lock is held.
void set_live(const vproc* host, bool is_live) noexcept {
  base::atomic<std::uint64_t>& word = live[host->number / 64];
  const std::uint64_t bit = std::uint64_t{1} << (host->number % 64);
  const std::uint64_t others = word.load(base::relaxed) & ~bit;
  word.store(is_live ? others | bit : others, base::seq_cst); // sched/stop.h
}

} // namespace

std::uint32_t slots_in_use() noexcept { return in_use.load(base::acquire); }
worker* worker_in(std::uint32_t slot) noexcept { return table[slot].load(base::acquire); }
std::uint32_t pool_size() noexcept { return pool_made.load(base::acquire); }
vproc* pool_vproc(std::uint32_t number) noexcept { return pool[number].load(base::acquire); }
std::uint32_t vprocs_ever() noexcept { return vprocs_made.load(base::seq_cst); }
vproc* vproc_at(std::uint32_t number) noexcept { return vprocs[number].load(base::acquire); }
std::uint64_t live_vprocs(std::uint32_t word) noexcept { return live[word].load(base::seq_cst); }

void lend_stack(worker* self) noexcept {
  if (self->stack == stack::no_stack || !stack::idle_ones_are_pooled())
    return;
  stack::release(self->stack);
  self->stack = stack::no_stack;
}

worker* take_worker(vproc* host) noexcept {
  const locked_unused all;
  worker* const taken = any_worker(all);
  std::uint32_t slot = 0; // the lowest free one
  while (slot < kSlots && worker_in(slot) != nullptr)
    ++slot;
  NOPAL_ASSERT(slot < kSlots,
               "more than %u threads and affine regions use Nopal at the same time, blocked ones "
               "counted; begin fewer at a time",
               kSlots);
  if (slot >= in_use.load(base::relaxed))
    in_use.store(slot + 1, base::release); // before the worker may push, so sleepers look there
  put(taken, slot);
  taken->host = host;
  return taken;
}

void return_worker(worker* left) noexcept {
  offer_nothing(left); // first: a thief that still finds the worker finds no fork
  const locked_unused all;
  table[left->slot].store(nullptr, base::relaxed); // late thieves find an empty deque
  std::uint32_t count = in_use.load(base::relaxed);
  while (count > 0 && worker_in(count - 1) == nullptr)
    --count;
  in_use.store(count, base::release);
  forget(all, left);
}

worker* replace_worker(worker* left) noexcept {
  const locked_unused all;
  worker* const next = any_worker(all);
  next->run_on(left->host);
  next->group = left->group;
  put(next, left->slot); // thieves find `left` in the list of the suspended already (park.cc)
  left->host = nullptr;
  return next;
}

void put_back_worker(worker* self, worker* left) noexcept {
  offer_nothing(self);
  const locked_unused all;
  left->run_on(self->host);
  put(left, self->slot);
  forget(all, self);
}

group* take_group() noexcept {
  const locked_unused all;
  all->groups_in_use += 1; // before anything of it runs: the pool does not end from now on
  group* const taken = take(all->groups);
  taken->begun_in = base::this_process;
  return taken;
}

void return_group(group* ended) noexcept {
  const locked_unused all;
  all->groups_in_use -= 1;
  all->groups.push_back(ended);
}

bool clear_if_no_group(base::atomic<std::uint32_t>& word) noexcept {
  const locked_unused all;
  const bool none = all->groups_in_use == 0;
  if (none)
    word.store(0, base::relaxed);
  return none;
}

void leave_to_next_thread(worker* left) noexcept {
  lend_stack(left);
  left->host->signals.run_with(nullptr);
  left->host->error = nullptr; // these end with the thread; the next thread sets its own
  left->host->exceptions = &join::no_exceptions;
  left->exceptions = &join::no_exceptions;
  left->deque.error.set(nullptr);
}

vproc* take_vproc() noexcept {
  const locked_unused all;
  vproc* const taken = all->vprocs.empty() ? make_vproc(all) : take_lowest(all->vprocs);
  set_live(taken, true);
  return taken;
}

void return_vproc(vproc* left) noexcept {
  const locked_unused all;
  set_live(left, false);
  all->vprocs.push_back(left);
  std::push_heap(all->vprocs.begin(), all->vprocs.end(), higher);
}

vproc* add_pool_vproc(bool is_spare) noexcept {
  const locked_unused all;
  const std::uint32_t number = pool_made.load(base::relaxed);
  vproc* const made = make_vproc(all);
  made->in_pool = true;
  made->spare.set(is_spare); // before others find it in the pool
  set_live(made, true);
  pool[number].store(made, base::release); // before the count that covers it
  pool_made.store(number + 1, base::release);
  return made;
}

void open_table(bool without_barrier, std::uint64_t seed) noexcept {
  const locked_unused all;
  all->without_barrier = without_barrier;
  all->seed = seed; // before the first vproc is made
}

} // namespace nopal::inline NOPAL_ABI::vproc
