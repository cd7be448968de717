// SPDX-License-Identifier: MIT
// What the calls of model.h do, each at a random place.
#pragma once

#include "model.h"

namespace test {

inline std::string model::map(call what) {
  const part to = some_part();
  constexpr int some_rights[] = {PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, PROT_READ,
                                 PROT_NONE, PROT_READ | PROT_WRITE | PROT_EXEC};
  int rights = random_->one_of(some_rights);
  int flags = MAP_FIXED | MAP_PRIVATE, file = -1;
  unsigned offset = random_->below(file_pages - 4);
  kind becomes = kind::memory;
  switch (what) {
  case call::map_file:
    flags = MAP_FIXED | (random_->below(4) == 0 ? MAP_SHARED_VALIDATE : MAP_SHARED), file = shared_;
    becomes = kind::file;
    break;
  case call::map_read_only: // which is an error, if it is to be writable
    flags = MAP_FIXED | MAP_SHARED, file = read_only_, becomes = kind::read_only;
    if (random_->below(4) != 0)
      rights &= ~PROT_WRITE;
    break;
  case call::map_private:
    file = private_, rights &= ~PROT_WRITE, becomes = kind::private_file;
    break;
  case call::map_copy:
    file = private_, rights |= PROT_WRITE | PROT_READ, becomes = kind::copy;
    break;
  case call::map_shared_memory:
    flags = MAP_FIXED | MAP_SHARED | MAP_ANONYMOUS, becomes = kind::shared_memory;
    break;
  case call::map_where_nothing_is:
    flags = MAP_FIXED_NOREPLACE | MAP_PRIVATE | MAP_ANONYMOUS;
    if (random_->below(3) == 0)
      flags = MAP_FIXED_NOREPLACE | MAP_SHARED, file = shared_, becomes = kind::file;
    break;
  case call::map_near:
    flags = MAP_PRIVATE | MAP_ANONYMOUS;
    break;
  default:
    flags |= MAP_ANONYMOUS | (random_->below(4) == 0 ? MAP_POPULATE : 0);
    if (rights != PROT_NONE && random_->below(4) == 0)
      flags |= MAP_NORESERVE;
  }
  if (file < 0)
    offset = 0;
  void* const got =
      mmap(place(to), to.count * page, rights, flags, file, static_cast<off_t>(offset * page));
  std::string text = answer("map", to, reinterpret_cast<long>(got), true);
  if (got == place(to))
    note(to, becomes, rights, offset);
  else if (got != MAP_FAILED)
    text += munmap(got, to.count * page) == 0 ? " gone" : " stays";
  return text + " rights " + std::to_string(rights);
}

inline std::string model::remap(call what) {
  part from = some_mapping();
  const bool is_copy = at(from.area, from.first).what == kind::copy;
  if (is_copy && what == call::remap_and_keep)
    what = call::remap_to;
  const bool fixed = what == call::remap_to || what == call::remap_and_keep;
  part to = some_part();
  to.count = from.count;
  if (!is_copy && what != call::remap_and_keep)
    to.count = 1 + random_->below(6);
  to.first = std::min(to.first, static_cast<unsigned>(pages) - to.count);
  const int flags = what == call::remap_in_place   ? 0
                    : what == call::remap_anywhere ? MREMAP_MAYMOVE
                    : what == call::remap_to       ? MREMAP_MAYMOVE | MREMAP_FIXED
                                             : MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
  if (!fixed && from.first + to.count > pages)
    to.count = pages - from.first;
  void* const got = mremap(place(from), from.count * page, to.count * page, flags, place(to));
  std::string text = answer("remap", from, reinterpret_cast<long>(got), true) + " count " +
                     std::to_string(to.count);
  if (got == MAP_FAILED)
    return text;
  const known was = at(from.area, from.first);
  if (!fixed && got == place(from)) {
    if (to.count < from.count)
      note({from.area, from.first + to.count, from.count - to.count}, kind::nothing, 0);
    else
      note({from.area, from.first, to.count}, was.what, was.rights, was.offset);
    return text;
  }
  if (what != call::remap_and_keep)
    note(from, kind::nothing, 0);
  if (fixed) {
    note(to, was.what, was.rights, was.offset);
  } else {
    for (unsigned i = 0; i < to.count; ++i)
      text += try_access(static_cast<char*>(got) + i * page,
                         [](volatile char* byte) { return *byte == 0 ? '0' : *byte; });
    munmap(got, to.count * page);
  }
  return text;
}

inline std::string model::change_rights() {
  const part of = some_part();
  constexpr int some_rights[] = {PROT_READ, PROT_NONE, PROT_READ | PROT_WRITE,
                                 PROT_READ | PROT_WRITE, PROT_READ | PROT_EXEC};
  const int rights = random_->one_of(some_rights);
  const std::string text = answer("protect", of, mprotect(place(of), of.count * page, rights)) +
                           " " + std::to_string(rights);
  const bool complete = text.find(" = 0") != std::string::npos;
  ++mappings_;
  for (unsigned i = 0; i < pages; ++i) {
    known& each = at(of.area, i);
    if (each.what == kind::nothing)
      continue;
    if (i >= of.first + of.count) { // apart from what lies before the range
      each.mapping += 1'000'000 * (mappings_ % 1000 + 1);
    } else if (i >= of.first) {
      each.mapping = complete ? mappings_ : ++mappings_; // an error may have come behind some page
      each.rights = rights;
      if (each.what == kind::private_file && (rights & PROT_WRITE) != 0)
        each.what = kind::copy;
    }
  }
  return text;
}

inline std::string model::advise() {
  const part of = some_part();
  constexpr int harmless[] = {MADV_WILLNEED, MADV_COLD, MADV_NORMAL};
  constexpr int all[] = {MADV_DONTNEED,
                         MADV_DONTNEED,
                         MADV_DONTNEED,
                         24 /* DONTNEED_LOCKED */,
                         MADV_REMOVE,
                         MADV_COLD,
                         MADV_FREE,
                         22 /* POPULATE_READ */,
                         23 /* POPULATE_WRITE */};
  int advice = has(of, kind::copy) ? random_->one_of(harmless) : random_->one_of(all);
  if (advice == MADV_FREE && has(of, kind::memory))
    advice = MADV_DONTNEED; // what it leaves is not known
  return answer("advise", of, madvise(place(of), of.count * page, advice)) + " " +
         std::to_string(advice);
}

// What no kernel does.
inline long map_wrongly(unsigned which, char* p, int writable, int read_only, int folder) {
  constexpr int rw = PROT_READ | PROT_WRITE, anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
  const struct {
    char* at;
    std::size_t bytes;
    int rights, flags, file;
    off_t offset;
  } all[] = {
      {p + 1, 4096, rw, anonymous, -1, 0},
      {p, 0, rw, anonymous, -1, 0},
      {p, ~std::size_t{0} - 100, rw, anonymous, -1, 0},
      {p, 4096, rw, MAP_ANONYMOUS, -1, 0},
      {p, 4096, rw, MAP_SHARED_VALIDATE | MAP_ANONYMOUS, -1, 0},
      {p, 4096, rw, MAP_SHARED, 999'999, 0},
      {p, 4096, rw, MAP_SHARED, writable, 512},
      {p, 4096, rw, MAP_SHARED, read_only, 0},
      {p, 4096, PROT_READ, MAP_SHARED, folder, 0},
      {p, 4096, rw, MAP_PRIVATE, folder, 0},
      {p, 4096, rw, MAP_SHARED_VALIDATE | (1 << 25), writable, 0},
  };
  const auto& wrong = all[which % std::size(all)];
  return reinterpret_cast<long>(
      mmap(wrong.at, wrong.bytes, wrong.rights, wrong.flags | MAP_FIXED, wrong.file, wrong.offset));
}
inline long remap_wrongly(unsigned which, char* p) {
  const struct {
    char* at;
    std::size_t bytes;
    int flags;
    char* to;
  } all[] = {
      {p, 0, MREMAP_MAYMOVE, nullptr},
      {p + 8, 4096, MREMAP_MAYMOVE, nullptr},
      {p, 4096, MREMAP_FIXED, p + 4096},
      {p, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, p},
      {p, 8192, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, nullptr},
      {p, 4096, 1 << 10, nullptr},
  };
  const auto& wrong = all[which % std::size(all)];
  return reinterpret_cast<long>(mremap(wrong.at, 4096, wrong.bytes, wrong.flags, wrong.to));
}
inline long change_wrongly(unsigned which, char* p) {
  constexpr std::size_t too_many = ~std::size_t{0} - 100;
  switch (which % 9) {
  case 0:
    return munmap(p, 0);
  case 1:
    return munmap(p + 8, 4096);
  case 2:
    return munmap(p, too_many);
  case 3:
    return mprotect(p + 8, 4096, PROT_READ);
  case 4:
    return mprotect(p, 0, PROT_NONE);
  case 5:
    return mprotect(p, too_many, PROT_READ);
  case 6:
    return mprotect(p, 4096, 0x4000'0000);
  case 7:
    return madvise(p, 4096, 9999);
  default:
    return madvise(p + 8, 4096, MADV_DONTNEED);
  }
}

inline std::string model::make_wrong() {
  const part of = some_part();
  const unsigned how = random_->below(3), which = random_->below(99);
  const long result = how == 0   ? map_wrongly(which, place(of), shared_, read_only_, folder_)
                      : how == 1 ? remap_wrongly(which, place(of))
                                 : change_wrongly(which, place(of));
  return answer("wrong", of, result) + " " + std::to_string(how) + ":" + std::to_string(which);
}

inline std::string model::fork_and_look() {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string seen_there = state(true);
    const bool whole = write(ends[1], seen_there.data(), seen_there.size()) > 0;
    _exit(whole ? 0 : 1);
  }
  close(ends[1]);
  std::string text(1000, ' ');
  text.resize(
      static_cast<std::size_t>(std::max<ssize_t>(0, read(ends[0], text.data(), text.size()))));
  close(ends[0]);
  int status = 0;
  const long waited = waitpid(child, &status, 0) == child ? 0 : -1;
  return answer("fork", {}, waited) + " " + std::to_string(status) + text;
}

inline std::string model::truncate(unsigned count) {
  return answer("truncate", {0, 0, count}, ftruncate(shared_, static_cast<off_t>(count * page)));
}

inline std::string model::make(call what) {
  const auto first_of = [&](const part& of) { return area_[of.area] + of.first * page; };
  switch (what) {
  case call::unmap: {
    const part of = some_part();
    const std::string text = answer("unmap", of, munmap(first_of(of), of.count * page));
    note(of, kind::nothing, 0);
    return text;
  }
  case call::protect:
    return change_rights();
  case call::advise:
    return advise();
  case call::remap_in_place:
  case call::remap_anywhere:
  case call::remap_to:
  case call::remap_and_keep:
    return remap(what);
  case call::synchronise: {
    const part of = some_part();
    constexpr int hows[] = {MS_SYNC, MS_ASYNC, MS_INVALIDATE, MS_SYNC | MS_ASYNC};
    return answer("sync", of, msync(first_of(of), of.count * page, random_->one_of(hows)));
  }
  case call::look_up: {
    const part of = some_part();
    unsigned char there[pages];
    return answer("look up", of, mincore(first_of(of), of.count * page, there));
  }
  case call::lock: {
    const part of = some_part();
    const std::string locked = answer("lock", of, mlock(first_of(of), of.count * page));
    return locked + answer(" unlock", of, munlock(first_of(of), of.count * page));
  }
  case call::store: {
    const part of = some_part();
    const char letter = static_cast<char>('a' + random_->below(26));
    const char done = try_access(first_of(of), [=](volatile char* to) {
      for (std::size_t i = 0; i < page; ++i)
        to[i] = letter;
      return letter;
    });
    return answer("store", of, done >= 'a' ? 0 : (errno = EFAULT, -1)) + " " + done;
  }
  case call::write_file: {
    const unsigned number = random_->below(file_pages);
    const std::string whole(page, static_cast<char>('a' + random_->below(26)));
    return answer("write", {0, number, 1},
                  pwrite(shared_, whole.data(), page, static_cast<off_t>(number * page)));
  }
  case call::truncate:
    return truncate(random_->below(file_pages));
  case call::wrong:
    return make_wrong();
  case call::fork:
    return fork_and_look();
  default:
    return map(what);
  }
}

} // namespace test
