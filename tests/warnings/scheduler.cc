// SPDX-License-Identifier: MIT
// Schedulers and actions of a program's own.
#include "nopal/scheduler.h"

#include <deque>

namespace {

class own : public nopal::scheduler {
  void put(nopal::fiber ready) override { ready_.push_back(std::move(ready)); }
  nopal::fiber take() override {
    if (ready_.empty())
      return {};
    nopal::fiber first = std::move(ready_.front());
    ready_.pop_front();
    return first;
  }
  std::deque<nopal::fiber> ready_;
};

} // namespace

bool scheduler_is_right() {
  own scheduler;
  int count = 0;
  nopal::run(scheduler, [&count] { nopal::spawn([&count] { ++count; }); });
  return nopal::run(scheduler, [&count] { return count; }) == 1;
}
