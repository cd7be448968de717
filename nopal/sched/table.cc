// SPDX-License-Identifier: MIT
#include "nopal/sched/table.h"

#include "nopal/base/check.h"

#include <functional>
#include <mutex>
#include <queue>
#include <vector>

namespace nopal::inline NOPAL_ABI::sched {

namespace {

constexpr std::uint32_t kSlots = 8192;
constexpr int no_error = 0; // for a thief that comes late

base::atomic<worker*> table[kSlots];
base::atomic<std::uint32_t> in_use{0};
base::atomic<vproc::vproc*> vprocs[kSlots];
base::atomic<std::uint32_t> vprocs_made{0};
base::atomic<vproc::vproc*> pool[kSlots];
base::atomic<std::uint32_t> pool_made{0};

// Never destroyed: forks may come as late as from the last static destructor.
struct unused {
  std::mutex lock;
  std::vector<worker*> workers;
  std::vector<group*> groups;
  std::vector<vproc::vproc*> vprocs;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> slots;
  std::uint32_t slots_made = 0;
  bool without_barrier = false;
  std::uint64_t seed = 0;
};
unused& all_unused() {
  static auto* const all = new unused;
  return *all;
}

// Lock held. An unused one, or a new one.
template <class T> T* take(std::vector<T*>& from) {
  if (from.empty())
    return new T;
  T* const one = from.back();
  from.pop_back();
  return one;
}

worker* any_worker(unused& all) {
  if (!all.workers.empty())
    return take(all.workers);
  auto* const made = new worker;
  made->deque.open(all.without_barrier);
  return made;
}

std::uint32_t lowest_slot(unused& all) {
  if (all.slots.empty()) {
    NOPAL_ASSERT(all.slots_made < kSlots,
                 "more than %u threads and affine regions use Nopal at the same time", kSlots);
    return all.slots_made++;
  }
  const std::uint32_t slot = all.slots.top();
  all.slots.pop();
  return slot;
}

// What sleepers asked of others in this place was not asked of this worker. So its first push looks
// for sleepers (vproc/README.md, "A worker that comes into a slot").
void put(worker* one, std::uint32_t slot) noexcept {
  one->slot = slot;
  table[slot].store(one, base::release);
  one->deque.ask_before_sleep();
}

void forget(unused& all, worker* one) {
  one->of = nullptr;
  one->host = nullptr;
  one->set_error_at(&no_error);
  all.workers.push_back(one);
}

// Unused workers keep no stack where thieves or the budget may want it.
void release_stack(worker* one) noexcept {
  one->deque.adopt(stack::no_stack, 0, nullptr);
  if (one->stack == stack::no_stack || !stack::idle_ones_are_pooled())
    return;
  stack::release(one->stack);
  one->stack = stack::no_stack;
}

vproc::vproc* make_vproc(unused& all) {
  const std::uint32_t number = vprocs_made.load(base::relaxed);
  NOPAL_ASSERT(number < kSlots, "more than %u threads use Nopal at the same time", kSlots);
  auto* const made = new vproc::vproc;
  made->random.reseed(all.seed, number);
  vprocs[number].store(made, base::release);
  vprocs_made.store(number + 1, base::release);
  return made;
}

} // namespace

std::uint32_t slots_in_use() noexcept { return in_use.load(base::acquire); }
worker* worker_in(std::uint32_t slot) noexcept { return table[slot].load(base::acquire); }
std::uint32_t pool_size() noexcept { return pool_made.load(base::acquire); }
vproc::vproc* pool_vproc(std::uint32_t number) noexcept { return pool[number].load(base::acquire); }
std::uint32_t vprocs_ever() noexcept { return vprocs_made.load(base::acquire); }
vproc::vproc* vproc_at(std::uint32_t number) noexcept { return vprocs[number].load(base::acquire); }

worker* take_worker(vproc::vproc* here) noexcept {
  unused& all = all_unused();
  const std::scoped_lock guard{all.lock};
  worker* const one = any_worker(all);
  const std::uint32_t slot = lowest_slot(all);
  if (slot >= in_use.load(base::relaxed))
    in_use.store(slot + 1, base::release);
  put(one, slot);
  one->host = here;
  return one;
}

void return_worker(worker* one) noexcept {
  release_stack(one);
  unused& all = all_unused();
  const std::scoped_lock guard{all.lock};
  table[one->slot].store(nullptr, base::relaxed);
  all.slots.push(one->slot);
  std::uint32_t count = in_use.load(base::relaxed);
  while (count > 0 && worker_in(count - 1) == nullptr)
    --count;
  in_use.store(count, base::release);
  forget(all, one);
}

worker* replace_worker(worker* left) noexcept {
  unused& all = all_unused();
  const std::scoped_lock guard{all.lock};
  worker* const one = any_worker(all);
  one->run_on(left->host);
  one->of = left->of;
  put(one, left->slot);
  left->host = nullptr;
  return one;
}

void put_back_worker(worker* self, worker* left) noexcept {
  release_stack(self);
  unused& all = all_unused();
  const std::scoped_lock guard{all.lock};
  left->run_on(self->host);
  put(left, self->slot);
  forget(all, self);
}

group* take_group() noexcept {
  unused& all = all_unused();
  const std::scoped_lock guard{all.lock};
  return take(all.groups);
}

void return_group(group* one) noexcept {
  unused& all = all_unused();
  const std::scoped_lock guard{all.lock};
  all.groups.push_back(one);
}

vproc::vproc* take_vproc() noexcept {
  unused& all = all_unused();
  const std::scoped_lock guard{all.lock};
  return all.vprocs.empty() ? make_vproc(all) : take(all.vprocs);
}

void return_vproc(vproc::vproc* one) noexcept {
  unused& all = all_unused();
  const std::scoped_lock guard{all.lock};
  all.vprocs.push_back(one);
}

vproc::vproc* add_pool_vproc() noexcept {
  unused& all = all_unused();
  const std::scoped_lock guard{all.lock};
  const std::uint32_t number = pool_made.load(base::relaxed);
  vproc::vproc* const made = make_vproc(all);
  pool[number].store(made, base::release);
  pool_made.store(number + 1, base::release);
  return made;
}

void open_table(bool without_barrier, std::uint64_t seed) noexcept {
  unused& all = all_unused();
  const std::scoped_lock guard{all.lock};
  all.without_barrier = without_barrier;
  all.seed = seed;
}

} // namespace nopal::inline NOPAL_ABI::sched
