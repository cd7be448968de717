// SPDX-License-Identifier: MIT
// A runtime in the manner of Cilk-5 (PLDI'98): the frames of functions that spawn lie on the heap,
// so each function is written anew, and each worker needs one ordinary stack. It is Cilk-M's
// strategy 1 (cilk-m-pact10, section 3), and it is ours: no line is Cilk 5's.
//
// A function has two clones. The fast one runs as a call does; before each spawn it notes the
// spawn's number in its frame and offers the frame to thieves. The slow one runs only after a
// steal: it begins behind the spawn or sync of that number. Nothing of a stolen frame is on the
// victim's stack, so the victim drops that stack's contents (longjmp) when the child ends. A
// function that others compiled has no frame on the heap, so no function that spawns can be called
// through it.
//
// Whose child a frame is, and where its result goes, is known from the victim: the oldest frame on
// its stack is the child of what was stolen from there before. A thief reads and writes that under
// the deque's lock, which the victim must take to find its frame stolen.
#pragma once

#include "bench/baseline/the.h"
#include "bench/counted_stack.h"
#include "bench/random.h"

#include <array>
#include <atomic>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <new>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace bench::heap_frames {

class worker;

// What each frame begins with. Of a worker's frame all is the worker's, but for what thieves write
// under the lock of its deque.
struct header {
  long (*slow)(worker&, header*);
  worker* runner; // on whose stack it runs
  std::uint32_t size_class;
  std::uint32_t entry = 0;      // where the slow clone begins
  long* result_place = nullptr; // where the result of the child that runs goes, if it has one
  std::atomic<std::uint32_t> strands =
      1;                    // unfinished children that were parted from it, and itself
  header* parent = nullptr; // from its first steal on; of the program's frame null
  long* result = nullptr;

  // What the deque asks of its entries.
  using frame_type = header;
  header* frame() noexcept { return this; }
  static inline void taken(header* stolen) noexcept;
};

// A fork of the deque may have any address.
struct anywhere {
  static std::uintptr_t lowest_fork(nopal::stack::stack_id) noexcept { return 0; }
  static std::size_t most_forks() noexcept { return 4096; }
};

// Frames by size: a list for each worker, and one for all, to which a worker gives half of a list
// that has grown long (the paper's section 6).
class heap {
public:
  static constexpr std::size_t step = 32;
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t classes = page / step + 1;
  static constexpr std::size_t class_of(std::size_t bytes) { return (bytes + step - 1) / step; }

  void* take(std::size_t size_class) {
    std::vector<void*>& list = own_[size_class];
    if (list.empty())
      refill(size_class);
    void* const taken = list.back();
    list.pop_back();
    return taken;
  }
  void give(std::size_t size_class, void* frame) {
    std::vector<void*>& list = own_[size_class];
    list.push_back(frame);
    if (list.size() * size_class * step > longest)
      move(list, shared_[size_class], list.size() / 2);
  }

  // All pages that the workers' heaps have asked for.
  static std::uint64_t pages() { return pages_.load(); }

private:
  static constexpr std::size_t longest = 4 * page; // in bytes

  static void move(std::vector<void*>& from, std::vector<void*>& to, std::size_t count) {
    const nopal::base::locked guard{lock_};
    for (; count > 0 && !from.empty(); --count) {
      to.push_back(from.back());
      from.pop_back();
    }
  }
  void refill(std::size_t size_class) {
    move(shared_[size_class], own_[size_class], longest / 2 / (size_class * step));
    if (!own_[size_class].empty())
      return;
    auto* const at = static_cast<char*>(nopal::base::map_zeroed(page));
    if (at == nullptr)
      throw std::bad_alloc();
    ++pages_;
    for (std::size_t used = 0; used + size_class * step <= page; used += size_class * step)
      own_[size_class].push_back(at + used);
  }

  std::array<std::vector<void*>, classes> own_;
  static inline nopal::base::spin_lock lock_;
  static inline std::array<std::vector<void*>, classes> shared_;
  static inline std::atomic<std::uint64_t> pages_ = 0;
};

template <class F> struct program : header {
  F f;
  template <bool Slow> long run(worker& self) { return f(self); }
};

class worker {
public:
  explicit worker(std::deque<worker>& all) : all_(all), random_(all.size()) {
    deque_.open(false);
    deque_.adopt(1, 0, nullptr); // any stack: it then lets each fork pass
  }

  template <class Frame> static long slow_clone(worker& self, header* f) {
    return static_cast<Frame*>(f)->template run<true>(self);
  }

  template <class Frame, class... Arguments> Frame* make(Arguments... arguments) {
    constexpr std::size_t size_class = heap::class_of(sizeof(Frame));
    static_assert(size_class < heap::classes);
    return new (heap_.take(size_class)) Frame{{slow_clone<Frame>, this, size_class}, arguments...};
  }

  // Offers the frame to thieves, before its child runs.
  void spawn(header* f, std::uint32_t entry, long* result_place) {
    f->entry = entry;
    f->result_place = result_place;
    if (!deque_.push(f))
      deque_.push_anyway(f);
  }
  // After that child: goes on only if no thief has taken the frame.
  void returned(header* parent) {
    if (!deque_.pop_newest() && !deque_.take_back(parent)) [[unlikely]]
      leave(outer_);
  }

  // Of the slow clone: goes on only if no child is unfinished. Else the last child goes on.
  void sync(header* f, std::uint32_t entry) {
    f->entry = entry;
    leave_unless_last(f);
  }

  // Ends a function: its frame is given back.
  long end(header* f, long value) {
    heap_.give(f->size_class, f);
    return value;
  }

  // Runs what it finds until that is true. What leaves the stack comes back here.
  template <class Until> void work(Until until) {
    static_cast<void>(setjmp(home_));
    for (unsigned vain = 1; !until(); ++vain) {
      header* f = std::exchange(next_, nullptr);
      if (f == nullptr)
        f = steal();
      if (f != nullptr) {
        run(f);
        vain = 0;
      } else if (vain > 4096) {
        nopal::base::sleep_us(50);
      } else {
        nopal::base::wait_briefly(vain);
      }
    }
  }

  // Runs f(*this) as a program of all workers, and returns its result.
  template <class F> long execute(F f) {
    long result = 0;
    std::atomic<bool> finished = false;
    program<F> whole{{slow_clone<program<F>>, this, 0}, f};
    whole.result = &result;
    all_.front().finished_ = &finished;
    next_ = &whole;
    work([&finished] { return finished.load(std::memory_order_acquire); });
    return result;
  }

  std::uint64_t steals() const { return steals_.load(std::memory_order_relaxed); }
  std::uint64_t suspensions() const { return suspensions_.load(std::memory_order_relaxed); }

  counted_stack stack;

private:
  friend struct header;
  // The function that returns to the end of the stack: whose child it is, where its result goes.
  struct outermost {
    header* parent = nullptr;
    long* result = nullptr;
  };

  void run(header* f) {
    f->runner = this;
    outer_ = {f->parent, f->result};
    const long result = f->slow(*this, f);
    if (outer_.result != nullptr)
      *outer_.result = result;
    next_ = child_finished(outer_.parent);
  }

  // What is to go on, if this was the last strand.
  header* child_finished(header* parent) {
    if (parent == nullptr) {
      all_.front().finished_->store(true, std::memory_order_release);
      return nullptr;
    }
    if (parent->strands.fetch_sub(1, std::memory_order_acq_rel) != 1)
      return nullptr;
    parent->strands.store(1, std::memory_order_relaxed);
    return parent;
  }

  [[noreturn]] void leave(const outermost& ended) {
    next_ = child_finished(ended.parent);
    std::longjmp(home_, 1);
  }
  void leave_unless_last(header* f) {
    if (child_finished(f) != nullptr)
      return;
    suspensions_.fetch_add(1, std::memory_order_relaxed);
    std::longjmp(home_, 1);
  }

  header* steal() {
    worker& victim = all_[random_.next() % all_.size()];
    nopal::deque::entry<header> got{};
    if (&victim == this || victim.deque_.steal(nullptr, got) != nopal::deque::outcome::got)
      return nullptr;
    steals_.fetch_add(1, std::memory_order_relaxed);
    return got.frame;
  }

  nopal::deque::the<header, anywhere> deque_;
  std::deque<worker>& all_;
  heap heap_;
  random_numbers random_;
  std::jmp_buf home_;
  header* next_ = nullptr;
  outermost outer_;
  std::atomic<bool>* finished_ = nullptr; // of the first worker: whether the program is

  std::atomic<std::uint64_t> steals_ = 0;
  std::atomic<std::uint64_t> suspensions_ = 0;
};

// The child that the victim runs is parted from the stolen frame.
inline void header::taken(header* stolen) noexcept {
  worker::outermost& outer = stolen->runner->outer_;
  stolen->parent = outer.parent;
  stolen->result = outer.result;
  stolen->strands.fetch_add(1, std::memory_order_relaxed);
  outer = {stolen, stolen->result_place};
}

// A spawn and a sync of a frame's `run<Slow>`, whose text stands in a switch over `entry`. The
// child is function(self, arguments...). A thief that goes on with the frame changes its members,
// so what they say is read before the frame is offered.
#define BENCH_SPAWN(number, place, function, ...)                                                  \
  {                                                                                                \
    long* const bench_place = &(place);                                                            \
    const std::tuple bench_arguments{__VA_ARGS__};                                                 \
    self.spawn(this, number, bench_place);                                                         \
    *bench_place = std::apply([&](auto... arguments) { return function(self, arguments...); },     \
                              bench_arguments);                                                    \
    self.returned(this);                                                                           \
  }                                                                                                \
  [[fallthrough]];                                                                                 \
  case number:
#define BENCH_SPAWN_VOID(number, function, ...)                                                    \
  {                                                                                                \
    const std::tuple bench_arguments{__VA_ARGS__};                                                 \
    self.spawn(this, number, nullptr);                                                             \
    std::apply([&](auto... arguments) { function(self, arguments...); }, bench_arguments);         \
    self.returned(this);                                                                           \
  }                                                                                                \
  [[fallthrough]];                                                                                 \
  case number:
#define BENCH_SYNC(number)                                                                         \
  if constexpr (Slow)                                                                              \
    self.sync(this, number);                                                                       \
  [[fallthrough]];                                                                                 \
  case number:

// The fast clone: a call with a frame on the heap.
template <class Frame, class... Arguments> long call(worker& self, Arguments... arguments) {
  return self.make<Frame>(arguments...)->template run<false>(self);
}

} // namespace bench::heap_frames
