// SPDX-License-Identifier: MIT
// The parallel scheduler of C++26 on Nopal's workers: what std::execution, or a library with its
// interface such as stdexec, asks of a backend. It is a template, so this header includes none.
//
//     namespace replacement = stdexec::parallel_scheduler_replacement;
//     using backend = nopal::parallel_scheduler<replacement::parallel_scheduler_backend,
//                                               replacement::receiver_proxy,
//                                               replacement::bulk_item_receiver_proxy>;
//     // the program defines this function of the library:
//     auto replacement::query_parallel_scheduler_backend()
//         -> std::shared_ptr<replacement::parallel_scheduler_backend> {
//       static const auto only = std::make_shared<backend>();
//       return only;
//     }
//
// After that get_parallel_scheduler() gives a scheduler whose work, and what is continued there, is
// in fibers of a nopal::background. A bulk operation is a loop (loop.h) over at most 512 chunks.
//
// Memory: what is scheduled waits in the storage that the operation brings, in a queue, so nothing
// is allocated and nothing fails. The fibers that take from it are made with the object, four for
// each worker; one that waits for another strand has its place until it goes on.
#pragma once

#include "nopal/background.h"
#include "nopal/config.h"
#include "nopal/for_range.h"
#include "nopal/loop.h"
#include "nopal/runtime.h"
#include "nopal/semaphore.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <span>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

namespace detail {

// Items in the storage of their operations, first come, first served.
class scheduled_items {
public:
  struct item {
    void (*run)(item) noexcept; // given a copy: the storage ends with the operation
    void* receiver;
    std::size_t count;
    item* next = nullptr;
  };

  void put(item* last) noexcept {
    {
      const std::scoped_lock guard{lock_};
      (first_ == nullptr ? first_ : last_->next) = last;
      last_ = last;
    }
    ready_.release();
  }
  // Waits until there is one. False: the queue is closed.
  bool take(item& taken) {
    ready_.acquire();
    const std::scoped_lock guard{lock_};
    if (first_ == nullptr)
      return false;
    taken = *first_;
    first_ = taken.next;
    return true;
  }
  void close(std::ptrdiff_t takers) noexcept { ready_.release(takers); }

private:
  std::mutex lock_; // held for few instructions, and across no fork or wait
  item* first_ = nullptr;
  item* last_ = nullptr;
  semaphore ready_{0};
};

} // namespace detail

/// Implements `Backend` (schedule, schedule_bulk_chunked, schedule_bulk_unchunked).
/// @pre All that was scheduled has completed before it is destroyed.
/// @throws std::system_error, when it is made, if there is no thread for it.
/// @par Threads
/// Any thread, any strand, several at a time.
template <class Backend, class Receiver, class BulkReceiver>
class parallel_scheduler final : public Backend {
public:
  parallel_scheduler() : takers_{4 * static_cast<std::ptrdiff_t>(num_workers())} {
    for (std::ptrdiff_t i = 0; i < takers_; ++i)
      workers_.submit([this] { serve(); });
  }
  ~parallel_scheduler() { items_.close(takers_); }

  void schedule(Receiver& receiver, std::span<std::byte> storage) noexcept override {
    put(receiver, 0, storage,
        [](item each) noexcept { static_cast<Receiver*>(each.receiver)->set_value(); });
  }
  void schedule_bulk_chunked(std::size_t count, BulkReceiver& receiver,
                             std::span<std::byte> storage) noexcept override {
    put(receiver, count, storage, [](item each) noexcept {
      bulk(each, [](BulkReceiver& to, std::size_t i, std::size_t j) { to.execute(i, j); });
    });
  }
  void schedule_bulk_unchunked(std::size_t count, BulkReceiver& receiver,
                               std::span<std::byte> storage) noexcept override {
    put(receiver, count, storage, [](item each) noexcept {
      bulk(each, [](BulkReceiver& to, std::size_t i, std::size_t j) {
        for (; i < j; ++i)
          to.execute(i, i + 1);
      });
    });
  }

private:
  using item = detail::scheduled_items::item;

  template <class To>
  void put(To& receiver, std::size_t count, std::span<std::byte> storage,
           void (*run)(item) noexcept) noexcept {
    void* place = storage.data();
    std::size_t room = storage.size();
    if (std::align(alignof(item), sizeof(item), place, room) == nullptr) {
      receiver.set_error(std::make_exception_ptr(std::bad_alloc{}));
      return;
    }
    items_.put(::new (place) item{run, std::addressof(receiver), count});
  }

  template <class Execute> static void bulk(item each, const Execute& execute) noexcept {
    BulkReceiver& to = *static_cast<BulkReceiver*>(each.receiver);
    if (each.count != 0)
      detail::by_pieces(std::size_t{0}, each.count, detail::grain_of(each.count, 0),
                        [&](std::size_t i, std::size_t j) { execute(to, i, j); });
    to.set_value();
  }

  void serve() {
    item each{};
    while (items_.take(each))
      each.run(each);
  }

  const std::ptrdiff_t takers_;
  detail::scheduled_items items_;
  background workers_; // is destroyed first, and waits for those that take
};

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
