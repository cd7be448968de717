// SPDX-License-Identifier: MIT
// The operations that a deque needs, to be used or compared with (bench/baseline): those of
// stack_map, which says what each of them means.
#pragma once

#include "nopal/deque/limit.h"
#include "nopal/deque/public_ring.h"

#include <concepts>
#include <cstdint>

namespace nopal_test {

using nopal::deque::attention;
using nopal::deque::entry;
using nopal::deque::outcome;

template <class D, class Record>
concept work_deque = requires(D deque, Record* record, void* group, entry<Record>& taken,
                              bool fenced, std::uintptr_t at, D& (*mine)()) {
  { deque.push(record) } noexcept -> std::same_as<bool>;
  { deque.push_anyway(record) } noexcept -> std::same_as<attention>;
  { D::pop(record, mine) } noexcept -> std::same_as<bool>;
  { deque.take_back(record) } noexcept -> std::same_as<bool>;
  { deque.attend() } noexcept -> std::same_as<attention>;
  { deque.publish(record, group) } noexcept -> std::same_as<bool>;
  { deque.publish_root(record, group) } noexcept;
  { deque.take_back_root(record) } noexcept -> std::same_as<bool>;
  { deque.adopt(at, at, group) } noexcept;
  { deque.give_back(at, at) } noexcept -> std::same_as<bool>;
  { deque.steal(group, taken) } noexcept -> std::same_as<outcome>;
  { deque.anything_public() } noexcept -> std::same_as<bool>;
  { deque.ask() } noexcept;
  { deque.ask_before_sleep() } noexcept;
  { deque.interrupt() } noexcept;
  { deque.allows_here() } noexcept -> std::same_as<bool>;
  { deque.publish_for_owner(group) } noexcept -> std::same_as<bool>;
  { deque.publish_for_absent_owner() } noexcept;
  { deque.has_work(group) } noexcept -> std::same_as<bool>;
  { deque.open(fenced) } noexcept;
};

} // namespace nopal_test
