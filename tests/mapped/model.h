// SPDX-License-Identifier: MIT
// Random sequences of calls that change the address space, made by several processes in turn, and
// what every page shows after each. A program of threads, this one with NOPAL_MAPPED=0, does the
// same; its lines must be equal. docs/mapped.md lists what is left out, since it differs.
#pragma once

#include "agents.h"

#include <array>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace test {

class random_numbers {
public:
  explicit random_numbers(std::uint64_t seed) : state_{seed * 0x9e37'79b9'7f4a'7c15} {}
  unsigned below(unsigned bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<unsigned>((state_ >> 33) % bound);
  }
  template <class Value, std::size_t N> Value one_of(const Value (&values)[N]) {
    return values[below(N)];
  }

private:
  std::uint64_t state_;
};

// An access whose fault is caught, in any thread.
inline thread_local sigjmp_buf after_fault;
inline thread_local char* volatile accessed = nullptr;
inline void catch_faults() {
  struct sigaction caught{};
  caught.sa_flags = SA_SIGINFO | SA_NODEFER;
  caught.sa_sigaction = [](int signal, siginfo_t* info, void*) {
    const bool there = info->si_addr == accessed;
    siglongjmp(after_fault, !there                         ? '*'
                            : signal == SIGBUS             ? '?'
                            : info->si_code == SEGV_MAPERR ? '!'
                                                           : '#');
  };
  sigaction(SIGSEGV, &caught, nullptr);
  sigaction(SIGBUS, &caught, nullptr);
}
// What it answers, or the kind of the fault.
template <class Access> char try_access(char* at, Access access) {
  accessed = at;
  if (const int fault = sigsetjmp(after_fault, 0); fault != 0)
    return static_cast<char>(fault);
  return access(static_cast<volatile char*>(at));
}

enum class call {
  map_memory,
  map_shared_memory,
  map_file,
  map_read_only,
  map_private,
  map_copy,
  map_where_nothing_is,
  map_near,
  unmap,
  protect,
  advise,
  remap_in_place,
  remap_anywhere,
  remap_to,
  remap_and_keep,
  synchronise,
  look_up,
  lock,
  store,
  write_file,
  truncate,
  wrong,
  fork,
  count
};
enum class kind {
  nothing,
  memory,
  shared_memory,
  file,
  read_only,
  private_file,
  copy,
  no_rights,
  count
};
inline constexpr auto calls = static_cast<std::size_t>(call::count);
inline constexpr auto kinds = static_cast<std::size_t>(kind::count);

class model {
public:
  static constexpr std::size_t page = 4096, pages = 12, areas = 3, file_pages = 16, agents = 3;
  static constexpr std::size_t bytes = page * pages;

  model() {
    catch_faults();
    for (int* each : {&shared_, &private_}) {
      char name[] = "/tmp/nopal_model_XXXXXX";
      *each = mkstemp(name);
      if (each == &shared_)
        read_only_ = open(name, O_RDONLY | O_CLOEXEC);
      unlink(name);
    }
    fill(private_, 'P');
    folder_ = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    reserve();
  }

  // A line for each call.
  std::vector<std::string> run(std::uint64_t seed);

  std::array<std::array<unsigned, kinds>, calls> seen{};
  unsigned made = 0, succeeded = 0;

private:
  struct known {
    kind what = kind::nothing;
    int rights = 0;
    unsigned mapping = 0; // pages of one number were mapped by one call, and not changed apart
    unsigned offset = 0;
    bool operator==(const known&) const = default;
  };
  struct part {
    unsigned area, first, count;
  };

  void fill(int file, char letter) {
    EXPECT_EQ(ftruncate(file, 0), 0);
    const std::string text(page, letter);
    for (std::size_t i = 0; i < file_pages / 2; ++i) {
      const std::string whole(page, static_cast<char>(letter - i));
      EXPECT_EQ(pwrite(file, whole.data(), page, static_cast<off_t>(i * page)),
                static_cast<ssize_t>(page));
    }
  }

  // In the arena, where files are mapped, and elsewhere; a page on each side stays as it is. What
  // else is mapped must not come between: of the second kind lower addresses are free.
  void reserve() {
    constexpr std::size_t whole = bytes + 2 * page;
    const bool shared = nopal::mapped::on();
    char* const fixed = reinterpret_cast<char*>(0x3000'0000'0000);
    void* const lower = mmap(nullptr, 64 * page, PROT_NONE, MAP_SHARED, shared_, 0);
    for (unsigned i = 0; i < areas; ++i) {
      void* const wanted = shared && i < 2 ? nullptr : fixed + (std::size_t{i} << 32);
      const int how = wanted != nullptr ? MAP_FIXED : 0;
      void* const got =
          i == 1 ? mmap(wanted, whole, PROT_NONE, MAP_SHARED | how, shared_, 0)
                 : mmap(wanted, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | how, -1, 0);
      ASSERT_NE(got, MAP_FAILED);
      area_[i] = static_cast<char*>(got) + page;
    }
    munmap(lower, 64 * page);
  }

  char* place(const part& of) const { return area_[of.area] + of.first * page; }
  known& at(unsigned area, unsigned number) { return pages_[area][number]; }

  template <class Body> void by_worker(unsigned number, Body body) {
    number == 0 ? body() : workers_[number - 1].run(body);
  }

  part some_part() {
    const unsigned first = random_->below(pages);
    return {random_->below(areas), first, 1 + random_->below(std::min<unsigned>(5, pages - first))};
  }
  // Of one mapping.
  part some_mapping() {
    part found = some_part();
    const known begin = at(found.area, found.first);
    unsigned count = 1;
    while (count < found.count) {
      known wanted = begin;
      wanted.offset += count;
      if (begin.what == kind::nothing || at(found.area, found.first + count) != wanted)
        break;
      ++count;
    }
    found.count = count;
    return found;
  }
  bool has(const part& of, kind what) {
    for (unsigned i = 0; i < of.count; ++i)
      if (at(of.area, of.first + i).what == what)
        return true;
    return false;
  }
  void note(const part& of, kind what, int rights, unsigned offset = 0) {
    ++mappings_;
    for (unsigned i = 0; i < of.count; ++i)
      at(of.area, of.first + i) =
          what == kind::nothing ? known{} : known{what, rights, mappings_, offset + i};
  }

  std::string begin();
  std::string make(call what);
  std::string state(bool of_files);
  std::string answer(const char* name, const part& of, long result,
                     bool elsewhere_is_right = false);
  std::string map(call what);
  std::string remap(call what);
  std::string change_rights();
  std::string advise();
  std::string make_wrong();
  std::string fork_and_look();

  agent workers_[agents];
  char* area_[areas] = {};
  known pages_[areas][pages];
  int shared_ = -1, read_only_ = -1, private_ = -1, folder_ = -1;
  unsigned mappings_ = 0;
  random_numbers* random_ = nullptr;
};

inline std::string model::answer(const char* name, const part& of, long result, bool elsewhere) {
  const int error = errno;
  ++made;
  succeeded += result != -1;
  std::string text = std::string{name} + " " + std::to_string(of.area) + ":" +
                     std::to_string(of.first) + "+" + std::to_string(of.count) + " = ";
  if (result == -1)
    return text + strerrorname_np(error);
  const char* const got = reinterpret_cast<const char*>(result);
  for (unsigned i = 0; i < areas; ++i)
    if (got >= area_[i] && got < area_[i] + bytes)
      return text + std::to_string(i) + ":" +
             std::to_string((got - area_[i]) / static_cast<long>(page));
  return text + (elsewhere ? "elsewhere" : std::to_string(result));
}

inline std::string model::state(bool of_files) {
  std::string text;
  for (unsigned area = 0; area < areas; ++area) {
    text += " |";
    for (unsigned i = 0; i < pages; ++i) {
      char* const begin = area_[area] + i * page;
      const char shown = try_access(begin + 8, [](volatile char* from) {
        const char first = from[0];
        for (std::size_t j = 0; j < page - 16; j += 500)
          if (from[j] != first)
            return '~';
        return first == 0 ? '0' : first;
      });
      const char written = try_access(begin + 16, [](volatile char* to) {
        to[0] = to[0];
        return 'w';
      });
      text += shown;
      text += written;
    }
  }
  for (const int file : {shared_, private_}) {
    if (!of_files)
      break;
    text += " f:";
    for (std::size_t i = 0; i < file_pages; ++i) {
      char letter = '-';
      if (pread(file, &letter, 1, static_cast<off_t>(i * page + 8)) == 1 && letter == 0)
        letter = '0';
      text += letter;
    }
  }
  return text;
}

inline std::string model::begin() {
  std::string text;
  fill(shared_, 'Z');
  for (unsigned i = 0; i < areas; ++i) {
    const part whole{i, 0, pages};
    text += answer("begin", whole, munmap(area_[i], bytes));
    note(whole, kind::nothing, 0);
    if (random_->below(3) == 0)
      continue;
    void* const got = mmap(area_[i], bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    text += answer(" map", whole, reinterpret_cast<long>(got));
    note(whole, kind::memory, PROT_READ | PROT_WRITE);
  }
  return text;
}

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

inline std::string model::make_wrong() {
  const part of = some_part();
  char* const p = place(of);
  constexpr int rw = PROT_READ | PROT_WRITE, anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
  const auto mapped = [](void* got) { return reinterpret_cast<long>(got); };
  const unsigned which = random_->below(26);
  const auto result = [&]() -> long {
    switch (which) {
    case 0:
      return mapped(mmap(p + 1, page, rw, anonymous | MAP_FIXED, -1, 0));
    case 1:
      return mapped(mmap(p, 0, rw, anonymous | MAP_FIXED, -1, 0));
    case 2:
      return mapped(mmap(p, page, rw, MAP_SHARED | MAP_FIXED, 999'999, 0));
    case 3:
      return mapped(mmap(p, page, rw, MAP_SHARED | MAP_FIXED, shared_, 512));
    case 4:
      return mapped(mmap(p, page, rw, MAP_ANONYMOUS | MAP_FIXED, -1, 0));
    case 5:
      return mapped(mmap(p, ~std::size_t{0} - 100, rw, anonymous | MAP_FIXED, -1, 0));
    case 6:
      return mapped(mmap(p, page, PROT_READ, MAP_SHARED | MAP_FIXED, folder_, 0));
    case 7:
      return mapped(mmap(p, page, rw, MAP_SHARED | MAP_FIXED, read_only_, 0));
    case 8:
      return mapped(mmap(p, page, rw, MAP_SHARED_VALIDATE | MAP_FIXED | (1 << 25), shared_, 0));
    case 9:
      return mapped(mmap(p, page, rw, MAP_SHARED_VALIDATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
    case 10:
      return mapped(mmap(p, page, rw, MAP_PRIVATE | MAP_FIXED, folder_, 0));
    case 11:
      return munmap(p, 0);
    case 12:
      return munmap(p + 8, page);
    case 13:
      return munmap(p, ~std::size_t{0} - 100);
    case 14:
      return mprotect(p + 8, page, rw);
    case 15:
      return mprotect(p, 0, PROT_NONE);
    case 16:
      return mprotect(p, ~std::size_t{0} - 100, rw);
    case 17:
      return mprotect(p, page, 0x4000'0000);
    case 18:
      return madvise(p, page, 9999);
    case 19:
      return madvise(p + 8, page, MADV_DONTNEED);
    case 20:
      return madvise(p, 0, MADV_DONTNEED);
    case 21:
      return mapped(mremap(p, page, 0, MREMAP_MAYMOVE));
    case 22:
      return mapped(mremap(p + 8, page, page, MREMAP_MAYMOVE));
    case 23:
      return mapped(mremap(p, page, page, MREMAP_FIXED, p + page));
    case 24:
      return mapped(mremap(p, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, p));
    default:
      return mapped(mremap(p, page, 2 * page, MREMAP_MAYMOVE | MREMAP_DONTUNMAP));
    }
  }();
  return answer("wrong", of, result) + " " + std::to_string(which);
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
  case call::truncate: {
    const unsigned count = random_->below(file_pages);
    return answer("truncate", {0, 0, count}, ftruncate(shared_, static_cast<off_t>(count * page)));
  }
  case call::wrong:
    return make_wrong();
  case call::fork:
    return fork_and_look();
  default:
    return map(what);
  }
}

inline std::vector<std::string> model::run(std::uint64_t seed) {
  constexpr unsigned most_calls = 12;
  random_numbers numbers{seed};
  random_ = &numbers;
  std::vector<std::string> lines{begin()};
  lines.back() += state(true);
  for (unsigned i = 0; i < most_calls; ++i) {
    call what = static_cast<call>(numbers.below(calls));
    if ((what == call::wrong && numbers.below(2) == 0) ||
        (what == call::fork && numbers.below(3) != 0))
      what = call::store;
    const unsigned worker = numbers.below(1 + agents), other = numbers.below(1 + agents);
    std::string line = std::to_string(worker) + " ";
    // What lies where the call's part begins, which is drawn once more.
    random_numbers drawn = numbers;
    const part of = some_part();
    numbers = drawn;
    const known& there = at(of.area, of.first);
    const kind first =
        there.what != kind::nothing && there.rights == PROT_NONE ? kind::no_rights : there.what;
    ++seen[static_cast<std::size_t>(what)][static_cast<std::size_t>(first)];
    by_worker(worker, [&] {
      line += make(what);
      line += state(true);
    });
    by_worker(other, [&] { line += " seen by " + std::to_string(other) + state(false); });
    lines.push_back(line);
  }
  return lines;
}

} // namespace test
