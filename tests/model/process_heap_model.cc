// SPDX-License-Identifier: MIT
// Models of cells: the joiner of a task sees its whole result, and the cell's owner writes the cell
// anew only when the result was read. The owner, the child and the joiner are on any processes.
//
// The heap has room for one cell, so each round uses the same. The engine's put is a write, its get
// a read, and its store of a word a release.
#include "harness.h"
#include "mortal.h"

#include "nopal/process/run/heap.cc"

#include <memory>

// Relacy replaces the other forms of these.
void operator delete(void* at, std::size_t) noexcept { ::operator delete(at); }

namespace nopal::model {
namespace {

using process::cell;

using result = base::handed_over<int>;
result& result_of(cell* task_cell) noexcept { return *static_cast<result*>(task_cell->payload()); }

// Process 0 owns the cell. A task's child ends on process Child, its joiner is on process Joiner.
template <int Processes, int Child, int Joiner, int Rounds = 3>
struct cells : scenario<cells<Processes, Child, Joiner, Rounds>, Processes> {
  static constexpr std::uint32_t size_class = process::class_of(sizeof(result));

  alignas(16) std::byte room[process::cell_size(size_class)]{};
  mortal<process::heap> heap;          // ends while its allocations still count as the model's
  base::atomic<cell*> known[Rounds]{}; // the reference, as it comes with the frames
  int joined = 0;

  void before() {
    heap.begin().open(reinterpret_cast<std::uintptr_t>(room), sizeof room);
    cell* const only = heap->allocate(size_class);
    std::construct_at(&result_of(only));
    heap->free(only, size_class);
  }

  void thread(unsigned self) {
    for (int round = 0; round < Rounds; ++round) {
      if (self == 0)
        known[round].store(allocate(round), base::release);
      cell* task_cell = nullptr;
      while ((task_cell = known[round].load(base::acquire)) == nullptr)
        base::spin_pause();
      if (self == Child)
        finish(task_cell, round);
      if (self == Joiner)
        join(task_cell, round);
    }
  }

  cell* allocate(int round) {
    if (Joiner != 0 && round > 0) // allocate dies unless the joiner has freed it
      while (known[0].load(base::relaxed)->state.load(base::relaxed) != process::cell_freed)
        base::spin_pause();
    return heap->allocate(size_class);
  }
  static void finish(cell* task_cell, int round) {
    result_of(task_cell) = round + 1;
    task_cell->state.store(process::cell_value, base::release);
  }
  void join(cell* task_cell, int round) {
    while (state_of(task_cell) == process::cell_pending)
      base::spin_pause();
    check(state_of(task_cell) == process::cell_value, "a cell is used by two tasks");
    check(result_of(task_cell) == round + 1, "a joiner does not see its task's result");
    ++joined;
    if (Joiner == 0)
      heap->free(task_cell);
    else
      task_cell->state.store(process::cell_freed, base::release);
  }
  static process::cell_state state_of(cell* task_cell) {
    return static_cast<process::cell_state>(task_cell->state.load(base::acquire));
  }

  static void end_cell(cell* task_cell) {
    std::destroy_at(&result_of(task_cell));
    std::destroy_at(task_cell);
  }
  void after() {
    check(joined == Rounds, "a task was not joined");
    for (std::size_t at = 0; at < sizeof room; at += process::cell_size(size_class))
      end_cell(reinterpret_cast<cell*>(room + at));
    heap.end();
  }
};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.random<cells<2, 1, 0>>("the child is elsewhere");
  models.bounded<cells<2, 1, 0>>("the child is elsewhere", 2);
  models.random<cells<2, 0, 1>>("the joiner is elsewhere");
  models.bounded<cells<2, 0, 1>>("the joiner is elsewhere", 2);
  models.random<cells<2, 1, 1>>("both are on one process elsewhere");
  models.random<cells<3, 1, 2>>("both are elsewhere");
  models.bounded<cells<3, 1, 2, 2>>("both are elsewhere, twice", 1);
  return models.result();
}
