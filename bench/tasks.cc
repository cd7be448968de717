// SPDX-License-Identifier: MIT
// Many small tasks that one thread adds and awaits, and a graph of them, beside oneTBB and
// Taskflow, as one JSON line of medians in milliseconds.
//
// usage: tasks [--workers N] [--rounds N] [--tasks N] [--steps N] [--only WAY]
//
// A task makes so many steps, each about a nanosecond. All ways run in turn, round after round, in
// one process. In the graph, a square, a task follows that above it and that to its left.
#include <nopal/runtime.h>
#include <nopal/submit.h>
#include <nopal/task_group.h>

#if defined(BENCH_TBB)
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#endif
#if defined(BENCH_TASKFLOW)
#include <taskflow/taskflow.hpp>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;

unsigned workers = 0;
std::size_t tasks = 1'000'000;
unsigned steps = 600;
std::atomic<std::uint64_t> work_done{0};

// Each step waits for the one before it.
void work() {
  std::uint64_t x = 1;
  for (unsigned i = 0; i < steps; ++i)
    x = x * 6364136223846793005u + 1442695040888963407u;
  if (x == 0) // never: the steps are computed all the same
    work_done.fetch_add(1, std::memory_order_relaxed);
}
std::size_t side() { return static_cast<std::size_t>(std::sqrt(static_cast<double>(tasks))); }

void serially() {
  for (std::size_t i = 0; i < tasks; ++i)
    work();
}

void group() {
  nopal::task_group all;
  for (std::size_t i = 0; i < tasks; ++i)
    all.add(work);
  all.wait();
}
void futures() {
  std::vector<nopal::future<void>> all;
  all.reserve(tasks);
  for (std::size_t i = 0; i < tasks; ++i)
    all.push_back(nopal::submit(work));
  nopal::when_all(std::move(all)).get();
}
void graph() {
  const std::size_t n = side();
  nopal::task_group all;
  std::vector<nopal::task_node> row(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (i == 0 && j == 0)
        row[j] = all.add_node(work);
      else if (i == 0)
        row[j] = all.add_after({row[j - 1]}, work);
      else if (j == 0)
        row[j] = all.add_after({row[j]}, work);
      else
        row[j] = all.add_after({row[j], row[j - 1]}, work);
  all.wait();
}

#if defined(BENCH_TBB)
template <class F> void in_arena(F f) {
  const tbb::global_control limit{tbb::global_control::max_allowed_parallelism, workers};
  tbb::task_arena{static_cast<int>(workers)}.execute(f);
}
void tbb_group() {
  in_arena([] {
    tbb::task_group all;
    for (std::size_t i = 0; i < tasks; ++i)
      all.run(work);
    all.wait();
  });
}
void tbb_flow() {
  using node = tbb::flow::continue_node<tbb::flow::continue_msg>;
  in_arena([] {
    const std::size_t n = side();
    tbb::flow::graph all;
    std::vector<std::unique_ptr<node>> nodes(n * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        auto& made = nodes[i * n + j] =
            std::make_unique<node>(all, [](const tbb::flow::continue_msg&) { work(); });
        if (i != 0)
          tbb::flow::make_edge(*nodes[(i - 1) * n + j], *made);
        if (j != 0)
          tbb::flow::make_edge(*nodes[i * n + j - 1], *made);
      }
    nodes[0]->try_put(tbb::flow::continue_msg{});
    all.wait_for_all();
  });
}
#endif

#if defined(BENCH_TASKFLOW)
tf::Executor& executor() {
  static tf::Executor all{workers};
  return all;
}
void taskflow_async() {
  for (std::size_t i = 0; i < tasks; ++i)
    executor().silent_async(work);
  executor().wait_for_all();
}
void taskflow_graph() {
  const std::size_t n = side();
  tf::Taskflow all;
  std::vector<tf::Task> row(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      tf::Task made = all.emplace(work);
      if (i != 0)
        row[j].precede(made);
      if (j != 0)
        row[j - 1].precede(made);
      row[j] = made;
    }
  executor().run(all).wait();
}
#endif

constexpr std::pair<const char*, void (*)()> ways[] = {
    {"serial", serially},
    {"group", group},
    {"futures", futures},
#if defined(BENCH_TBB)
    {"tbb_group", tbb_group},
#endif
#if defined(BENCH_TASKFLOW)
    {"taskflow_async", taskflow_async},
#endif
    {"graph", graph},
#if defined(BENCH_TBB)
    {"tbb_flow", tbb_flow},
#endif
#if defined(BENCH_TASKFLOW)
    {"taskflow_graph", taskflow_graph},
#endif
};

double ms_of(void (*way)()) {
  const auto begin = clock_type::now();
  way();
  return std::chrono::duration<double, std::milli>(clock_type::now() - begin).count();
}
double median(std::vector<double> times) {
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2];
}

} // namespace

int main(int argc, char** argv) {
  std::size_t rounds = 5;
  const char* only = nullptr;
  for (int i = 1; i + 1 < argc; i += 2) {
    const auto given = [&](const char* name) { return std::strcmp(argv[i], name) == 0; };
    if (given("--only")) {
      only = argv[i + 1];
      continue;
    }
    const unsigned long number = std::strtoul(argv[i + 1], nullptr, 10);
    if (given("--workers"))
      workers = static_cast<unsigned>(number);
    else if (given("--rounds"))
      rounds = number;
    else if (given("--tasks"))
      tasks = number;
    else if (given("--steps"))
      steps = static_cast<unsigned>(number);
  }
  nopal::configure({.num_workers = workers});
  workers = nopal::num_workers();
  std::vector<double> taken[std::size(ways)];
  for (std::size_t round = 0; round < rounds; ++round)
    for (std::size_t way = 0; way < std::size(ways); ++way)
      if (only == nullptr || std::strcmp(only, ways[way].first) == 0)
        taken[way].push_back(ms_of(ways[way].second));
  std::printf("{\"workers\": %u, \"tasks\": %zu, \"steps\": %u", workers, tasks, steps);
  for (std::size_t way = 0; way < std::size(ways); ++way)
    if (!taken[way].empty())
      std::printf(", \"%s\": %.2f", ways[way].first, median(taken[way]));
  std::printf("}\n");
}
