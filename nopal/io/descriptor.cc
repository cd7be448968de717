// SPDX-License-Identifier: MIT
// Taking descriptors over, closing them, and giving them up.
#include "nopal/io/descriptor.h"

#include "nopal/io/blocking_file.h"
#include "nopal/io/events.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace nopal::inline NOPAL_ABI::io {
namespace {

int flags_of(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0)
    fail(errno, "nopal::io was given no descriptor");
  return flags;
}

// Where the system refuses (no number is free), the file is closed by the last use.
void replace_by_nothing(int fd) noexcept {
  const int nothing = open("/", O_PATH | O_CLOEXEC);
  if (nothing < 0)
    return;
  dup3(nothing, fd, O_CLOEXEC);
  ::close(nothing);
}

} // namespace

descriptor::descriptor(int fd) {
  const int flags = flags_of(fd);
  const bool shared = is_shared(fd, flags);
  if (!shared && (flags & O_NONBLOCK) == 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
    fail(errno, "nopal::io cannot set O_NONBLOCK");
  adopt(fd, shared ? kind::blocking : kind::other);
}

descriptor::descriptor(int fd, keep_blocking_t) {
  adopt(fd, (flags_of(fd) & O_NONBLOCK) == 0 ? kind::blocking : kind::other);
}

// What is known of the number is written first: who enters sees it (A of uses.h). Those that waited
// for the number, whoever it belonged to, look anew.
void descriptor::adopt(int fd, kind what) {
  entry& own = entry_of(fd);
  own.watched.store(false, base::relaxed);
  own.emptied.store(0, base::relaxed);
  own.is_tcp.store(what == kind::tcp, base::relaxed);
  own.keeps_blocking.store(what == kind::blocking, base::relaxed);
  const std::uint32_t generation = own.used.adopt();
  wake_all(own);
  name_.store(static_cast<std::uint64_t>(fd) << 32 | generation, base::relaxed);
}

descriptor& descriptor::operator=(descriptor&& other) noexcept {
  if (this == &other)
    return *this;
  close();
  name_.store(other.name_.exchange(kNone, base::relaxed), base::relaxed);
  return *this;
}

int descriptor::release() noexcept {
  const name given = name_of(name_.exchange(kNone, base::relaxed));
  entry* const own = find_entry(given.number);
  if (own != nullptr && own->used.give_up(given.generation)) {
    take_no_more_events_of(given.number, *own);
    wake_all(*own);
  }
  return given.number;
}

// The file is closed at once, also if calls are amid: they find a file at the number that answers
// EBADF to all that they may ask. A strand may be about to wait: it compares what it has counted
// before.
void descriptor::close() noexcept {
  const name closed = name_of(name_.exchange(kNone, base::relaxed));
  entry* const own = find_entry(closed.number);
  if (own == nullptr)
    return;
  const uses::ending ending = own->used.close(closed.generation);
  if (ending == uses::ending::not_mine)
    return;
  if (ending == uses::ending::amid_uses) {
    {
      const base::locked guard{own->lock}; // no user takes events of it after this
      take_no_more_events_of(closed.number, *own);
    }
    replace_by_nothing(closed.number);
  }
  wake_all(*own);
  if (ending == uses::ending::at_once || own->used.leave(closed.generation))
    give_back(closed.number, *own);
}

} // namespace nopal::inline NOPAL_ABI::io
