// SPDX-License-Identifier: MIT
// Tables of partial values, and the names of reducers.
#include "nopal/join/partials.h"

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
  std::uint32_t indices = 0;
  std::uint64_t numbers = 0;
};
// Never destroyed: static reducers may be made and destroyed at any time.
names& all_names() {
  static auto* const all = new names;
  return *all;
}

} // namespace

reducer_name take_reducer_name() {
  names& all = all_names();
  const base::locked guard{all.lock};
  if (all.unused.empty()) {
    all.unused.reserve(all.indices + 1);
    all.unused.push_back(all.indices++);
  }
  const std::uint32_t index = all.unused.back();
  all.unused.pop_back();
  return {index, ++all.numbers};
}

void return_reducer_name(reducer_name unused) noexcept {
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
void partials::put(partials*& in, reducer_name name, partial added) {
  if (in == nullptr || name.index >= in->room_) {
    partials* const larger = make(std::max(4u, 2 * name.index));
    if (in != nullptr)
      std::copy_n(in->all(), in->room_, larger->all());
    ::operator delete(std::exchange(in, larger));
  }
  partial& at = in->all()[name.index];
  if (at.number != 0)
    at.calls->destroy(at.value);
  at = added;
}

void* partials::take(partials* from, reducer_name name) noexcept {
  void* const value = from == nullptr ? nullptr : from->find(name);
  if (value != nullptr)
    from->all()[name.index] = {};
  return value;
}

void partials::destroy(partials* unused) noexcept {
  if (unused == nullptr)
    return;
  for (std::uint32_t i = 0; i < unused->room_; ++i)
    if (const partial& each = unused->all()[i]; each.number != 0)
      each.calls->destroy(each.value);
  ::operator delete(unused);
}

partials* partials::combine(partials* low, partials* high) noexcept {
  if (low == nullptr || high == nullptr)
    return low != nullptr ? low : high;
  for (std::uint32_t i = 0; i < high->room_; ++i) {
    partial& from = high->all()[i];
    if (from.number == 0)
      continue;
    if (i < low->room_ && low->all()[i].number == from.number) {
      low->all()[i].calls->combine(low->all()[i].value, from.value);
      from.calls->destroy(from.value);
    } else {
      put(low, {i, from.number}, from);
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
