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
#include <iterator>
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
    for (int i = 0; i < static_cast<int>(file_pages) / 2; ++i) {
      const std::string whole(page, static_cast<char>(letter - i));
      EXPECT_EQ(pwrite(file, whole.data(), page, i * static_cast<off_t>(page)),
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
  std::string truncate(unsigned count);

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
