// SPDX-License-Identifier: MIT
// Models of items of work and their runners, and of what items await.
//
// The calls are those of nopal/work_queue.h; a runner that was made is a number that a thread
// takes.
#include "harness.h"
#include "mortal.h"

#include "nopal/sync/dependents.h"
#include "nopal/sync/standby_queue.h"

namespace nopal::model {
namespace {

struct item {
  base::handed_over<item*> next{nullptr};
  base::handed_over<item*> before{nullptr};
  base::handed_over<int> value{0};
  base::atomic<std::uint32_t> called{0};
};

// Ends with the scenario, if it has not ended before.
template <class T> class passing : mortal<T> {
public:
  passing() = default;
  ~passing() {
    if (lives_)
      end();
  }
  using mortal<T>::operator*;
  T& begin() noexcept {
    lives_ = true;
    return mortal<T>::begin();
  }
  void end() noexcept {
    lives_ = false;
    mortal<T>::end();
  }

private:
  bool lives_ = false;
};

// What the models of the queue do. A batch has two items, and before each a runner visits another.
struct work {
  using queue = sync::standby_queue<item, 2, 1>;

  passing<queue> room;
  queue& items = room.begin();
  item all[4];
  int number = 2;                          // how many of them are added
  base::atomic<std::uint32_t> to_begin{0}; // runners that were made, and no thread runs
  base::atomic<std::uint32_t> members{0};
  base::atomic<std::uint32_t> awaited{0};
  passing<queue::runner> runners[8];
  base::atomic<std::uint32_t> begun_runners{0};

  auto begun() noexcept {
    return [this] { members.fetch_add(1, base::relaxed); };
  }
  void made(bool one) noexcept {
    if (one)
      to_begin.fetch_add(1, base::relaxed);
  }
  void add(item& added) noexcept {
    added.value = 7;
    made(items.add(&added, begun()));
  }
  void add_first(item& added, queue::runner* own) noexcept {
    added.value = 7;
    made(items.add_first(&added, own, begun()));
  }
  bool called(int i) const noexcept { return all[i].called.load(base::acquire) != 0; }
  bool all_called() const noexcept {
    int i = 0;
    while (i < number && called(i))
      ++i;
    return i == number;
  }
  template <class Call> void serve(Call call) noexcept {
    const std::uint32_t own_number = begun_runners.fetch_add(1, base::relaxed);
    check(own_number < 8, "too many runners");
    runners[own_number].begin();
    go_on(own_number, call);
  }
  template <class Call> void go_on(std::uint32_t own_number, Call call) noexcept {
    queue::runner& own = *runners[own_number];
    for (bool may_look = true;;) {
      const auto next = items.take(own, {2, may_look, awaited.load(base::relaxed) != 0}, begun());
      if (next.ends)
        break;
      made(next.makes_runner);
      may_look = next.item != nullptr;
      if (next.item == nullptr)
        continue;
      check(next.item->value == 7, "a runner does not see the item");
      check(next.item->called.fetch_add(1, base::release) == 0, "an item was called twice");
      call(next.item, &own);
    }
    runners[own_number].end();
    members.fetch_sub(1, base::release);
  }
  // The first runner takes the first item, which is called.
  void begin_first(bool makes_runner) noexcept {
    const auto next = items.take(runners[0].begin(), {2, true, false}, begun());
    check(next.item == &all[0] && next.makes_runner == makes_runner, "it keeps other items");
    all[0].called.store(1, base::release);
    begun_runners.store(1, base::relaxed);
    to_begin.store(makes_runner ? 1 : 0, base::relaxed);
  }
  // A thread that begins runners.
  template <class Done, class Call> void run_until(Done done, Call call) noexcept {
    for (unsigned tries = 1; !done(); ++tries) {
      std::uint32_t runnable = to_begin.load(base::relaxed);
      if (runnable != 0 &&
          to_begin.compare_exchange_strong(runnable, runnable - 1, base::relaxed, base::relaxed))
        serve(call);
      else
        base::wait_briefly(tries);
    }
  }
  // The same, until there is nothing to do.
  template <class Call> void run(Call call) noexcept {
    run_until([this] { return all_called() && members.load(base::acquire) == 0; }, call);
  }
  void wait_for(int i) noexcept {
    for (unsigned tries = 1; !called(i); ++tries)
      base::wait_briefly(tries);
  }
};

// The first item waits for the second one, which is in the same batch.
struct waits : scenario<waits, 3> {
  work all;

  void thread(unsigned self) {
    if (self == 0) {
      all.add(all.all[0]);
      all.add(all.all[1]);
      return;
    }
    all.run([this](const item* called, auto*) {
      if (called == &all.all[0])
        all.wait_for(1);
    });
  }
};

// Each thread adds an item, which waits for the next one, and then begins runners.
struct chain : scenario<chain, 4> {
  work all;

  void before() { all.number = 4; }
  void thread(unsigned self) {
    all.add(all.all[self]);
    all.run([this](const item* called, auto*) {
      if (called != &all.all[3])
        all.wait_for(static_cast<int>(called - all.all) + 1);
    });
  }
};

// The first item adds one, and waits for it. The standby takes what comes from outside meanwhile.
template <bool Outside> struct adds : scenario<adds<Outside>, 3> {
  work all;

  void before() {
    all.add(all.all[0]);
    if (!Outside)
      return;
    all.number = 3;
    all.add(all.all[2]);
  }
  void thread(unsigned self) {
    if (self == 0)
      return;
    all.run([this](const item* called, work::queue::runner* own) {
      if (called != &all.all[0])
        return;
      all.add_first(all.all[1], own);
      all.wait_for(1);
    });
  }
};

// A runner at work takes a batch, in which an item waits for the other one, while the standby looks
// and ends.
struct batch_at_work : scenario<batch_at_work, 2> {
  work all;

  void before() {
    all.number = 3;
    all.add(all.all[0]);
    all.begin_first(false);
    all.add(all.all[1]);
    all.add(all.all[2]);
  }
  void thread(unsigned self) {
    const auto call = [this](const item* called, auto*) {
      if (called == &all.all[1])
        all.wait_for(2);
    };
    if (self == 0)
      all.go_on(0, call);
    all.run(call);
  }
};

// A runner that begins takes the one item that another keeps, which does not get on; it waits for
// what is added meanwhile.
struct stolen_alone : scenario<stolen_alone, 2> {
  work all;

  void before() {
    all.add(all.all[0]);
    all.add(all.all[1]);
    all.begin_first(true);
  }
  void thread(unsigned self) {
    if (self == 0)
      all.add(all.all[2]);
    all.run_until([this] { return all.called(2); },
                  [this](const item* called, auto*) {
                    if (called == &all.all[1])
                      all.wait_for(2);
                  });
  }
};

// Two strands of an item, which its runner has taken alone, add one each.
struct forks_add : scenario<forks_add, 3> {
  work all;

  void before() {
    all.number = 3;
    all.add(all.all[0]);
    all.begin_first(false);
  }
  void thread(unsigned self) {
    if (self < 2) {
      all.add_first(all.all[self + 1], &*all.runners[0]);
      all.wait_for(static_cast<int>(self) + 1);
      return;
    }
    all.run_until([this] { return all.called(1) && all.called(2); }, [](item*, auto*) {});
  }
};

// Who adds an item and then finds no member knows that it was called, and may destroy the queue.
struct awaited : scenario<awaited, 3> {
  work all;
  base::atomic<std::uint32_t> added{0};

  void thread(unsigned self) {
    if (self == 2)
      return all.run([](item*, auto*) {});
    all.add(all.all[self]);
    if (self == 0)
      return added.store(1, base::release);
    all.awaited.store(1, base::relaxed);
    for (unsigned tries = 1; all.members.load(base::acquire) != 0; ++tries)
      base::wait_briefly(tries);
    check(all.called(1), "an item is left where there is no member");
    if (added.load(base::acquire) != 0 && all.members.load(base::acquire) == 0)
      all.room.end();
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
  models.random<stolen_alone>("the only item that is kept is stolen");
  models.bounded<stolen_alone>("the only item that is kept is stolen", 1);
  models.random<batch_at_work>("a runner at work takes a batch");
  models.bounded<batch_at_work>("a runner at work takes a batch", 1);
  models.random<waits>("an item waits for a later one");
  models.bounded<waits>("an item waits for a later one", 1);
  models.random<adds<false>>("an item waits for one that it has added");
  models.bounded<adds<false>>("an item waits for one that it has added", 1);
  models.random<adds<true>>("items are added from within and without");
  models.bounded<adds<true>>("items are added from within and without", 1);
  models.random<forks_add>("two strands of an item add items");
  models.bounded<forks_add>("two strands of an item add items", 1);
  models.random<chain>("each waits for the next one");
  models.random<awaited>("who has added an item waits");
  models.bounded<awaited>("who has added an item waits", 1);
  models.random<happens>("two await what happens");
  models.bounded<happens>("two await what happens", 2);
  models.random<is_forgotten>("one is forgotten");
  models.bounded<is_forgotten>("one is forgotten", 3);
  return models.result();
}
