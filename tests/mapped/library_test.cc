// SPDX-License-Identifier: MIT
// The C and C++ libraries between processes: locks, streams, exceptions, thread-local variables,
// libraries that are loaded.
#include "agents.h"

#include <algorithm>
#include <barrier>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <dlfcn.h>
#include <fstream>
#include <future>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using test::agent;
using test::in_processes;
using mapped_library = test::mapped;

constexpr unsigned many = 4;

TEST_F(mapped_library, a_contended_mutex_counts_right) {
  std::mutex lock;
  long sum = 0;
  in_processes(many, [&](unsigned) {
    for (int i = 0; i < 50'000; ++i) {
      const std::lock_guard guard{lock};
      ++sum;
    }
  });
  EXPECT_EQ(sum, long{many} * 50'000);
}

TEST_F(mapped_library, condition_variables_pass_a_turn_around) {
  std::mutex lock;
  std::condition_variable changed;
  unsigned turn = 0;
  in_processes(many, [&](unsigned self) {
    for (int i = 0; i < 500; ++i) {
      std::unique_lock guard{lock};
      changed.wait(guard, [&] { return turn % many == self; });
      ++turn;
      changed.notify_all();
    }
  });
  EXPECT_EQ(turn, many * 500);
}

TEST_F(mapped_library, call_once_and_static_locals_run_once) {
  std::once_flag once;
  int called = 0, made = 0;
  const auto local = [&made]() -> int& {
    static int value = [&made] {
      usleep(1000); // so that others wait
      return ++made;
    }();
    return value;
  };
  in_processes(many, [&](unsigned) {
    std::call_once(once, [&] { ++called; });
    EXPECT_EQ(called, 1);
    EXPECT_EQ(local(), 1);
  });
  EXPECT_EQ(made, 1);
}

TEST_F(mapped_library, shared_pointers_are_freed_once_wherever) {
  struct counted {
    explicit counted(std::atomic<int>& alive) : alive_{alive} { ++alive_; }
    ~counted() { --alive_; }
    std::atomic<int>& alive_;
  };
  std::atomic<int> alive{0};
  std::mutex lock;
  std::vector<std::shared_ptr<counted>> all;
  in_processes(many, [&](unsigned self) {
    for (unsigned i = 0; i < 20'000; ++i) {
      const std::lock_guard guard{lock};
      if ((i + self) % 3 == 0 || all.empty())
        all.push_back(std::make_shared<counted>(alive));
      else if ((i + self) % 3 == 1)
        all.push_back(all[i % all.size()]);
      else
        all.erase(all.begin() + i % static_cast<unsigned>(all.size()));
    }
  });
  EXPECT_GT(alive, 0);
  all.clear();
  EXPECT_EQ(alive, 0);
}

TEST_F(mapped_library, lines_are_printed_whole) {
  std::unique_ptr<FILE, int (*)(FILE*)> out{std::tmpfile(), std::fclose};
  const std::string word(40, 'x');
  in_processes(many, [&](unsigned self) {
    for (int i = 0; i < 2000; ++i)
      std::fprintf(out.get(), "%u %s %d\n", self, word.c_str(), i);
  });
  std::rewind(out.get());
  int next[many] = {};
  char line[200];
  while (std::fgets(line, sizeof line, out.get()) != nullptr) {
    unsigned self = 0;
    int i = -1;
    char text[100];
    ASSERT_EQ(std::sscanf(line, "%u %99s %d", &self, text, &i), 3) << line;
    ASSERT_LT(self, many);
    ASSERT_EQ(text, word);
    ASSERT_EQ(i, next[self]++);
  }
  EXPECT_TRUE(std::all_of(next, next + many, [](int count) { return count == 2000; }));
}

TEST_F(mapped_library, exceptions_are_thrown_caught_and_carried_over) {
  std::exception_ptr carried;
  a.run([&] {
    try {
      throw std::runtime_error{"thrown by one"};
    } catch (...) {
      carried = std::current_exception();
    }
  });
  b.run([&] {
    try {
      std::rethrow_exception(carried);
    } catch (const std::runtime_error& caught) {
      EXPECT_STREQ(caught.what(), "thrown by one");
    }
    carried = nullptr;
  });
  in_processes(many, [](unsigned self) {
    for (unsigned i = 0; i < 1000; ++i)
      try {
        throw self + i;
      } catch (unsigned caught) {
        EXPECT_EQ(caught, self + i);
      }
  });
}

thread_local int own = 0;

TEST_F(mapped_library, each_has_its_own_errno_self_and_thread_local_variables) {
  pthread_t selves[2];
  a.run([&] {
    own = 1;
    errno = 11;
    selves[0] = pthread_self();
  });
  b.run([&] {
    EXPECT_EQ(own, 0);
    own = 2;
    errno = 12;
    selves[1] = pthread_self();
  });
  a.run([&] {
    EXPECT_EQ(own, 1);
    EXPECT_EQ(errno, 11);
  });
  EXPECT_FALSE(pthread_equal(selves[0], selves[1]));
  EXPECT_TRUE(pthread_equal(selves[0], a.thread()));
}

TEST_F(mapped_library, latches_barriers_futures_atomics_and_shared_locks_wait) {
  std::latch latch{2};
  std::barrier barrier{2};
  std::promise<int> promise;
  std::atomic<int> word{0};
  std::shared_mutex lock;
  a.begin([&, future = promise.get_future().share()] {
    latch.arrive_and_wait();
    for (int i = 0; i < 100; ++i)
      barrier.arrive_and_wait();
    word.wait(0);
    EXPECT_EQ(future.get(), 5);
    const std::shared_lock guard{lock};
  });
  b.begin([&] {
    latch.arrive_and_wait();
    for (int i = 0; i < 100; ++i)
      barrier.arrive_and_wait();
    word = 1;
    word.notify_all();
    promise.set_value(5);
    const std::unique_lock guard{lock};
  });
  a.wait();
  b.wait();
}

// The C library compares thread numbers, and the kernel those of priority inheritance.
TEST_F(mapped_library, mutexes_of_all_kinds_know_their_owner) {
  pthread_mutexattr_t kind;
  pthread_mutex_t recursive, inheriting, robust;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&recursive, &kind);
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
  pthread_mutex_init(&inheriting, &kind);
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&robust, &kind);
  a.run([&] {
    EXPECT_EQ(pthread_mutex_lock(&recursive), 0);
    EXPECT_EQ(pthread_mutex_lock(&recursive), 0);
    EXPECT_EQ(pthread_mutex_lock(&inheriting), 0);
  });
  b.run([&] {
    EXPECT_EQ(pthread_mutex_trylock(&recursive), EBUSY);
    EXPECT_EQ(pthread_mutex_trylock(&inheriting), EBUSY);
  });
  b.begin([&] {
    EXPECT_EQ(pthread_mutex_lock(&inheriting), 0);
    EXPECT_EQ(pthread_mutex_unlock(&inheriting), 0);
  });
  a.run([&] {
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    EXPECT_EQ(pthread_mutex_unlock(&inheriting), 0);
  });
  b.wait();
  {
    agent dies;
    dies.run([&] { pthread_mutex_lock(&robust); });
  }
  a.run([&] {
    EXPECT_EQ(pthread_mutex_lock(&robust), EOWNERDEAD);
    pthread_mutex_consistent(&robust);
    pthread_mutex_unlock(&robust);
  });
}

TEST_F(mapped_library, a_library_that_one_loads_the_other_calls) {
  void* library = nullptr;
  a.run([&] { library = dlopen(NOPAL_TEST_PLUG, RTLD_NOW); });
  ASSERT_NE(library, nullptr) << dlerror();
  const auto find = [&](const char* name) { return dlsym(library, name); };
  const auto variable = reinterpret_cast<int (*)(int)>(find("plug_variable"));
  const auto thread_own = reinterpret_cast<int (*)(int)>(find("plug_own"));
  const auto caught = reinterpret_cast<int (*)()>(find("plug_catch"));
  a.run([&] {
    EXPECT_EQ(variable(4), 5);
    EXPECT_EQ(thread_own(10), 11);
  });
  b.run([&] {
    EXPECT_EQ(variable(1), 6);
    EXPECT_EQ(thread_own(0), 1);
    EXPECT_EQ(caught(), 3);
  });
  EXPECT_EQ(variable(0), 6);
  b.run([&] { EXPECT_EQ(dlclose(library), 0); });
}

// The C library reserves addresses, maps the library over a part of them, and gives back the rest.
TEST_F(mapped_library, a_library_with_larger_pages_is_loaded_closed_and_loaded_again) {
  for (const char* const name : {NOPAL_TEST_PLUG_16384, NOPAL_TEST_PLUG_65536,
                                 NOPAL_TEST_PLUG_2097152, NOPAL_TEST_PLUG_16384})
    for (const bool in_first : {true, false, true}) {
      void* library = nullptr;
      const auto load = [&] { library = dlopen(name, RTLD_NOW); };
      in_first ? load() : a.run(load);
      ASSERT_NE(library, nullptr) << dlerror();
      const auto variable = reinterpret_cast<int (*)(int)>(dlsym(library, "plug_variable"));
      const auto zeros = reinterpret_cast<int (*)()>(dlsym(library, "plug_zeros"));
      EXPECT_EQ(variable(4), 5);
      EXPECT_EQ(zeros(), 1);
      b.run([&] {
        EXPECT_EQ(variable(1), 6);
        EXPECT_EQ(zeros(), 2);
      });
      EXPECT_EQ(zeros(), 3);
      EXPECT_EQ(dlclose(library), 0);
    }
}

TEST_F(mapped_library, the_systems_openblas_is_loaded_and_closed) {
  void* library = nullptr;
  a.run([&] { library = dlopen("libopenblas.so.0", RTLD_NOW); });
  if (library == nullptr)
    GTEST_SKIP() << "this system has none";
  b.run([&] { EXPECT_EQ(dlclose(library), 0); });
}

// Another process may apply the first half of what loading maps, and then must see the second.
TEST_F(mapped_library, libraries_are_loaded_while_another_touches_new_files) {
  std::atomic<bool> stop{false};
  b.begin([&] {
    while (!stop)
      std::ifstream{"/proc/self/maps"}.get();
  });
  for (int i = 0; i < 50; ++i) {
    void* library = nullptr;
    a.run([&] { library = dlopen(NOPAL_TEST_PLUG, RTLD_NOW); });
    ASSERT_NE(library, nullptr);
    ASSERT_EQ(reinterpret_cast<int (*)(int)>(dlsym(library, "plug_variable"))(i), 1 + i);
    dlclose(library);
  }
  stop = true;
  b.wait();
}

TEST_F(mapped_library, threads_of_a_process_are_joined_by_another) {
  std::thread begun;
  int seen = 0;
  a.run([&] { begun = std::thread{[&] { seen = 17; }}; });
  b.run([&] { begun.join(); });
  EXPECT_EQ(seen, 17);
}

TEST_F(mapped_library, a_thread_of_a_process_becomes_one_and_outlives_it) {
  auto first = std::make_unique<agent>();
  std::unique_ptr<agent> second;
  first->run([&] { second = std::make_unique<agent>(); });
  long pids[2];
  first->run([&] { pids[0] = nopal::mapped::raw(39 /* getpid */); });
  second->run([&] { pids[1] = nopal::mapped::raw(39); });
  EXPECT_NE(pids[0], pids[1]);
  first.reset();
  second->run([&] { EXPECT_EQ(nopal::mapped::raw(39), pids[1]); });
  EXPECT_EQ(getpid(), nopal::mapped::raw(39));
}

TEST_F(mapped_library, sixty_four_processes_share_a_table) {
  std::mutex lock;
  std::map<unsigned, std::string> table;
  in_processes(64, [&](unsigned self) {
    for (int i = 0; i < 100; ++i) {
      const std::lock_guard guard{lock};
      table[self].append("x");
    }
  });
  EXPECT_EQ(table.size(), 64u);
  for (const auto& [self, text] : table)
    EXPECT_EQ(text.size(), 100u);
}

TEST_F(mapped_library, processes_begin_and_end_many_times) {
  for (int i = 0; i < 200; ++i) {
    agent fresh;
    int seen = 0;
    fresh.run([&] { seen = i; });
    ASSERT_EQ(seen, i);
  }
}

} // namespace
