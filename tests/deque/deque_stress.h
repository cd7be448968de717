// SPDX-License-Identifier: MIT
// The common stress set of the deques: an owner opens and closes forks as nested frames do, and
// thieves ask, steal and publish for the owner. Every continuation is run exactly once.
#pragma once

#include "nopal/base/os.h"
#include "nopal/base/random.h"
#include "nopal/base/sanitizer.h"
#include "nopal/deque/limit.h"
#include "nopal/deque/public_ring.h"
#include "nopal/stack/marks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace nopal_test {

// One continuation: what its owner and the thieves made of it.
struct continuation {
  std::uint8_t kept = 0;                  // by the owner
  std::atomic<std::uint8_t> stolen{0};    // by thieves
  std::atomic<std::uint8_t> published{0}; // times completed since it was last private
  std::uintptr_t taken_above = 0;
  std::uint8_t taken_under_lock = 0; // told by the deque, while the thief had its lock
};

struct fork_record {
  using frame_type = continuation;

  std::uintptr_t mark = 0;
  continuation* parent = nullptr;

  continuation* frame() const noexcept { return parent; }
  continuation* complete(std::uintptr_t above, nopal::stack::stack_id = 0) noexcept {
    nopal::base::happens_after(this); // ThreadSanitizer did not see how the fork was found
    parent->taken_above = above;
    parent->published.fetch_add(1, std::memory_order_relaxed);
    return parent;
  }
  static void taken(continuation* parent) noexcept { parent->taken_under_lock += 1; }
};

// A stack of `depth` frames; the oldest frame has the highest address.
struct frames {
  static constexpr std::size_t depth = 12;
  static constexpr std::size_t spacing = 8; // words between two forks
  static constexpr nopal::stack::stack_id id = 1;

  static inline std::uintptr_t words[(depth + 1) * spacing];

  static fork_record* at(std::size_t depth_of_frame) noexcept {
    return reinterpret_cast<fork_record*>(words + (depth - depth_of_frame) * spacing);
  }
  static std::uintptr_t top() noexcept {
    return reinterpret_cast<std::uintptr_t>(words + (depth + 1) * spacing);
  }
  static std::size_t most_forks() noexcept { return depth + 2; }
  static std::uintptr_t bottom(nopal::stack::stack_id) noexcept {
    return reinterpret_cast<std::uintptr_t>(words);
  }
  static std::uintptr_t lowest_fork(nopal::stack::stack_id) noexcept { return bottom(id); }
  static std::uintptr_t offset(nopal::stack::stack_id) noexcept { return 0; }
};

// Whether a thief holds a lock while it steals, as the deques of bench/baseline say. In Nopal's own
// it takes none.
template <class Deque> constexpr bool steals_under_lock() {
  if constexpr (requires { Deque::steals_under_lock; })
    return Deque::steals_under_lock;
  else
    return false;
}

template <class Deque> class owner {
public:
  owner(Deque& deque, std::uint64_t seed, std::size_t count)
      : deque_{deque}, continuations_(count) {
    random_.reseed(seed, 0);
  }

  void run() {
    deque_.adopt(frames::id, frames::top(), this);
    while (used_ < continuations_.size())
      frame(0);
    deque_.adopt(nopal::stack::no_stack, 0, nullptr);
  }

  const std::vector<continuation>& continuations() const { return continuations_; }
  std::uint64_t taken_back() const { return taken_back_; }

private:
  // A function that forks some children, each of which is such a function.
  void frame(std::size_t depth) {
    for (unsigned forks = 1 + random_.below(3); forks > 0 && used_ < continuations_.size();
         --forks) {
      fork_record* const open = new (frames::at(depth)) fork_record{0, &continuations_[used_++]};
      push(open);
      if (depth + 1 < frames::depth && random_.below(3) != 0)
        frame(depth + 1);
      else
        idle();
      close(open);
    }
  }

  void push(fork_record* open) {
    nopal::base::happens_before(open); // ThreadSanitizer did not see how it was opened either
    if (deque_.push(open))
      return;
    if (deque_.push_anyway(open) != nopal::deque::attention::none)
      deque_.publish(open, this);
  }

  void close(fork_record* open) {
    continuation* const parent = open->parent;
    if (Deque::pop(open, [this]() -> Deque& { return deque_; })) {
      parent->kept += 1;
      return;
    }
    if (deque_.take_back(open)) {
      parent->kept += 1;
      taken_back_ += parent->published.load(std::memory_order_relaxed) != 0 ? 1 : 0;
      return;
    }
    // Stolen: this strand ends, and the frame goes on here after its join.
    deque_.adopt(nopal::stack::no_stack, 0, nullptr);
    while (parent->stolen.load(std::memory_order_acquire) == 0)
      std::this_thread::yield();
    deque_.adopt(frames::id, parent->taken_above, this);
  }

  // A strand that forks nothing: only a starved thief gets something now.
  void idle() {
    if (random_.below(512) == 0)
      for (int i = 0; i < 50 && !deque_.anything_public(); ++i)
        std::this_thread::yield();
  }

  Deque& deque_;
  nopal::base::random random_;
  std::vector<continuation> continuations_;
  std::size_t used_ = 0;
  std::uint64_t taken_back_ = 0;
};

template <class Deque>
void thief(Deque& deque, void* group, std::uint32_t number, std::uint64_t seed,
           std::atomic<int>& begun, const std::atomic<bool>& ended) {
  nopal::base::random random;
  random.reseed(seed, number);
  begun.fetch_add(1, std::memory_order_acq_rel);
  while (!ended.load(std::memory_order_acquire)) {
    nopal::deque::entry<fork_record> taken{};
    switch (deque.steal(random.below(2) == 0 ? nullptr : group, taken)) {
    case nopal::deque::outcome::got:
      ASSERT_EQ(taken.group, group);
      ASSERT_EQ(taken.frame->taken_under_lock, steals_under_lock<Deque>() ? 1 : 0);
      taken.frame->stolen.fetch_add(1, std::memory_order_acq_rel);
      break;
    case nopal::deque::outcome::empty:
      if (random.below(4) == 0)
        deque.publish_for_owner();
      else
        deque.ask();
      break;
    case nopal::deque::outcome::foreign:
      FAIL() << "the fork of another group";
    case nopal::deque::outcome::lost:
      break;
    }
    if (random.below(64) == 0)
      std::this_thread::yield();
  }
}

// One run; true if thieves got something. Each continuation is run once, whoever runs it.
template <class Deque>
bool stress_once(bool fenced, int thieves, std::uint64_t seed, std::size_t count) {
  nopal::base::enable_heavy_barrier();
  const auto deque = std::make_unique<Deque>();
  deque->open(fenced);
  owner<Deque> works(*deque, seed, count);
  std::atomic<bool> ended{false};
  std::atomic<int> begun{0};
  std::vector<std::thread> threads;
  for (int i = 1; i <= thieves; ++i)
    threads.emplace_back(
        [&, i] { thief(*deque, &works, static_cast<std::uint32_t>(i), seed, begun, ended); });
  while (begun.load(std::memory_order_acquire) < thieves)
    std::this_thread::yield();
  works.run();
  ended.store(true, std::memory_order_release);
  for (std::thread& thread : threads)
    thread.join();
  long stolen = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const continuation& each = works.continuations()[i];
    EXPECT_EQ(each.kept + each.stolen.load(), 1) << "continuation " << i;
    stolen += each.stolen.load();
  }
  return stolen > 0;
}

// On a busy machine a short run may be over before any thief had its turn.
template <class Deque>
void stress(bool fenced, int thieves, std::uint64_t seed, std::size_t count) {
  while (!stress_once<Deque>(fenced, thieves, seed, count))
    ++seed;
}

} // namespace nopal_test
