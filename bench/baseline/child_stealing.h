// SPDX-License-Identifier: MIT
// Child stealing (nowa-ipdps21, section II.B), which oneTBB and OpenMP have, in a runtime that is
// as small as it allows: a fork makes a closure of the child on the heap and offers that, and the
// parent goes on. A strand never leaves its thread, so no frame moves and no stack is changed; but
// each fork allocates, and a worker whose scope waits for a stolen child runs others above it on
// its stack, so neither space nor time has the bounds of continuation stealing.
//
// A join takes its children back, the newest first, which is the reverse of the serial order. One
// that is gone was stolen, and so were all older ones: thieves take the oldest.
//
// A thief's last access to a child is `ended`; its parent then frees it.
#pragma once

#include "bench/baseline/chase_lev.h"
#include "bench/random.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

namespace bench::child_stealing {

struct child {
  explicit child(void (*runs)(child*)) : run(runs) {}
  virtual ~child() = default;

  void (*run)(child*);
  std::unique_ptr<child> older; // of the same scope
  std::atomic<bool> ended = false;

  // What the deque asks of its entries.
  using frame_type = child;
  child* frame() noexcept { return this; }
  static void taken(child*) noexcept {}
};

template <class Body> struct closure : child {
  explicit closure(const Body& given)
      : child([](child* self) { static_cast<closure*>(self)->body(); }), body(given) {}
  Body body;
};

// A fork of the deque may have any address.
struct anywhere {
  static std::uintptr_t lowest_fork(nopal::stack::stack_id) noexcept { return 0; }
};

class worker {
public:
  explicit worker(std::deque<worker>& all) : all_(all), random_(all.size()) {
    forks_.open(false);
    forks_.adopt(1, 0, nullptr); // any stack: it then lets each fork pass
  }

  // The one whose thread this is.
  static inline thread_local worker* current = nullptr;

  void offer(child* forked) noexcept {
    ++closures_;
    if (!forks_.push(forked))
      forks_.push_anyway(forked);
  }
  // Whether the newest child is this worker's again.
  bool take_back(child* forked) noexcept { return forks_.pop_newest() || forks_.take_back(forked); }

  // Runs what others offer until that is true.
  template <class Until> void work(Until until) {
    for (unsigned vain = 1; !until(); ++vain) {
      if (child* const stolen = steal()) {
        stolen->run(stolen);
        stolen->ended.store(true, std::memory_order_release);
        vain = 0;
      } else if (vain > 4096) {
        nopal::base::sleep_us(50);
      } else {
        nopal::base::wait_briefly(vain);
      }
    }
  }

  std::uint64_t steals() const noexcept { return steals_.load(std::memory_order_relaxed); }
  std::uint64_t closures() const noexcept { return closures_; } // while nothing runs

private:
  child* steal() noexcept {
    worker& victim = all_[random_.next() % all_.size()];
    nopal::deque::entry<child> got{};
    if (&victim == this || victim.forks_.steal(nullptr, got) != nopal::deque::outcome::got)
      return nullptr;
    steals_.fetch_add(1, std::memory_order_relaxed);
    return got.frame;
  }

  nopal::deque::chase_lev<child, anywhere> forks_;
  std::deque<worker>& all_;
  random_numbers random_;
  std::atomic<std::uint64_t> steals_ = 0;
  std::uint64_t closures_ = 0;
};

class scope {
public:
  scope() = default;
  ~scope() { join(); }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

  template <class Body> void fork(const Body& body) {
    auto made = std::make_unique<closure<Body>>(body);
    made->older = std::move(newest_);
    newest_ = std::move(made);
    self_.offer(newest_.get());
  }

  void join() {
    for (bool taken_back = true; newest_ != nullptr; newest_ = std::move(newest_->older)) {
      child& forked = *newest_;
      taken_back = taken_back && self_.take_back(&forked);
      if (taken_back)
        forked.run(&forked);
      else
        self_.work([&forked] { return forked.ended.load(std::memory_order_acquire); });
    }
  }

private:
  worker& self_ = *worker::current;
  std::unique_ptr<child> newest_;
};

} // namespace bench::child_stealing
