// SPDX-License-Identifier: MIT
// A program's file was overwritten by its heap: it had mapped the file over a reservation, and had
// given that back; later malloc returned memory that was the file. Anonymous memory over a file's
// mapping kept the file's bytes. What was unmapped stayed readable, and some kinds of mappings were
// refused.
#include <nopal/fork.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::size_t page = 4096, bytes = 16 * page, room = 1 << 20;
constexpr int rw = PROT_READ | PROT_WRITE, anonymous = MAP_PRIVATE | MAP_ANONYMOUS;

// While another worker runs a child, this one goes on with the rest: in another process.
template <class Body> [[gnu::noinline]] void elsewhere(Body body) {
  const auto go = std::make_unique<std::atomic<bool>>(false);
  nopal::scope both;
  both.fork([&go] {
    while (!*go)
      sched_yield();
  });
  *go = true;
  body();
  both.join();
}

char* map(void* at, std::size_t size, int rights, int flags, int file = -1) {
  void* const got = mmap(at, size, rights, flags, file, 0);
  EXPECT_NE(got, MAP_FAILED) << std::strerror(errno);
  return static_cast<char*>(got);
}

thread_local sigjmp_buf after_fault;
thread_local int fault_code = 0;
// 0, or why the access faults.
int fault_of(char* at) {
  fault_code = 0;
  if (sigsetjmp(after_fault, 0) == 0)
    *const_cast<volatile char*>(at) = 1;
  return fault_code;
}

class mapped_mappings : public testing::Test {
protected:
  void SetUp() override {
    struct sigaction caught{};
    caught.sa_flags = SA_SIGINFO | SA_NODEFER;
    caught.sa_sigaction = [](int, siginfo_t* info, void*) {
      fault_code = info->si_code;
      siglongjmp(after_fault, 1);
    };
    sigaction(SIGSEGV, &caught, &before_);
    file_ = open(".", O_TMPFILE | O_RDWR, 0600);
    const std::string text(bytes, 'd');
    ASSERT_EQ(write(file_, text.data(), bytes), static_cast<ssize_t>(bytes));
  }
  void TearDown() override {
    sigaction(SIGSEGV, &before_, nullptr);
    close(file_);
  }
  char in_file() const {
    char letter = '?';
    return pread(file_, &letter, 1, 777) == 1 ? letter : '!';
  }

  int file_ = -1;
  struct sigaction before_{};
};

TEST_F(mapped_mappings, a_file_over_a_reservation_is_not_what_malloc_returns_later) {
  const auto use = [&] {
    char* const at = map(nullptr, room, PROT_NONE, anonymous);
    EXPECT_EQ(map(at, bytes, rw, MAP_SHARED | MAP_FIXED, file_), at);
    EXPECT_EQ(at[777], 'd');
    EXPECT_EQ(munmap(at, room), 0);
    std::vector<std::unique_ptr<char[]>> heap;
    for (int i = 0; i < 20; ++i) {
      heap.emplace_back(new char[300'000]);
      std::memset(heap.back().get(), 'X', 300'000);
    }
    EXPECT_EQ(in_file(), 'd');
  };
  use();
  elsewhere(use);
  use();
}

TEST_F(mapped_mappings, anonymous_memory_over_a_file_is_zero_and_not_the_file) {
  const auto use = [&] {
    char* const at = map(nullptr, room, rw, anonymous);
    map(at, bytes, rw, MAP_SHARED | MAP_FIXED, file_);
    elsewhere([&] { EXPECT_EQ(at[777], 'd'); });
    EXPECT_EQ(map(at, bytes, rw, anonymous | MAP_FIXED), at);
    EXPECT_EQ(at[777], 0);
    elsewhere([&] { EXPECT_EQ(std::exchange(at[777], 'X'), 0); });
    EXPECT_EQ(at[777], 'X');
    EXPECT_EQ(in_file(), 'd');
    munmap(at, room);
  };
  use();
  elsewhere(use);
}

TEST_F(mapped_mappings, what_is_unmapped_faults_in_every_worker) {
  for (const int file : {-1, file_}) {
    char* at = nullptr;
    const int flags = file < 0 ? anonymous : MAP_SHARED;
    elsewhere([&] { at = map(nullptr, bytes, rw, flags, file); });
    at[0] = at[page] = 1;
    elsewhere([&] { EXPECT_EQ(munmap(at + page, page), 0); });
    EXPECT_EQ(fault_of(at + page), SEGV_MAPERR);
    elsewhere([&] { EXPECT_EQ(fault_of(at + page), SEGV_MAPERR); });
    EXPECT_EQ(fault_of(at), 0);
    munmap(at, bytes);
    elsewhere([&] { EXPECT_EQ(fault_of(at), SEGV_MAPERR); });
    EXPECT_EQ(fault_of(at + 2 * page), SEGV_MAPERR);
  }
}

TEST_F(mapped_mappings, a_system_call_finds_what_another_worker_has_mapped) {
  char *file = nullptr, *granted = nullptr;
  elsewhere([&] {
    file = map(nullptr, bytes, PROT_READ, MAP_SHARED, file_);
    granted = map(nullptr, bytes, PROT_NONE, anonymous);
    mprotect(granted, bytes, rw);
  });
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(write(ends[1], file, page), static_cast<ssize_t>(page));
  EXPECT_EQ(read(ends[0], granted, page), static_cast<ssize_t>(page));
  EXPECT_EQ(granted[9], 'd');
  for (char* const each : {file, granted})
    munmap(each, bytes);
  for (const int end : ends)
    close(end);
}

TEST_F(mapped_mappings, a_place_of_ones_own_is_taken_again_where_nothing_is) {
  char* const at = map(nullptr, bytes, rw, anonymous);
  at[page] = 1;
  constexpr int flags = anonymous | MAP_FIXED_NOREPLACE;
  EXPECT_EQ(mmap(at + page, page, rw, flags, -1, 0), MAP_FAILED);
  EXPECT_EQ(errno, EEXIST);
  munmap(at + page, page);
  elsewhere([&] { EXPECT_EQ(map(at + page, page, rw, flags), at + page); });
  EXPECT_EQ(at[page], 0);
  munmap(at, bytes);
}

TEST_F(mapped_mappings, low_addresses_are_low_and_shared) {
  char* const low = map(nullptr, bytes, rw, anonymous | MAP_32BIT);
  EXPECT_LT(reinterpret_cast<std::uintptr_t>(low), std::uintptr_t{1} << 32);
  elsewhere([&] { low[5] = 'l'; });
  EXPECT_EQ(low[5], 'l');
  munmap(low, bytes);
}

TEST_F(mapped_mappings, memory_moves_to_an_address_and_may_stay_as_zero) {
  char* const from = map(nullptr, bytes, rw, anonymous);
  char* const to = map(nullptr, bytes, PROT_READ, anonymous);
  from[5] = 'm';
  elsewhere([&] {
    EXPECT_EQ(mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to), to);
  });
  EXPECT_EQ(to[5], 'm');
  EXPECT_EQ(from[5], 0);
  elsewhere(
      [&] { EXPECT_EQ(mremap(to, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, from), from); });
  EXPECT_EQ(from[5], 'm');
  EXPECT_EQ(fault_of(to), SEGV_MAPERR);
  munmap(from, bytes);
}

TEST_F(mapped_mappings, as_many_files_are_mapped_as_the_system_grants) {
  constexpr std::size_t many = 40'000;
  std::vector<char*> all;
  all.reserve(many);
  for (std::size_t i = 0; i < many; ++i) {
    void* const at = mmap(nullptr, page, i % 2 == 0 ? PROT_READ : rw, MAP_SHARED, file_, 0);
    if (at == MAP_FAILED)
      break;
    all.push_back(static_cast<char*>(at));
  }
  EXPECT_EQ(all.size(), many);
  for (char* const each : all)
    EXPECT_EQ(munmap(each, page), 0);
}

// A signal that told a process of the change would end the wait.
TEST_F(mapped_mappings, a_wait_is_not_interrupted_by_what_another_worker_unmaps) {
  const auto ends = std::make_unique<int[]>(2);
  ASSERT_EQ(pipe(ends.get()), 0);
  const auto answer = std::make_unique<ssize_t>(0);
  nopal::scope both;
  both.fork([&ends, &answer] {
    timespec long_time{3600, 0};
    fd_set readable;
    FD_ZERO(&readable);
    FD_SET(ends[0], &readable);
    *answer = pselect(ends[0] + 1, &readable, nullptr, nullptr, &long_time, nullptr);
  });
  for (int i = 0; i < 1000; ++i)
    munmap(map(nullptr, bytes, rw, anonymous), bytes);
  EXPECT_EQ(write(ends[1], "", 1), 1);
  both.join();
  EXPECT_EQ(*answer, 1);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(mapped_mappings, a_fork_takes_holes_files_and_memory_without_rights_along) {
  char* const at = map(nullptr, room, rw, anonymous);
  at[0] = 'a';
  at[page] = 'p';
  mprotect(at + page, page, PROT_NONE);
  map(at + 2 * page, page, rw, MAP_SHARED | MAP_FIXED, file_);
  munmap(at + 3 * page, page);
  elsewhere([&] {
    const pid_t child = fork();
    if (child == 0) {
      const bool same = at[0] == 'a' && fault_of(at + page) == SEGV_ACCERR && at[2 * page] == 'd' &&
                        fault_of(at + 3 * page) == SEGV_MAPERR;
      mprotect(at + page, page, rw);
      _exit(same && at[page] == 'p' ? 7 : 1);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 7);
  });
  munmap(at, room);
}

} // namespace
