// SPDX-License-Identifier: MIT
// Pointers into the frame of a strand that is no ancestor, as locks have whose queue's nodes lie in
// frames (cilk-m-pact10, section 4): check builds name those that a strand is given.
#include "agents.h"

#include "nopal/base/die.h"
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/fork.h"
#include "tests/api/support.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace nopal_test {
namespace {

const start this_program{4};
const auto died = testing::ExitedWithCode(nopal::base::exit_status_died);
[[maybe_unused]] constexpr char named[] =
    "^nopal: a strand was given the address 0x[0-9a-f]+, where neither it nor "
    "an ancestor has a frame.*on the heap or into a frame above both\n$";

class cousins : public death {
protected:
  void SetUp() override {
    death::SetUp();
    if (!on_views())
      GTEST_SKIP() << "this system does not let memory be shared, and the program has said so";
  }
};

// Calls it with its frame some pages below the caller's: no frame of a thief has these addresses.
template <class Body> [[gnu::noinline]] void far_below(Body body) {
  char room[16384];
  asm volatile("" : : "r"(room) : "memory");
  body();
  asm volatile("" : : "r"(room) : "memory");
}

struct node {
  std::atomic<node*> next{nullptr};
  std::atomic<bool> waits{true};
};

// The lock of Mellor-Crummey and Scott.
class queue_lock {
public:
  void lock(node& own) {
    node* const before = last_.exchange(&own);
    if (before == nullptr)
      return;
    nopal::scope s;
    s.fork(wait_behind, before, &own);
    s.join();
  }
  void unlock(node& own) {
    node* expected = &own;
    if (last_.compare_exchange_strong(expected, nullptr))
      return;
    while (own.next == nullptr)
      std::this_thread::yield();
    own.next.load()->waits = false;
  }
  void wait_for_another(const node& own) const {
    while (last_ == &own)
      std::this_thread::yield();
  }

private:
  static void wait_behind(node* before, node* own) {
    before->next = own;
    while (own->waits)
      std::this_thread::yield();
  }

  std::atomic<node*> last_{nullptr};
};

struct in_the_frame {
  node place;
  node& get() { return place; }
};
struct on_the_heap {
  std::unique_ptr<node> place = std::make_unique<node>();
  node& get() { return *place; }
};

// The first strand has the lock until another one waits, so the continuation of its fork is stolen.
template <class Place> long count_under_lock(int strands) {
  queue_lock lock;
  long count = 0;
  std::atomic<bool> first_has_it{false};
  nopal::scope s;
  const auto with_lock = [&](bool first) {
    Place own;
    lock.lock(own.get());
    if (first) {
      first_has_it = true;
      lock.wait_for_another(own.get());
    }
    count += 1;
    lock.unlock(own.get());
  };
  s.fork([&] { far_below([&] { with_lock(true); }); });
  while (!first_has_it)
    std::this_thread::yield();
  for (int i = 1; i < strands; ++i)
    s.fork([&] { with_lock(false); });
  s.join();
  return count;
}

TEST_F(cousins, share_a_lock_whose_nodes_lie_on_the_heap) {
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(count_under_lock<on_the_heap>(50), 50);
}

#if defined(NOPAL_CHECKS)
TEST_F(cousins, are_named_where_the_nodes_of_a_lock_lie_in_their_frames) {
  EXPECT_EXIT(count_under_lock<in_the_frame>(2), died, named);
}

TEST_F(cousins, are_named_where_a_channel_brings_a_pointer_into_their_frames) {
  EXPECT_EXIT(
      {
        nopal::channel<int*> through{1};
        gate never;
        nopal::scope s;
        s.fork([&] {
          far_below([&] {
            int local = 0;
            through.send(&local);
            never.wait();
          });
        });
        *through.recv() = 1;
        never.open();
        s.join();
      },
      died, named);
}

[[gnu::noinline]] void spawn_with_a_local() {
  int local = 0;
  nopal::channel<int> done{1};
  nopal::spawn([&local, &done] {
    local = 1;
    done.send(1);
  });
  done.recv();
}

TEST_F(cousins, are_named_where_a_fiber_is_given_a_local_of_a_thief) {
  EXPECT_EXIT(nopal::run([] {
                gate stolen;
                nopal::scope s;
                s.fork([&stolen] { stolen.wait(); });
                spawn_with_a_local();
                stolen.open();
                s.join();
              }),
              died, named);
}
#endif

TEST_F(cousins, are_named_by_a_process_that_shows_nothing_at_the_address) {
  EXPECT_EXIT(
      {
        test::agent other;
        nopal::scope s;
        s.fork([&other] {
          volatile int local = 1;
          other.run([&local] { local = 2; });
        });
        s.join();
      },
      died, "^nopal: an address on the stack of another strand was used.*above both\n$");
}

} // namespace
} // namespace nopal_test
