// SPDX-License-Identifier: MIT
// The seam to what carries data between processes. Operations are one-sided: the thread of the
// other process that runs tasks takes no part. Between machines an engine of `far_transport` does
// them; shared_memory.h does them on one machine, and passes the rest on to such an engine.
//
// Addresses are those of the block (layout.h), which every process has at the same place. The
// thread that runs tasks is the only caller.
//
// Contract:  an operation has been done at the peer when its call returns; one that is only begun
//            (`post`) is done some time later, not before operations that returned earlier. If a
//            process stores a word (release), another one that reads the word by `get` then reads,
//            by another `get`, all that was written before. On one machine a `get` of 8 aligned
//            bytes is one read (direct.h).
// Errors:    a peer that is lost ends the program with a sentence that names it.
#pragma once

#include "nopal/base/os.h"
#include "nopal/config.h"
#include "nopal/process/transport/layout.h"
#include "nopal/process/transport/segment.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// The processes of a program, as far as an engine has to know them before it connects them.
class group {
public:
  virtual ~group() = default;
  group() = default;
  group(const group&) = delete;
  group& operator=(const group&) = delete;

  unsigned rank() const noexcept { return rank_; }
  unsigned size() const noexcept { return size_; }
  // Collective: `all` receives the `bytes` bytes of each process, in the order of ranks.
  virtual void all_gather(const void* own, void* all, std::size_t bytes) = 0;

protected:
  // The constructor of what begins the processes sets both; then they are constant.
  unsigned rank_ = 0;
  unsigned size_ = 1;
};

// For the stack of a thread on which MPI or UCX runs.
inline constexpr std::size_t room_of_libraries = std::size_t{8} << 20;

// What reaches a process on another machine.
class far_transport {
public:
  virtual ~far_transport() = default;
  far_transport() = default;
  far_transport(const far_transport&) = delete;
  far_transport& operator=(const far_transport&) = delete;

  virtual void get(unsigned peer, void* to, const void* from, std::size_t bytes) = 0;
  virtual void put(unsigned peer, void* to, const void* from, std::size_t bytes) = 0;
  // Steals the oldest continuation of the peer, if one is open, and puts its frames at their
  // addresses. One message, for which a thread of the peer does the steal (steal_service.h).
  virtual std::optional<segment> request_steal(unsigned peer) = 0;

  // An engine that can begin a store without waiting for its end has a function of its own.
  virtual void post_store(unsigned peer, word& at, std::uint32_t value) {
    put(peer, &at, &value, sizeof value);
  }
  // Lets operations that were begun go on, where they need that. Called while a process is idle.
  virtual void progress() noexcept {}
  // Returns when all that was begun is done.
  virtual void flush() {}
  // The addresses at which the engine takes connections of others, separated by commas; empty if
  // there are none, or if only a library knows them.
  virtual std::string listens_at() const { return {}; }
  // The process exits amid a session: no thread of the engine calls a library any more.
  virtual void stop_thread() noexcept {}
  // Collective: no process asks anything of another one after it.
  virtual void close() noexcept {}
};

// Called by a thread that has looked in vain `tries` times in a row. It waits, the longer the more
// often it has looked, but never more than about a millisecond.
inline void idle_for_a_while(unsigned tries) noexcept {
  constexpr unsigned spins = 64;
  if (tries < spins)
    return base::wait_briefly(tries);
  base::sleep_us(std::min(10u * (tries - spins + 1), 1000u));
}

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
