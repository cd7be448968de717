// SPDX-License-Identifier: MIT
// Threads that have become processes and call what a test tells them to call, in turn.
#pragma once

#include "nopal/mapped/sharing.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <mutex>
#include <semaphore>
#include <thread>

namespace test {

class agent {
public:
  agent()
      : thread_{[this] {
          nopal::mapped::become_process();
          for (;;) {
            begun_.acquire();
            if (!call_)
              return;
            call_();
            done_.release();
          }
        }} {}
  ~agent() {
    call_ = nullptr;
    begun_.release();
    thread_.join();
  }
  agent(const agent&) = delete;
  agent& operator=(const agent&) = delete;

  void begin(std::function<void()> call) {
    call_ = std::move(call);
    begun_.release();
  }
  void wait() { done_.acquire(); }
  // Returns when the call has returned.
  void run(std::function<void()> call) {
    begin(std::move(call));
    wait();
  }
  pthread_t thread() { return thread_.native_handle(); }

private:
  std::function<void()> call_;
  std::binary_semaphore begun_{0}, done_{0};
  std::thread thread_;
};

// A test of two processes beside the first one.
class mapped : public testing::Test {
protected:
  void SetUp() override {
    if (!nopal::mapped::on())
      GTEST_SKIP() << "this system refuses what nopal::mapped needs, as the program's message says";
  }
  agent a, b;
};

// Calls body(i) in each of several processes, and waits for all.
template <class Body> void in_processes(unsigned count, Body body) {
  std::deque<agent> agents(count);
  for (unsigned i = 0; i < count; ++i)
    agents[i].begin([&body, i] { body(i); });
  for (agent& each : agents)
    each.wait();
}

} // namespace test
