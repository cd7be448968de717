// SPDX-License-Identifier: MIT
// Check builds name what a task must not have in its frames when it moves to another process.
#include "tests/process/processes.h"

namespace nopal_test {
namespace {

// The oldest is stolen first. A child that was spawned on the first process ends when so many of
// those around it have been stolen.
int until_stolen(std::uint32_t times) {
  while (process::this_worker.queue.stolen() < times)
    nopal::base::give_way();
  return 1;
}

int with_memory() {
  int* volatile kept = new int(1); // never freed: it exists in one process
  process::task<int> child = process::spawn(until_stolen, 1u);
  return process::join(child) + (kept == nullptr);
}

struct holder {
  int* at;
};
int with_parents_variable(holder given) {
  holder volatile kept{given.at};
  process::task<int> child = process::spawn(until_stolen, 2u);
  return process::join(child) + (kept.at == nullptr);
}
int gives_pointer() {
  int own = 7;
  process::task<int> child = process::spawn(with_parents_variable, holder{&own});
  return process::join(child);
}

thread_local int of_thread = 3;
int with_thread_variable() {
  int* volatile kept = &of_thread;
  process::task<int> child = process::spawn(until_stolen, 1u);
  return process::join(child) + (kept == nullptr);
}

int isolated(int depth) {
  if (depth == 0)
    return until_stolen(5);
  process::task<int> child = process::spawn(isolated, depth - 1);
  int local = depth;
  int* volatile own = &local; // within the task
  return process::join(child) + (own == nullptr);
}

TEST(isolation, names_memory_that_one_process_has) {
  const ended got = computed_by({.processes = 2}, with_memory);
  EXPECT_NE(got.said.find("memory that one process has allocated"), std::string::npos) << got.said;
  // The program exports none of its functions.
  EXPECT_NE(got.said.find("with_memory()"), std::string::npos) << got.said;
}

// A segment whose only pointer to other memory is what a register held at the spawn.
TEST(isolation, looks_at_every_register_that_a_spawn_preserves) {
  for (unsigned which = 0; which < 6; ++which) {
    const ended got = apart([which] {
      const process::options wanted{
          .processes = 1, .region_size = std::size_t{64} << 10, .heap_size = std::size_t{1} << 20};
      process::session session{0, nullptr, wanted};
      const process::layout memory{wanted.heap_size, wanted.region_size};
      auto* const context =
          std::construct_at(reinterpret_cast<nopal::arch::task_context*>(memory.region_at()));
      const auto own = std::make_unique<int>(1);
      context->preserved[which] = reinterpret_cast<std::uintptr_t>(own.get());
      process::check_isolation(memory, {0, sizeof *context});
    });
    EXPECT_NE(got.said.find("memory that one process has allocated"), std::string::npos)
        << which << got.said;
    EXPECT_EQ(got.status, 0);
  }
}

TEST(isolation, names_another_tasks_stack) {
  const ended got = computed_by({.processes = 3}, gives_pointer);
  EXPECT_NE(got.said.find("the stack of another task"), std::string::npos) << got.said;
}

TEST(isolation, names_a_threads_variables) {
  const ended got = computed_by({.processes = 2}, with_thread_variable);
  EXPECT_NE(got.said.find("a thread's variables (thread_local)"), std::string::npos) << got.said;
}

int sum_by_reference(int n) {
  int half = 0;
  auto task = process::spawn([&] { half = n / 2; });
  process::join(task);
  return half;
}

TEST(isolation, names_a_closure_that_captures_by_reference) {
  const ended got = computed_by({}, sum_by_reference, 10);
  EXPECT_NE(got.said.find("a task is given a pointer to the stack of another task"),
            std::string::npos)
      << got.said;
  EXPECT_NE(got.said.find("sum_by_reference"), std::string::npos) << got.said;
}

TEST(isolation, says_nothing_of_tasks_that_keep_it) {
  for (int round = 0; round < 20; ++round)
    EXPECT_EQ(computed_by({.processes = 2}, isolated, 5).said, "1");
}

} // namespace
} // namespace nopal_test
