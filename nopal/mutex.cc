// SPDX-License-Identifier: MIT
#include "nopal/mutex.h"

#include "nopal/base/check.h"
#include "nopal/sched/waiting.h"

namespace nopal {

namespace detail {

void waiting_line::append(sched::waiter* last) noexcept {
  last->next = nullptr;
  (first_ == nullptr ? first_ : last_->next) = last;
  last_ = last;
}

sched::waiter* waiting_line::take_first() noexcept {
  sched::waiter* const first = first_;
  if (first != nullptr)
    first_ = first->next;
  return first;
}

} // namespace detail

void mutex::wait() noexcept {
  sched::suspend([](sched::waiter* strand,
                    void* self) { return static_cast<mutex*>(self)->join_line(strand); },
                 this);
}

// False: it is ours.
bool mutex::join_line(sched::waiter* strand) noexcept {
  const deque::locked guard{lock_};
  std::uint32_t seen = state_.load(base::relaxed);
  for (;;) {
    const std::uint32_t wanted = seen == kFree ? kHeld : kWanted;
    if (!state_.compare_exchange_weak(seen, wanted, base::acquire, base::relaxed))
      continue;
    if (seen == kFree)
      return false;
    line_.append(strand);
    return true;
  }
}

void mutex::hand_over() noexcept {
  sched::waiter* next = nullptr;
  {
    const deque::locked guard{lock_};
    next = line_.take_first();
    NOPAL_ASSERT(next != nullptr, "a nopal::mutex was unlocked that nobody had locked");
    if (line_.empty())
      state_.store(kHeld, base::relaxed);
  }
  sched::make_ready(next);
}

namespace {

struct wait_of {
  deque::spin_lock& lock;
  detail::waiting_line& line;
  mutex& held;
};

} // namespace

void condition_variable::wait(std::unique_lock<mutex>& lock) noexcept {
  wait_of all{lock_, line_, *lock.mutex()};
  sched::suspend(
      [](sched::waiter* strand, void* argument) {
        // The strand may go on, and `all` be gone, once the line's lock is free.
        const auto [line_lock, line, held] = *static_cast<wait_of*>(argument);
        mutex* const to_unlock = &held;
        {
          const deque::locked guard{line_lock};
          line.append(strand);
        }
        to_unlock->unlock();
        return true;
      },
      &all);
  lock.mutex()->lock();
}

void condition_variable::notify_one() noexcept {
  sched::waiter* first = nullptr;
  {
    const deque::locked guard{lock_};
    first = line_.take_first();
  }
  if (first != nullptr)
    sched::make_ready(first);
}

void condition_variable::notify_all() noexcept {
  detail::waiting_line all;
  {
    const deque::locked guard{lock_};
    std::swap(all, line_);
  }
  while (sched::waiter* const first = all.take_first())
    sched::make_ready(first);
}

} // namespace nopal
