// SPDX-License-Identifier: MIT
// The table of descriptors, and what is left of it in the child of fork().
#include "nopal/io/table.h"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>

namespace nopal::inline NOPAL_ABI::io {
namespace {

constexpr std::size_t kPiece = 1024;
constexpr std::size_t kPieces = 4096;
base::atomic<entry*> pieces[kPieces]; // release and acquire: a piece is whole when others see it

// Other threads, which are not in the child, may have held each lock and stood in each queue.
void begin_in_child(int descriptor, entry& own) noexcept {
  if (own.used.begin_in_child())
    close(descriptor);
  std::construct_at(&own.in);
  std::construct_at(&own.out);
  std::construct_at(&own.lock);
  own.threads = nullptr;
  own.emptied.store(0, base::relaxed);
  own.watched.store(false, base::relaxed);
}
// What was never used is not written to, so that its pages stay the parent's, too.
void begin_all_in_child() noexcept {
  any_entry([](int descriptor, entry& own) {
    if (own.used.generation() != 0 || own.watched.load(base::relaxed) || own.threads != nullptr)
      begin_in_child(descriptor, own);
    return false;
  });
}
// Also in the child of a program with mapped workers (own.cc).
[[gnu::constructor]] void tell_children() noexcept {
  pthread_atfork(nullptr, nullptr, begin_all_in_child);
}

} // namespace

void fail(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

entry* find_entry(int descriptor) noexcept {
  const auto number = static_cast<unsigned>(descriptor);
  if (number >= kPieces * kPiece)
    return nullptr;
  entry* const piece = pieces[number / kPiece].load(base::acquire);
  return piece == nullptr ? nullptr : &piece[number % kPiece];
}

entry& entry_of(int descriptor) {
  const auto number = static_cast<unsigned>(descriptor);
  if (number >= kPieces * kPiece)
    fail(EBADF, "nopal::io was given no descriptor");
  base::atomic<entry*>& piece = pieces[number / kPiece];
  entry* seen = piece.load(base::acquire);
  if (seen == nullptr) {
    auto made = std::make_unique<entry[]>(kPiece);
    if (piece.compare_exchange_strong(seen, made.get(), base::acq_rel, base::acquire))
      seen = made.release();
  }
  return seen[number % kPiece];
}

bool any_entry(bool (*f)(int, entry&, void*), void* argument) {
  for (std::size_t i = 0; i < kPieces; ++i)
    if (entry* const piece = pieces[i].load(base::acquire))
      for (std::size_t k = 0; k < kPiece; ++k)
        if (f(static_cast<int>(i * kPiece + k), piece[k], argument))
          return true;
  return false;
}

} // namespace nopal::inline NOPAL_ABI::io
