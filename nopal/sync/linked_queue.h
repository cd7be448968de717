// SPDX-License-Identifier: MIT
// A queue whose links lie in its members, first in, first out. A Member, a fiber or a suspended
// worker, has a member `handed_over<Member*> next`, which belongs to the queue that it is in. A
// fiber that waits for something, and may be made ready before it has left that queue, is linked
// there by `next_waiting`.
//
//   linked_queue   for a caller that holds the lock that guards the queue
//   counted_queue  the same, and all may ask, without the lock, how many members there are. The
//                  count is relaxed and may lag for a moment; each user says why that suffices
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

struct any_member {
  bool operator()(const void*) const noexcept { return true; }
};
// True for a fiber that this call claims (choice.h). A fiber that was cancelled removes itself.
struct claimable {
  template <class Fiber> bool operator()(Fiber* fiber) const noexcept { return fiber->claim(); }
};

struct by_next {
  template <class Member> static auto& link(Member* from) noexcept { return from->next; }
};
// Links in both directions let a known member leave in constant time.
struct by_next_and_before : by_next {
  template <class Member> static auto& back(Member* from) noexcept { return from->before; }
};
struct by_next_waiting {
  template <class Member> static auto& link(Member* from) noexcept { return from->next_waiting; }
  template <class Member> static auto& back(Member* from) noexcept { return from->before_waiting; }
};
template <class Link, class Member>
concept goes_back = requires(Member* from) { Link::back(from); };

struct uncounted {
  void change(int) noexcept {}
};
class counted {
public:
  std::uint32_t count() const noexcept { return count_.load(base::relaxed); }
  void change(int by) noexcept {
    count_.store(count() + static_cast<std::uint32_t>(by), base::relaxed);
  }

private:
  base::atomic<std::uint32_t> count_{0};
};

template <class Member, class Link = by_next, class Count = uncounted>
class linked_queue : public Count {
public:
  bool empty() const noexcept { return first_ == nullptr; }
  Member* first() const noexcept { return first_; }
  Member* last() const noexcept { return last_; }

  void append(Member* last) noexcept {
    Link::link(last) = nullptr;
    Member* const before = last_;
    set_back(last, before);
    (before == nullptr ? first_ : Link::link(before)) = last;
    last_ = last;
    Count::change(1);
  }
  void prepend(Member* first) noexcept {
    Link::link(first) = static_cast<Member*>(first_);
    set_back(first, nullptr);
    if (first_ == nullptr)
      last_ = first;
    else
      set_back(static_cast<Member*>(first_), first);
    first_ = first;
    Count::change(1);
  }

  // Members that are linked already, `number` of them. Precondition: the queue is empty.
  void adopt(Member* first, Member* last, int number) noexcept {
    set_back(first, nullptr);
    Link::link(last) = nullptr;
    first_ = first;
    last_ = last;
    Count::change(number);
  }
  // The members from this one on, `number` of them, leave it, and stay linked.
  void cut(Member* from, int number) noexcept
    requires goes_back<Link, Member>
  {
    Member* const before = Link::back(from);
    last_ = before;
    (before == nullptr ? first_ : Link::link(before)) = nullptr;
    Count::change(-number);
  }
  void cut_all(int number) noexcept {
    first_ = nullptr;
    last_ = nullptr;
    Count::change(-number);
  }

  // Appends one and takes the first. Precondition: the queue is not empty.
  Member* take_for(Member* last) noexcept {
    Member* const first = first_;
    Member* const before = last_;
    Link::link(last) = nullptr;
    set_back(last, before);
    Link::link(before) = last;
    last_ = last;
    first_ = static_cast<Member*>(Link::link(first)); // `last`, if there was one
    set_back(static_cast<Member*>(first_), nullptr);
    return first;
  }

  // The first member that `wanted` is true for; null: there is none.
  template <class Wanted = any_member> Member* take(Wanted wanted = {}) noexcept {
    Member* before = nullptr;
    for (Member* at = first_; at != nullptr; before = at, at = Link::link(at))
      if (wanted(at)) {
        take_out(before, at);
        return at;
      }
    return nullptr;
  }

  // True: the member was here. It is in no other queue of these links.
  bool remove(Member* member) noexcept
    requires goes_back<Link, Member>
  {
    Member* const before = Link::back(member);
    if (before == nullptr && first_ != member)
      return false;
    take_out(before, member);
    return true;
  }

  // Takes the first `most` that `wanted` is true for. Returns the first; each names the next.
  template <class Wanted = any_member>
  Member* take_all(Wanted wanted = {}, std::uint32_t most = ~std::uint32_t{0}) noexcept {
    linked_queue<Member, Link> taken;
    Member* before = nullptr;
    for (Member* at = first_; at != nullptr && most > 0;) {
      Member* const next = Link::link(at);
      if (wanted(at)) {
        take_out(before, at);
        taken.append(at);
        set_back(at, nullptr);
        --most;
      } else {
        before = at;
      }
      at = next;
    }
    return taken.first();
  }

  template <class Wanted> bool holds(Wanted wanted) const noexcept {
    Member* at = first_;
    while (at != nullptr && !wanted(at))
      at = Link::link(at);
    return at != nullptr;
  }

private:
  static void set_back(Member* member, Member* before) noexcept {
    if constexpr (goes_back<Link, Member>)
      Link::back(member) = before;
  }
  void take_out(Member* before, Member* member) noexcept {
    Member* const after = Link::link(member);
    (before == nullptr ? first_ : Link::link(before)) = after;
    if (after == nullptr)
      last_ = before;
    else
      set_back(after, before);
    set_back(member, nullptr);
    Count::change(-1);
  }

  base::handed_over<Member*> first_{nullptr};
  base::handed_over<Member*> last_{nullptr};
};

template <class Member, class Link = by_next>
using counted_queue = linked_queue<Member, Link, counted>;

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
