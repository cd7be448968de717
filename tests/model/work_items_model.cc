// SPDX-License-Identifier: MIT
// Models of items of work and their runners, and of what items await.
//
// The calls are those of nopal/work_queue.h; a runner that was made is a number that a thread
// takes.
#include "harness.h"

#include "nopal/sync/dependents.h"
#include "nopal/sync/standby_queue.h"

namespace nopal::model {
namespace {

struct item {
  base::handed_over<item*> next{nullptr};
  base::handed_over<int> value{0};
  base::atomic<std::uint32_t> called{0};
};

// What both models of the queue do.
struct work {
  sync::standby_queue<item> items;
  item all[2];
  base::atomic<std::uint32_t> to_begin{0}; // runners that were made, and no thread runs
  base::atomic<std::uint32_t> members{0};

  auto begun() noexcept {
    return [this] { members.fetch_add(1, base::relaxed); };
  }
  void add(item& added) noexcept {
    added.value = 7;
    if (items.add(&added, false, begun()))
      to_begin.fetch_add(1, base::relaxed);
  }
  bool called(int i) const noexcept { return all[i].called.load(base::acquire) != 0; }
  template <class Call> void serve(Call call) noexcept {
    bool stands_by = true;
    bool may_look = true;
    for (;;) {
      const auto next = items.take(stands_by, may_look, 2, begun());
      if (next.ends)
        break;
      if (next.makes_runner)
        to_begin.fetch_add(1, base::relaxed);
      stands_by = next.stands_by;
      may_look = next.item != nullptr;
      if (next.item == nullptr)
        continue;
      check(next.item->value == 7, "a runner does not see the item");
      check(next.item->called.fetch_add(1, base::release) == 0, "an item was called twice");
      call(next.item);
    }
    members.fetch_sub(1, base::release);
  }
  // A thread that begins runners, until there is nothing to do.
  template <class Call> void run(Call call) noexcept {
    for (unsigned tries = 1; !(called(0) && called(1) && members.load(base::acquire) == 0);
         ++tries) {
      std::uint32_t number = to_begin.load(base::relaxed);
      if (number != 0 &&
          to_begin.compare_exchange_strong(number, number - 1, base::relaxed, base::relaxed))
        serve(call);
      else
        base::wait_briefly(tries);
    }
  }
};

// The first item waits for the second one.
struct waits : scenario<waits, 3> {
  work all;

  void thread(unsigned self) {
    if (self == 0) {
      all.add(all.all[0]);
      all.add(all.all[1]);
      return;
    }
    all.run([this](const item* called) {
      for (unsigned tries = 1; called == &all.all[0] && !all.called(1); ++tries)
        base::wait_briefly(tries);
    });
  }
};

// Who adds an item and then finds no member knows that it was called.
struct awaited : scenario<awaited, 3> {
  work all;

  void thread(unsigned self) {
    if (self == 2)
      return all.run([](item*) {});
    all.add(all.all[self]);
    if (self == 0)
      return;
    for (unsigned tries = 1; all.members.load(base::acquire) != 0; ++tries)
      base::wait_briefly(tries);
    check(all.called(1), "an item is left where there is no member");
  }
};

struct awaiting {
  base::atomic<std::uint32_t> arrived{0};
  sync::dependency<awaiting> by;
};

// Some await what happens, others come too late.
struct happens : scenario<happens, 3> {
  sync::dependents<awaiting> followers;
  base::handed_over<int> value{0};
  awaiting all[2];

  void thread(unsigned self) {
    if (self == 2) {
      value = 7;
      followers.release([](awaiting* at) { at->arrived.fetch_add(1, base::release); });
      return;
    }
    awaiting& own = all[self];
    own.by.item = &own;
    if (!followers.add(&own.by))
      own.arrived.fetch_add(1, base::relaxed);
    for (unsigned tries = 1; own.arrived.load(base::acquire) == 0; ++tries)
      base::wait_briefly(tries);
    check(value == 7, "what has happened is not seen");
    own.by.next = nullptr; // a race if the dependency is still read
    own.by.item = nullptr;
  }
  void after() {
    for (awaiting& each : all)
      check(each.arrived.load(base::relaxed) == 1, "a dependency has not arrived once");
  }
};

struct is_forgotten : scenario<is_forgotten, 2> {
  sync::dependents<awaiting> followers;
  awaiting only;
  bool forgotten = false;

  void before() {
    only.by.item = &only;
    check(followers.add(&only.by), "it has not happened");
  }
  void thread(unsigned self) {
    if (self == 0)
      followers.release([](awaiting* at) { at->arrived.fetch_add(1, base::relaxed); });
    else
      forgotten = followers.forget(&only.by);
  }
  void after() {
    check(forgotten != (only.arrived.load(base::relaxed) == 1), "forgotten, or arrived");
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<waits>("an item waits for a later one");
  models.bounded<waits>("an item waits for a later one", 1);
  models.random<awaited>("who has added an item waits");
  models.bounded<awaited>("who has added an item waits", 1);
  models.random<happens>("two await what happens");
  models.bounded<happens>("two await what happens", 2);
  models.random<is_forgotten>("one is forgotten");
  models.bounded<is_forgotten>("one is forgotten", 3);
  return models.result();
}
