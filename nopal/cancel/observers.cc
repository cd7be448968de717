// SPDX-License-Identifier: MIT
// The list of observers.
#include "nopal/cancel/observers.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace nopal::inline NOPAL_ABI::cancel {
namespace {

struct observer_list {
  std::mutex lock; // guards `first` and the links of all observers
  observer* first = nullptr;
};
// Never destroyed: the alarms' thread may use it as long as the process lives.
observer_list& observers() {
  static auto* const list = new observer_list;
  return *list;
}

} // namespace

observer::observer(std::vector<const join::cancelable*> nodes) : nodes_{std::move(nodes)} {
  observer_list& all = observers();
  const std::scoped_lock guard{all.lock};
  next_ = std::exchange(all.first, this);
  before_ = &all.first;
  if (next_ != nullptr)
    next_->before_ = &next_;
  // After it is in the list: a canceller marks its node before it reads the list, so the mark is
  // seen here or there. Nobody has the token yet, so no callback runs under the lock.
  if (cancelled())
    source_.request_stop();
}

observer::~observer() {
  const std::scoped_lock guard{observers().lock};
  *before_ = next_;
  if (next_ != nullptr)
    next_->before_ = before_;
}

bool observer::cancelled() const noexcept {
  return std::ranges::any_of(nodes_, [](const join::cancelable* node) { return node->marked(); });
}

void tell_observers() {
  std::vector<std::stop_source> due;
  {
    observer_list& all = observers();
    const std::scoped_lock guard{all.lock};
    for (const observer* each = all.first; each != nullptr; each = each->next_)
      if (!each->source_.stop_requested() && each->cancelled())
        due.push_back(each->source_);
  }
  // Without the lock: callbacks may make and destroy observers. The copies keep the state alive.
  for (std::stop_source& source : due)
    source.request_stop();
}

} // namespace nopal::inline NOPAL_ABI::cancel
