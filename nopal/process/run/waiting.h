// SPDX-License-Identifier: MIT
// The tasks of a process that wait for others, and which of them goes on.
#pragma once

#include "nopal/config.h"
#include "nopal/join/failure.h"
#include "nopal/process/run/worker.h"
#include "nopal/process/transport/segment.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <list>
#include <optional>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// A suspended task: it waits for the task that `until` names.
struct suspended {
  segment where; // on the region
  cell* frames;  // the copy of its frames
  cell_reference until;
  join::exception_state exceptions; // what the C++ runtime keeps of its handlers
};

// The thread that runs tasks is its only user.
class waiting_tasks {
public:
  bool empty() const noexcept { return all_.empty(); }
  void add(const suspended& task) { all_.push_back(task); }

  // Takes a task of which is_ready(task) is true. A process may have very many: so this asks about
  // the newest and so many others, each in its turn.
  template <class Ready> std::optional<suspended> take_ready(std::size_t most, Ready is_ready) {
    if (all_.empty())
      return std::nullopt;
    if (const auto newest = std::prev(all_.end()); is_ready(*newest))
      return take(newest);
    for (most = std::min(most, all_.size()); most != 0; --most) {
      const auto each = next_ == all_.end() ? all_.begin() : next_;
      next_ = std::next(each);
      if (is_ready(*each))
        return take(each);
    }
    return std::nullopt;
  }

private:
  using place = std::list<suspended>::iterator;

  // A task that waits for this one is often near it, so those are asked about next.
  suspended take(place which) {
    const suspended taken = *which;
    next_ = all_.erase(which);
    for (int i = 0; i < 4 && next_ != all_.begin(); ++i)
      --next_;
    return taken;
  }

  std::list<suspended> all_; // the newest last
  place next_ = all_.end();
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
