// SPDX-License-Identifier: MIT
// The seam to what carries data between processes. Operations are one-sided: the thread of the
// other process that runs tasks takes no part.
//
// Addresses are those of the block (layout.h), which every process has at the same place; `peer` is
// never the caller. The thread that runs tasks is the only caller.
//
// Contract:  an operation has been done at the peer when its call returns; one that is only begun
//            (`post`) is done some time later, not before operations that returned earlier. A `get`
//            of 8 aligned bytes is one read. If a process stores a word (release), another one that
//            reads the word by `get` then reads, by another `get`, all that was written before.
// Errors:    a peer that is lost ends the program with a sentence that names it.
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/layout.h"
#include "nopal/process/transport/segment.h"

#include <cstddef>
#include <cstdint>
#include <optional>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

class transport {
public:
  virtual ~transport() = default;
  transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;

  virtual void get(unsigned peer, void* to, const void* from, std::size_t bytes) = 0;
  virtual void put(unsigned peer, void* to, const void* from, std::size_t bytes) = 0;
  // Both return what the word was before.
  virtual std::uint32_t compare_swap(unsigned peer, word& at, std::uint32_t expected,
                                     std::uint32_t desired) = 0;
  virtual std::uint32_t add(unsigned peer, word& at, std::uint32_t by) = 0;
  // compare_swap and then get, as one operation where that is possible.
  virtual std::uint32_t compare_swap_and_get(unsigned peer, word& at, std::uint32_t expected,
                                             std::uint32_t desired, void* to, const void* from,
                                             std::size_t bytes) {
    const std::uint32_t before = compare_swap(peer, at, expected, desired);
    get(peer, to, from, bytes);
    return before;
  }

  // Whether operations at this peer are messages, which a thread of the peer answers. That thread
  // does a whole steal for its thief (steal_service.h): one message instead of three operations.
  virtual bool handles_steals(unsigned) const noexcept { return false; }
  // Steals the oldest continuation of such a peer, if one is open, and puts its frames at their
  // addresses.
  virtual std::optional<segment> request_steal(unsigned) { return std::nullopt; }

  virtual void post_store(unsigned peer, word& at, std::uint32_t value) = 0;
  virtual void post_add(unsigned peer, word& at, std::uint32_t by) = 0;
  // Lets operations that were begun go on, where they need that. Called while a process is idle.
  virtual void progress() noexcept {}
  // Returns when all that was begun is done.
  virtual void flush() {}
  // Collective: no process asks anything of another one after it.
  virtual void close() noexcept {}
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
