// SPDX-License-Identifier: MIT
// A queue whose links lie in its members, first in, first out. A Member, a fiber or a suspended
// worker, has a member `handed_over<Member*> next`, which belongs to the queue that it is in. A
// fiber that waits for something, and may be made ready before it has left that queue, is linked
// there by `next_waiting`.
//
//   linked_queue   for a caller that holds the lock that guards the queue
//   counted_queue  the same, and all may ask, without the lock, how many members there are. The
//                  count is relaxed, and may be wrong for a moment; each user says why that will do
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

struct any_member {
  bool operator()(const void*) const noexcept { return true; }
};
// Of the fibers that wait, not one that was cancelled (choice.h): that fiber removes itself.
struct claimable {
  template <class Fiber> bool operator()(Fiber* fiber) const noexcept { return fiber->claim(); }
};

struct by_next {
  template <class Member> static auto& link(Member* from) noexcept { return from->next; }
};
struct by_next_waiting {
  template <class Member> static auto& link(Member* from) noexcept { return from->next_waiting; }
};

template <class Member, class Link = by_next> class linked_queue {
public:
  bool empty() const noexcept { return first_ == nullptr; }
  Member* first() const noexcept { return first_; }

  void append(Member* last) noexcept {
    Link::link(last) = nullptr;
    Member* const before = last_;
    (before == nullptr ? first_ : Link::link(before)) = last;
    last_ = last;
  }
  void prepend(Member* first) noexcept {
    Link::link(first) = static_cast<Member*>(first_);
    first_ = first;
    if (last_ == nullptr)
      last_ = first;
  }

  // The first member that `wanted` is true for; null: there is none.
  template <class Wanted = any_member> Member* take(Wanted wanted = {}) noexcept {
    Member* before = nullptr;
    for (Member* at = first_; at != nullptr; before = at, at = Link::link(at)) {
      if (!wanted(at))
        continue;
      Member* const after = Link::link(at);
      (before == nullptr ? first_ : Link::link(before)) = after;
      if (after == nullptr)
        last_ = before;
      return at;
    }
    return nullptr;
  }

  // Takes all that `wanted` is true for. Returns the first of them; each names the next.
  template <class Wanted = any_member> Member* take_all(Wanted wanted = {}) noexcept {
    linked_queue taken;
    linked_queue left;
    for (Member* at = first_; at != nullptr;) {
      Member* const next = Link::link(at);
      (wanted(at) ? taken : left).append(at);
      at = next;
    }
    first_ = left.first();
    last_ = static_cast<Member*>(left.last_);
    return taken.first();
  }

  template <class Wanted> bool holds(Wanted wanted) const noexcept {
    Member* at = first_;
    while (at != nullptr && !wanted(at))
      at = Link::link(at);
    return at != nullptr;
  }

private:
  base::handed_over<Member*> first_{nullptr};
  base::handed_over<Member*> last_{nullptr};
};

template <class Member, class Link = by_next> class counted_queue : linked_queue<Member, Link> {
  using queue = linked_queue<Member, Link>;

public:
  using queue::first;
  using queue::holds;

  std::uint32_t count() const noexcept { return count_.load(base::relaxed); }
  bool empty() const noexcept { return count() == 0; }

  void append(Member* last) noexcept {
    queue::append(last);
    add(1);
  }
  void prepend(Member* member) noexcept {
    queue::prepend(member);
    add(1);
  }
  template <class Wanted = any_member> Member* take(Wanted wanted = {}) noexcept {
    Member* const taken = queue::take(wanted);
    if (taken != nullptr)
      add(-1);
    return taken;
  }
  template <class Wanted = any_member> Member* take_all(Wanted wanted = {}) noexcept {
    int taken = 0;
    Member* const all = queue::take_all([&](Member* at) {
      const bool taken_too = wanted(at);
      taken += taken_too ? 1 : 0;
      return taken_too;
    });
    add(-taken);
    return all;
  }

private:
  void add(int number) noexcept {
    count_.store(count() + static_cast<std::uint32_t>(number), base::relaxed);
  }

  base::atomic<std::uint32_t> count_{0};
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
