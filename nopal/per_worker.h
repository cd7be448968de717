// SPDX-License-Identifier: MIT
// State of each worker: buffers that iterations use one after the other, partial sums, caches.
//
//     nopal::per_worker<std::vector<char>> buffers{[] { return std::vector<char>(1 << 20); }};
//     nopal::for_each(files, [&](const file& each) {
//       std::vector<char>& buffer = buffers.local();      // this worker's; made at its first use
//       each.read(buffer);                                // neither forks nor waits
//     });
//     for (const std::vector<char>& buffer : buffers) ... // after the join
//
// Worker here means: the place of a thread among those that run strands (docs/nouns.md: vproc). A
// strand has the worker of the thread that it runs on; after its next fork, join, poll or wait that
// may be another one, and other strands may have used the first one's value. So what `local` has
// returned is the strand's own until then. A call of nopal::blocking that does not wait for others
// changes nothing. For what belongs to a fiber wherever it runs: fiber_local (fiber.h). For values
// in serial order: accumulate.h, reducer.h.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/sanitizer.h"
#include "nopal/config.h"

#if !defined(NOPAL_SERIAL)
#include "nopal/sched/groups.h"
#include "nopal/vproc/table.h"
#endif

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// The number of the calling strand's worker. Two strands that run at the same time have two
/// numbers, and a strand has the same one from a fork, join, poll or wait to the next. It is below
/// num_workers() where one thread of the program's own computes and nobody is in nopal::blocking;
/// each further thread, and each that runs while another blocks, has a higher one, below 8192. A
/// thread that runs no strand keeps its number to its end; the first call starts the pool.
/// @par Threads
/// Any thread, any strand.
/// @par Cost
/// Three loads in a strand.
[[nodiscard]] inline unsigned worker_index() {
#if defined(NOPAL_SERIAL)
  return 0;
#else
  const vproc::worker* const self = vproc::current();
  const unsigned number =
      vproc::is_worker(self) ? self->host->number : sched::vproc_number_of_thread();
  NOPAL_IF_SEEN(base::note_use_of_worker(number));
  return number;
#endif
}

/// A T for each worker that asks for one.
/// @par Threads
/// `local` any thread, any strand. The rest: while nobody else uses it, after a join say.
/// @par Cost
/// `local`: six loads. Each T lies in cache lines of its own.
template <class T>
  requires std::same_as<T, std::decay_t<T>>
class NOPAL_TYPE per_worker {
public:
  /// Each T is value-initialized.
  per_worker()
    requires std::default_initializable<T>
      : make_{[] { return T(); }} {}
  /// Each T is what a copy of `make` returns. It is called by the workers, several at a time.
  template <class Make>
    requires std::copy_constructible<std::decay_t<Make>> &&
             std::is_invocable_r_v<T, const std::decay_t<Make>&> &&
             (!std::same_as<std::decay_t<Make>, per_worker>)
  explicit per_worker(Make&& make) : make_(std::forward<Make>(make)) {}
  per_worker(const per_worker&) = delete;
  per_worker& operator=(const per_worker&) = delete;
  ~per_worker() {
    clear();
    for (const auto& each : segments_)
      delete each.load(base::acquire);
  }

  /// The T of this worker, which is made if there is none.
  /// @throws what `make` throws; the next call makes it then.
  T& local() {
    cell* const own = slot(worker_index()).load(base::acquire);
    return own != nullptr ? own->value : make_local();
  }

  class iterator;
  /// All that were made, in the order of the workers' numbers.
  [[nodiscard]] iterator begin() noexcept { return iterator{this, next_from(0)}; }
  [[nodiscard]] iterator end() noexcept { return iterator{this, most}; }
  [[nodiscard]] bool empty() noexcept { return next_from(0) == most; }

  /// One T of all: merge(low, high) adds the second to the first, which are in no particular order.
  /// Without any, the result of `make`. All are gone after that.
  template <class Merge>
    requires std::invocable<const Merge&, T&, T>
  T combine(const Merge& merge) {
    std::size_t at = next_from(0);
    T all = at == most ? make_() : std::move(find(at)->value);
    if (at != most)
      while ((at = next_from(at + 1)) != most)
        std::invoke(merge, all, std::move(find(at)->value));
    clear();
    return all;
  }

  /// Destroys all that were made.
  void clear() noexcept {
    for (std::size_t at = next_from(0); at != most; at = next_from(at + 1))
      delete slot_of(*segments_[at / in_segment].load(base::acquire), at)
          .exchange(nullptr, base::relaxed);
  }

private:
  struct alignas(64) cell {
    explicit cell(const std::function<T()>& make) : value(make()) {}
    T value;
  };
  static constexpr std::size_t in_segment = 64;
#if defined(NOPAL_SERIAL)
  static constexpr std::size_t most = in_segment;
#else
  static constexpr std::size_t most = vproc::most_vprocs;
#endif
  static_assert(most % in_segment == 0);

  // Only a worker's own thread writes its slot.
  struct segment {
    std::array<base::atomic<cell*>, in_segment> slots{};
  };
  static base::atomic<cell*>& slot_of(segment& in, std::size_t number) noexcept {
    return in.slots[number % in_segment];
  }

  base::atomic<cell*>& slot(std::size_t number) {
    segment* const in = segments_[number / in_segment].load(base::acquire);
    return slot_of(in != nullptr ? *in : add_segment(number / in_segment), number);
  }
  segment& add_segment(std::size_t number) {
    auto made = std::make_unique<segment>();
    segment* before = nullptr;
    return segments_[number].compare_exchange_strong(before, made.get(), base::acq_rel,
                                                     base::acquire)
               ? *made.release()
               : *before;
  }
  // What makes the T may fork, and go on with a worker that has one.
  [[gnu::noinline]] T& make_local() {
    auto made = std::make_unique<cell>(make_);
    base::atomic<cell*>& own = slot(worker_index());
    if (cell* const other = own.load(base::acquire))
      return other->value;
    own.store(made.get(), base::release);
    return made.release()->value;
  }

  cell* find(std::size_t number) noexcept {
    segment* const in = segments_[number / in_segment].load(base::acquire);
    return in == nullptr ? nullptr : slot_of(*in, number).load(base::acquire);
  }
  std::size_t next_from(std::size_t number) noexcept {
    while (number < most && find(number) == nullptr)
      number += segments_[number / in_segment].load(base::relaxed) != nullptr
                    ? 1
                    : in_segment - number % in_segment;
    return number;
  }

  const std::function<T()> make_;
  std::array<base::atomic<segment*>, most / in_segment> segments_{};
};

/// Goes through a per_worker.
template <class T>
  requires std::same_as<T, std::decay_t<T>>
class NOPAL_TYPE per_worker<T>::iterator {
public:
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::forward_iterator_tag;
  using reference = T&;
  using pointer = T*;

  iterator() noexcept = default;
  T& operator*() const noexcept { return all_->find(at_)->value; }
  T* operator->() const noexcept { return std::addressof(**this); }
  iterator& operator++() noexcept {
    at_ = all_->next_from(at_ + 1);
    return *this;
  }
  iterator operator++(int) noexcept {
    iterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const iterator&) const noexcept = default;

private:
  friend class per_worker;
  iterator(per_worker* all, std::size_t at) noexcept : all_{all}, at_{at} {}

  per_worker* all_ = nullptr;
  std::size_t at_ = 0;
};

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
