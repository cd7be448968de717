// SPDX-License-Identifier: MIT
// How a child of fork() is told from its parent.
#include "nopal/base/child.h"

#include "nopal/base/die.h"
#include "nopal/base/per_process.h"
#include "nopal/base/spin_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using nopal::base::forks_behind;

TEST(child, each_fork_is_counted_in_the_child_alone) {
  const std::uint32_t before = forks_behind();
  const pid_t child = fork();
  if (child == 0) {
    const bool child_grew = forks_behind() == before + 1;
    const pid_t grandchild = fork();
    if (grandchild == 0)
      _exit(forks_behind() == before + 2 ? 0 : 1);
    int status = 0;
    waitpid(grandchild, &status, 0);
    _exit(child_grew && status == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(forks_behind(), before);
}

// The exit status of a child that has called f.
template <class F> int status_of_child(F f) {
  const pid_t child = fork();
  if (child == 0)
    _exit(f());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(child, a_lock_that_the_parent_holds) {
  nopal::base::spin_lock lock;
  std::atomic<bool> held{false};
  std::atomic<bool> done{false};
  std::thread other{[&] {
    lock.lock();
    held = true;
    while (!done)
      std::this_thread::yield();
    lock.unlock();
  }};
  while (!held)
    std::this_thread::yield();
  EXPECT_EQ(status_of_child([&] {
              lock.lock();
              return 0;
            }),
            nopal::base::exit_status_died);
  EXPECT_EQ(status_of_child([&] {
              lock.begin_anew();
              lock.lock();
              return 0;
            }),
            0);
  done = true;
  other.join();
}

TEST(child, a_lock_that_the_caller_holds_is_its_own_to_release) {
  nopal::base::spin_lock lock;
  lock.lock();
  EXPECT_EQ(status_of_child([&] {
              lock.unlock();
              lock.lock();
              return 0;
            }),
            0);
  lock.unlock();
}

std::atomic<int> made{0};
std::atomic<bool> may_be_made{false};
struct made_slowly {
  made_slowly() {
    made = made + 1;
    while (!may_be_made)
      std::this_thread::yield();
  }
  int value = 7;
};

// A static local variable would wait for the parent's thread.
TEST(child, makes_an_object_that_the_parent_is_making) {
  static nopal::base::per_process<made_slowly> object;
  std::thread other{[] { EXPECT_EQ(object.get().value, 7); }};
  while (made == 0)
    std::this_thread::yield();
  EXPECT_EQ(status_of_child([] {
              may_be_made = true;
              return object.get().value == 7 && made == 2 && &object.get() == &object.get() ? 0 : 1;
            }),
            0);
  may_be_made = true;
  other.join();
  EXPECT_EQ(made.load(), 1);
  EXPECT_EQ(status_of_child([] {
              object.get().value = 8;
              return made.load();
            }),
            2);
  EXPECT_EQ(object.get().value, 7);
}

} // namespace
