// SPDX-License-Identifier: MIT
// The list of observers. It lives as long as the process.
#include "nopal/cancel/observers.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace nopal::inline NOPAL_ABI::cancel {
namespace {

struct observer_list {
  std::mutex lock;
  observer* first = nullptr;
};
observer_list& observers() {
  static auto* const only = new observer_list;
  return *only;
}

} // namespace

observer::observer(std::vector<const join::cancelable*> of) : of_{std::move(of)} {
  observer_list& all = observers();
  const std::scoped_lock guard{all.lock};
  next_ = std::exchange(all.first, this);
  before_ = &all.first;
  if (next_ != nullptr)
    next_->before_ = &next_;
  if (cancelled())
    source_.request_stop(); // nobody has its token yet
}

observer::~observer() {
  const std::scoped_lock guard{observers().lock};
  *before_ = next_;
  if (next_ != nullptr)
    next_->before_ = before_;
}

bool observer::cancelled() const noexcept {
  return std::ranges::any_of(of_, [](const join::cancelable* node) { return node->marked(); });
}

void tell_observers() {
  std::vector<std::stop_source> told;
  {
    observer_list& all = observers();
    const std::scoped_lock guard{all.lock};
    for (const observer* one = all.first; one != nullptr; one = one->next_)
      if (!one->source_.stop_requested() && one->cancelled())
        told.push_back(one->source_);
  }
  for (std::stop_source& one : told)
    one.request_stop();
}

} // namespace nopal::inline NOPAL_ABI::cancel
