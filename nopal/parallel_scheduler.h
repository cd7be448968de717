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
// in fibers, as what is submitted is (submit.h). A bulk operation is a loop (loop.h) over at most
// 512 chunks. What is scheduled waits in the storage that the operation brings, so an operation
// allocates nothing.
#pragma once

#include "nopal/config.h"
#include "nopal/for_range.h"
#include "nopal/loop.h"
#include "nopal/work_queue.h"

#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <span>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// Implements `Backend` (schedule, schedule_bulk_chunked, schedule_bulk_unchunked).
/// @par Threads
/// Any thread, any strand, several at a time.
template <class Backend, class Receiver, class BulkReceiver>
class parallel_scheduler final : public Backend {
public:
  void schedule(Receiver& receiver, std::span<std::byte> storage) noexcept override {
    put(receiver, 0, storage,
        [](const item& each) { static_cast<Receiver*>(each.receiver)->set_value(); });
  }
  void schedule_bulk_chunked(std::size_t count, BulkReceiver& receiver,
                             std::span<std::byte> storage) noexcept override {
    put(receiver, count, storage, [](const item& each) {
      bulk(each, [](BulkReceiver& to, std::size_t i, std::size_t j) { to.execute(i, j); });
    });
  }
  void schedule_bulk_unchunked(std::size_t count, BulkReceiver& receiver,
                               std::span<std::byte> storage) noexcept override {
    put(receiver, count, storage, [](const item& each) {
      bulk(each, [](BulkReceiver& to, std::size_t i, std::size_t j) {
        for (; i < j; ++i)
          to.execute(i, i + 1);
      });
    });
  }

private:
  struct item : detail::work_item {
    item(function run, void* to, std::size_t number) noexcept
        : detail::work_item{run}, receiver{to}, count{number} {}
    void* const receiver;
    const std::size_t count;
  };

  // The storage ends with the operation.
  template <class To, class Run>
  void put(To& receiver, std::size_t count, std::span<std::byte> storage, Run) noexcept {
    void* place = storage.data();
    std::size_t room = storage.size();
    if (std::align(alignof(item), sizeof(item), place, room) == nullptr) {
      receiver.set_error(std::make_exception_ptr(std::bad_alloc{}));
      return;
    }
    const auto run = [](detail::work_item* self, detail::work_queue&) noexcept {
      Run{}(*static_cast<item*>(self));
      return static_cast<detail::work_item*>(nullptr);
    };
    detail::work_queue::of_all().add(::new (place) item{run, std::addressof(receiver), count});
  }

  template <class Execute> static void bulk(const item& each, const Execute& execute) noexcept {
    BulkReceiver& to = *static_cast<BulkReceiver*>(each.receiver);
    if (each.count != 0)
      detail::by_pieces(std::size_t{0}, each.count, detail::grain_of(each.count, 0),
                        [&](std::size_t i, std::size_t j) { execute(to, i, j); });
    detail::deliver_partials();
    to.set_value();
  }
};

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
