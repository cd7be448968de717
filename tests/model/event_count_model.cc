// SPDX-License-Identifier: MIT
// Models of what happens again and again: a strand that has tried in vain is woken by what happens
// next.
//
// The calls and their order are those of io/attempts.h and io/events.cc; `data` stands for what the
// system has.
#include "harness.h"
#include "waiter.h"

#include "nopal/io/event_count.h"

namespace nopal::model {
namespace {

// Of two events each brings something, and each strand takes something.
template <int Events> struct waits_for_data : scenario<waits_for_data<Events>, Events + 1> {
  io::event_count<waiter> events;
  base::atomic<int> data{0};
  waiter all[Events];
  bool taken[Events] = {};

  bool take() noexcept {
    int seen = data.load(base::relaxed);
    while (seen != 0)
      if (data.compare_exchange_strong(seen, seen - 1, base::relaxed, base::relaxed))
        return true;
    return false;
  }
  void deliver() noexcept {
    for (waiter* each = events.happen(); each != nullptr;) {
      waiter* const next = each->next_waiting;
      each->woken.wake(); // make_ready
      each = next;
    }
  }

  void thread(unsigned self) {
    if (self == Events) {
      for (int i = 0; i < Events; ++i) {
        data.fetch_add(1, base::relaxed);
        deliver();
      }
      return;
    }
    for (;;) {
      waiter mine;
      const std::uint32_t seen = events.count();
      if (take())
        break;
      if (events.join(&mine, seen))
        mine.wait();
    }
    taken[self] = true;
  }
  void after() {
    for (const bool each : taken)
      check(each, "a strand has not got what has come");
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<waits_for_data<1>>("one waits");
  models.bounded<waits_for_data<1>>("one waits", 3);
  models.random<waits_for_data<2>>("two wait", 3);
  return models.result();
}
