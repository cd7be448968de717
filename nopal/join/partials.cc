// SPDX-License-Identifier: MIT
// Tables of partial values, the names of reducers, and what reducers are given.
#include "nopal/join/partials.h"

#include "nopal/base/clock.h"
#include "nopal/base/os.h"
#include "nopal/base/per_process.h"
#include "nopal/base/sanitizer.h"
#include "nopal/base/spin_lock.h"

#include <algorithm>
#include <memory>
#include <new>
#include <tuple>
#include <utility>
#include <vector>

namespace nopal::inline NOPAL_ABI::join {
namespace {

struct names {
  base::spin_lock lock;
  std::vector<std::uint32_t> unused; // has room for all indices, so that to return one cannot fail
};
// Never destroyed: static reducers may be made and destroyed at any time.
base::per_process<names> names_here;
names& all_names() { return names_here.get(); }

// Written under the lock. The child of fork() goes on counting, since reducers of the parent's are
// there; it does not use again what the parent would have.
std::uint32_t indices = 0;

} // namespace

bool reducer_home::alone_soon() const noexcept {
  using clock = std::chrono::steady_clock;
  for (const auto begun = clock::now(); !alone(); base::give_way())
    if (clock::now() - begun > std::chrono::seconds(1))
      return false;
  return true;
}

void reducer_home::deliver(void* value) noexcept {
  {
    const std::scoped_lock guard{lock_};
    if (!ended_ && delivered_ != nullptr)
      calls.combine(delivered_, value);
    else if (!ended_)
      delivered_ = std::exchange(value, nullptr);
  }
  if (value != nullptr)
    calls.destroy(value);
  release();
}

void* reducer_home::take_delivered() noexcept {
  const std::scoped_lock guard{lock_};
  return std::exchange(delivered_, nullptr);
}

void reducer_home::end() noexcept {
  void* unused = nullptr;
  {
    const std::scoped_lock guard{lock_};
    ended_ = true;
    unused = std::exchange(delivered_, nullptr);
  }
  if (unused != nullptr)
    calls.destroy(unused);
  release();
}

reducer_name take_reducer_name(const partial_calls& calls, const void* made_in) {
  auto home = std::make_unique<reducer_home>(calls, made_in);
  names& all = all_names();
  const base::locked guard{all.lock};
  if (all.unused.empty()) {
    all.unused.reserve(indices + 1);
    all.unused.push_back(indices++);
  }
  const std::uint32_t index = all.unused.back();
  all.unused.pop_back();
  return {index, home.release()};
}

void return_reducer_name(reducer_name unused) noexcept {
  unused.home->end();
  const base::locked guard{all_names().lock};
  all_names().unused.push_back(unused.index);
}

partials* partials::make(std::uint32_t room) {
  void* const at = ::operator new(sizeof(partials) + room * sizeof(partial));
  auto* const made = new (at) partials{room};
  std::uninitialized_default_construct_n(made->all(), room);
  return made;
}

// A reducer that has ended may have left a value at its index, if it was destroyed too early.
partial& partials::place(partials*& in, std::uint32_t index) {
  if (in == nullptr || index >= in->room_) {
    partials* const larger = make(std::max(4u, 2 * index));
    if (in != nullptr)
      std::copy_n(in->all(), in->room_, larger->all());
    ::operator delete(std::exchange(in, larger));
  }
  partial& at = in->all()[index];
  if (at.home != nullptr)
    at.home->deliver(at.value);
  return at;
}

void partials::put(partials*& in, reducer_name name, void* value) {
  place(in, name.index) = {name.home, value};
  name.home->hold();
}

void* partials::take(partials* from, reducer_name name) noexcept {
  void* const value = from == nullptr ? nullptr : from->find(name);
  if (value != nullptr) {
    from->all()[name.index] = {};
    name.home->release(); // the reducer holds it, too
  }
  return value;
}

template <class Which> void partials::deliver_those(partials* from, const Which& which) noexcept {
  const base::unseen while_they_are_combined;
  for (std::uint32_t i = 0; i < from->room_; ++i)
    if (partial& each = from->all()[i]; each.home != nullptr && which(*each.home)) {
      const partial given = std::exchange(each, {});
      given.home->deliver(given.value);
    }
}

void partials::deliver(partials* from, const void* made_in) noexcept {
  if (from != nullptr)
    deliver_those(from, [=](const reducer_home& home) { return home.was_made_in(made_in); });
}

void partials::deliver_all(partials*& from) noexcept {
  partials* const all = std::exchange(from, nullptr);
  if (all == nullptr)
    return;
  deliver_those(all, [](const reducer_home&) { return true; });
  ::operator delete(all);
}

partials* partials::combine(partials* low, partials* high) noexcept {
  if (low == nullptr || high == nullptr)
    return low != nullptr ? low : high;
  for (std::uint32_t i = 0; i < high->room_; ++i) {
    const partial from = high->all()[i];
    if (from.home == nullptr)
      continue;
    if (void* const before = low->find({i, from.home})) {
      from.home->calls.combine(before, from.value);
      from.home->calls.destroy(from.value);
      from.home->release();
    } else {
      place(low, i) = from;
    }
  }
  ::operator delete(high);
  return low;
}

void partials_list::add(partials*& from, std::int64_t order) noexcept {
  partials* const added = std::exchange(from, nullptr);
  if (added == nullptr)
    return;
  added->order_ = order;
  all_.add(added);
}

partials* partials_list::take() noexcept {
  partials* newest = all_.take();
  if (newest == nullptr || newest->next == nullptr) [[likely]]
    return newest;
  std::vector<std::tuple<std::int64_t, std::int64_t, partials*>> all; // order, then arrival
  for (std::int64_t arrival = 0; newest != nullptr; newest = newest->next)
    all.emplace_back(newest->order_, --arrival, newest);
  std::ranges::sort(all);
  partials* sum = nullptr;
  for (const auto& [order, arrival, values] : all)
    sum = partials::combine(sum, values);
  return sum;
}

} // namespace nopal::inline NOPAL_ABI::join
