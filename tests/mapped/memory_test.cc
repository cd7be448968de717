// SPDX-License-Identifier: MIT
// What one process does to the program's memory, the others see.
#include "agents.h"

#include "nopal/base/os.h"
#include "nopal/base/shared.h"
#include "nopal/mapped/memory.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using test::agent;
using mapped_memory = test::mapped;

int global = 1;
constexpr std::size_t mib = 1 << 20;

char* anonymous(std::size_t bytes, int access = PROT_READ | PROT_WRITE) {
  void* const at = mmap(nullptr, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<char*>(at);
}

// Whether write(2) can read this byte: the kernel says, no signal comes.
bool is_readable(const char* at) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const bool readable = write(ends[1], at, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return readable;
}

// A file of one MiB of this letter.
class file {
public:
  explicit file(char letter) : number_{open(".", O_TMPFILE | O_RDWR, 0600)} {
    const std::string text(mib, letter);
    EXPECT_EQ(write(number_, text.data(), text.size()), static_cast<ssize_t>(mib));
  }
  ~file() { close(number_); }
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  char* map(int access, int flags) const {
    void* const at = mmap(nullptr, mib, access, flags, number_, 0);
    EXPECT_NE(at, MAP_FAILED);
    return static_cast<char*>(at);
  }

private:
  int number_;
};

TEST_F(mapped_memory, processes_differ_and_share_variables_heap_and_stacks) {
  long pids[3] = {};
  const auto heap = std::make_unique<int>(0);
  a.run([&] {
    pids[0] = nopal::mapped::raw(SYS_getpid);
    global = 2;
    *heap = 3;
  });
  b.run([&] {
    pids[1] = nopal::mapped::raw(SYS_getpid);
    EXPECT_EQ(global, 2);
    EXPECT_EQ(*heap, 3);
  });
  pids[2] = nopal::mapped::raw(SYS_getpid);
  EXPECT_NE(pids[0], pids[1]);
  EXPECT_NE(pids[0], pids[2]);
  EXPECT_NE(pids[1], pids[2]);
}

TEST_F(mapped_memory, anonymous_memory_that_one_maps_is_written_by_the_other) {
  char* at = nullptr;
  a.run([&] { at = anonymous(mib); });
  b.run([&] { at[5000] = 'b'; });
  a.run([&] { EXPECT_EQ(at[5000], 'b'); });
  b.run([&] { EXPECT_EQ(munmap(at, mib), 0); });
}

TEST_F(mapped_memory, memory_that_is_mapped_again_is_zero) {
  for (int i = 0; i < 100; ++i) {
    char* at = nullptr;
    a.run([&] { at = anonymous(mib); });
    ASSERT_EQ(at[mib / 2], 0);
    b.run([&] {
      std::memset(at, 1, mib);
      EXPECT_EQ(madvise(at, 4096, MADV_DONTNEED), 0);
      EXPECT_EQ(at[0], 0);
      munmap(at, mib);
    });
  }
}

TEST_F(mapped_memory, mremap_moves_for_all) {
  char* at = nullptr;
  a.run([&] {
    at = anonymous(mib);
    std::strcpy(at, "text");
    at = static_cast<char*>(mremap(at, mib, 4 * mib, MREMAP_MAYMOVE));
    at[3 * mib] = 7;
  });
  b.run([&] {
    EXPECT_STREQ(at, "text");
    EXPECT_EQ(at[3 * mib], 7);
    at = static_cast<char*>(mremap(at, 4 * mib, mib, 0));
  });
  EXPECT_STREQ(at, "text");
  EXPECT_EQ(munmap(at, mib), 0);
}

TEST_F(mapped_memory, rights_that_one_takes_away_are_away_for_all_and_come_back) {
  char* at = nullptr;
  a.run([&] {
    at = anonymous(mib);
    at[0] = 1;
    EXPECT_EQ(mprotect(at, mib, PROT_NONE), 0);
  });
  b.run([&] { EXPECT_FALSE(is_readable(at)); });
  EXPECT_FALSE(is_readable(at));
  b.run([&] { EXPECT_EQ(mprotect(at, mib, PROT_READ | PROT_WRITE), 0); });
  a.run([&] { EXPECT_EQ(at[0], 1); });
  // Unmapped with rights taken away, and mapped anew.
  a.run([&] {
    mprotect(at, mib, PROT_READ);
    munmap(at, mib);
  });
  b.run([&] {
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    EXPECT_EQ(mmap(at, mib, PROT_READ | PROT_WRITE, flags, -1, 0), at);
  });
  a.run([&] { at[0] = 1; });
  b.run([&] { at[1] = 1; });
  munmap(at, mib);
}

TEST_F(mapped_memory, memory_that_is_mapped_without_rights_has_none) {
  char* at = nullptr;
  a.run([&] { at = anonymous(mib, PROT_NONE); });
  EXPECT_FALSE(is_readable(at));
  b.run([&] {
    EXPECT_FALSE(is_readable(at));
    EXPECT_EQ(mprotect(at, mib, PROT_READ), 0);
  });
  a.run([&] { EXPECT_TRUE(is_readable(at)); });
  EXPECT_EQ(munmap(at, mib), 0);
  a.run([&] { at = anonymous(mib); });
  b.run([&] { at[0] = 1; });
  munmap(at, mib);
}

// docs/limits.md: as the C library maps what it grants later.
TEST_F(mapped_memory, memory_that_is_granted_later_has_all_rights_at_once) {
  for (const int flag : {MAP_NORESERVE, MAP_STACK}) {
    void* at = nullptr;
    a.run([&] { at = mmap(nullptr, mib, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | flag, -1, 0); });
    b.run([&] { EXPECT_TRUE(is_readable(static_cast<char*>(at))); });
    munmap(at, mib);
  }
}

// One page lower than the guard something else may lie.
TEST_F(mapped_memory, a_thread_that_is_a_process_has_a_guard_below_its_stack) {
  if (!nopal::base::has_guard_regions())
    GTEST_SKIP() << "this kernel has no guard regions of shared memory";
  a.run([] {
    pthread_attr_t stack;
    void* low = nullptr;
    std::size_t bytes = 0, guard = 0;
    ASSERT_EQ(pthread_getattr_np(pthread_self(), &stack), 0);
    pthread_attr_getstack(&stack, &low, &bytes);
    pthread_attr_getguardsize(&stack, &guard);
    pthread_attr_destroy(&stack);
    EXPECT_GE(guard, 4096u);
    EXPECT_TRUE(is_readable(static_cast<char*>(low)));
    EXPECT_FALSE(is_readable(static_cast<char*>(low) - 1));
    EXPECT_FALSE(is_readable(static_cast<char*>(low) - guard));
  });
}

TEST_F(mapped_memory, the_break_moves_for_all) {
  char* before = nullptr;
  a.run([&] {
    before = static_cast<char*>(sbrk(mib));
    ASSERT_NE(before, reinterpret_cast<char*>(-1));
    before[100] = 'x';
  });
  b.run([&] {
    EXPECT_EQ(before[100], 'x');
    EXPECT_EQ(sbrk(0), before + mib);
    sbrk(-static_cast<intptr_t>(mib));
  });
  EXPECT_EQ(sbrk(0), before);
}

TEST_F(mapped_memory, files_are_mapped_when_another_process_touches_them) {
  const file letters{'q'};
  char *shared = nullptr, *read_only = nullptr, *copy = nullptr;
  a.run([&] {
    shared = letters.map(PROT_READ | PROT_WRITE, MAP_SHARED);
    read_only = letters.map(PROT_READ, MAP_PRIVATE);
    copy = letters.map(PROT_READ | PROT_WRITE, MAP_PRIVATE);
    shared[5] = 'A';
    copy[6] = 'C';
  });
  b.run([&] {
    EXPECT_EQ(shared[5], 'A');
    EXPECT_EQ(read_only[5], 'A'); // of the same pages
    EXPECT_EQ(copy[6], 'C');
    EXPECT_EQ(copy[7], 'q');
    shared[8] = 'B';
    copy[9] = 'B';
  });
  EXPECT_EQ(shared[8], 'B');
  EXPECT_EQ(copy[9], 'B');
  EXPECT_EQ(read_only[9], 'q');
  for (char* const each : {shared, read_only, copy})
    EXPECT_EQ(munmap(each, mib), 0);
}

TEST_F(mapped_memory, more_files_are_mapped_and_unmapped_than_the_log_has_entries) {
  const file letters[] = {file{'a'}, file{'b'}};
  for (int i = 0; i < 2000; ++i) {
    char* at = nullptr;
    const bool second = i % 2 != 0;
    (second ? a : b).run([&] { at = letters[second].map(PROT_READ, MAP_SHARED); });
    (second ? b : a).run([&] { EXPECT_EQ(at[4096], second ? 'b' : 'a'); });
    ASSERT_EQ(munmap(at, mib), 0);
  }
}

TEST_F(mapped_memory, a_file_that_grows_is_remapped) {
  const file letters{'q'};
  char* at = nullptr;
  a.run([&] { at = letters.map(PROT_READ | PROT_WRITE, MAP_SHARED); });
  b.run([&] { at[0] = 'b'; });
  char* moved = nullptr;
  a.run([&] { moved = static_cast<char*>(mremap(at, mib, 2 * mib, MREMAP_MAYMOVE)); });
  ASSERT_NE(moved, MAP_FAILED);
  b.run([&] { EXPECT_EQ(moved[0], 'b'); });
  munmap(moved, 2 * mib);
}

TEST_F(mapped_memory, private_file_that_becomes_writable_is_shared) {
  const file letters{'q'};
  char* at = nullptr;
  a.run([&] { at = letters.map(PROT_READ, MAP_PRIVATE); });
  b.run([&] { EXPECT_EQ(at[0], 'q'); });
  a.run([&] {
    EXPECT_EQ(mprotect(at, mib, PROT_READ | PROT_WRITE), 0);
    at[0] = 'a';
  });
  b.run([&] { EXPECT_EQ(at[0], 'a'); });
  munmap(at, mib);
}

TEST_F(mapped_memory, code_that_one_generates_the_other_calls) {
  const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3}; // return 42
  char* at = nullptr;
  a.run([&] {
    at = anonymous(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    std::memcpy(at, code, sizeof code);
  });
  b.run([&] { EXPECT_EQ(reinterpret_cast<int (*)()>(at)(), 42); });
  a.run([&] {
    EXPECT_EQ(mprotect(at, 4096, PROT_READ | PROT_WRITE), 0);
    at[1] = 43;
    EXPECT_EQ(mprotect(at, 4096, PROT_READ | PROT_EXEC), 0);
  });
  b.run([&] { EXPECT_EQ(reinterpret_cast<int (*)()>(at)(), 43); });
}

TEST_F(mapped_memory, fixed_addresses_that_the_program_chooses_are_shared) {
  char* const wanted = reinterpret_cast<char*>(0x3000'0000'0000);
  a.run([&] {
    ASSERT_EQ(mmap(wanted, mib, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
              wanted);
    wanted[0] = 'a';
  });
  b.run([&] {
    EXPECT_EQ(wanted[0], 'a');
    EXPECT_EQ(
        mmap(wanted, mib, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
        MAP_FAILED);
    EXPECT_EQ(errno, EEXIST);
    EXPECT_EQ(munmap(wanted, mib), 0);
  });
}

TEST_F(mapped_memory, the_view_is_private_and_shows_what_each_process_maps) {
  char *first = nullptr, *second = nullptr;
  const auto [low, end] = nopal::mapped::view_range();
  char* const view = reinterpret_cast<char*>(end - mib);
  EXPECT_EQ(nopal::base::shared->view_end, end);
  first = anonymous(mib);
  second = anonymous(mib);
  const auto show = [&](char* memory, char letter) {
    EXPECT_FALSE(is_readable(view));
    ASSERT_TRUE(nopal::mapped::map_again(reinterpret_cast<std::uintptr_t>(memory), end - mib, mib,
                                         letter == 'a'));
    view[1] = letter;
  };
  a.run([&] { show(first, 'a'); });
  b.run([&] { show(second, 'b'); });
  a.run([&] { EXPECT_EQ(view[1], 'a'); });
  EXPECT_EQ(first[1], 'a');
  EXPECT_EQ(second[1], 'b');
  EXPECT_FALSE(is_readable(view));
}

TEST_F(mapped_memory, descriptors_directory_and_mask_of_files_are_shared) {
  char before[4096];
  ASSERT_NE(getcwd(before, sizeof before), nullptr);
  int number = -1;
  a.run([&] {
    number = open("/dev/null", O_WRONLY);
    EXPECT_EQ(chdir("/"), 0);
    umask(077);
  });
  b.run([&] {
    EXPECT_EQ(write(number, "x", 1), 1);
    char now[4096];
    EXPECT_STREQ(getcwd(now, sizeof now), "/");
    EXPECT_EQ(umask(022), 077u);
    close(number);
  });
  a.run([&] { EXPECT_EQ(write(number, "x", 1), -1); });
  EXPECT_EQ(chdir(before), 0);
}

TEST_F(mapped_memory, a_program_that_closes_all_descriptors_keeps_its_memory) {
  a.run([&] {
    const pid_t child = fork(); // whose descriptors are its own
    if (child == 0) {
      close_range(3, ~0u, 0);
      for (int i = 3; i < nopal::mapped::memory_file + 500; ++i)
        close(i);
      EXPECT_EQ(dup2(1, nopal::mapped::memory_file), -1);
      char* const at = anonymous(mib);
      at[0] = 1;
      munmap(at, mib);
      const pid_t grandchild = fork();
      if (grandchild == 0)
        _exit(5);
      int status = 0;
      waitpid(grandchild, &status, 0);
      _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 5);
  });
}

TEST_F(mapped_memory, malloc_of_one_is_freed_by_the_other_a_million_times) {
  constexpr int rounds = 1000, each = 1000;
  std::vector<void*> blocks(each);
  for (int round = 0; round < rounds; ++round) {
    agent& giver = round % 2 == 0 ? a : b;
    agent& taker = round % 2 == 0 ? b : a;
    giver.run([&] {
      for (int i = 0; i < each; ++i) {
        const std::size_t bytes = 1 + static_cast<std::size_t>(i * 37 + round) % 3000;
        blocks[static_cast<std::size_t>(i)] = std::memset(std::malloc(bytes), i & 127, bytes);
      }
    });
    taker.run([&] {
      for (int i = 0; i < each; ++i) {
        char* const block = static_cast<char*>(blocks[static_cast<std::size_t>(i)]);
        if (*block != static_cast<char>(i & 127))
          ADD_FAILURE() << "block " << i << " of round " << round << " was overwritten";
        std::free(block);
      }
    });
  }
}

} // namespace
