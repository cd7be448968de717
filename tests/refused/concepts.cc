// SPDX-License-Identifier: MIT
// Calls that do not fit the concepts of the interface. Each case is a macro. Behind it stand the
// first line of the compiler's message and the concept that the message names:
//
// forkable: the function cannot be called with these arguments
// forkable_into: the result cannot be assigned to the first argument
// spawnable: no matching function for call to .spawn | spawnable
// callable: no matching function for call to .affine | callable
// run_under: no matching function for call to .run | any_scheduler
// parallel_callable: no matching function for call to .invoke | parallel_callable
// alternatives: no matching function for call to .either | alternatives
// index_range: no matching function for call to .for_index | index_range
// parallel_sortable: no matching function for call to .sort | parallel_sortable
// parallel_scannable: no matching function for call to .inclusive_scan | parallel_scannable
// parallel_permutable: no matching function for call to .partition | parallel_permutable
// parallel_mergeable: no matching function for call to .merge | parallel_mergeable
// parallel_predicate: no matching function for call to .count_if | parallel_predicate
// parallel_order: no matching function for call to .min_element | parallel_order
// parallel_transformed: no matching function for call to .transform | parallel_transformed
// parallel_range: no matching function for call to .for_each | parallel_range
// select_case: no matching function for call to .select | select_case
// otherwise_first: no matching function for call to .select | selectable
// otherwise_alone: no matching function for call to .select | selectable
// nothing_selected: no matching function for call to .select | selectable
#include "nopal/algorithm.h"
#include "nopal/channel.h"
#include "nopal/either.h"
#include "nopal/fiber.h"
#include "nopal/fiber_group.h"
#include "nopal/filter.h"
#include "nopal/find.h"
#include "nopal/loop.h"
#include "nopal/policies.h"
#include "nopal/scan.h"
#include "nopal/sort.h"

#include <list>
#include <optional>
#include <vector>

int main() {
  [[maybe_unused]] int x = 1;
  [[maybe_unused]] std::list<int> items;
  [[maybe_unused]] std::vector<bool> bits;
  [[maybe_unused]] std::vector<int> numbered;
  [[maybe_unused]] nopal::channel<int> numbers;
  nopal::scope s;
#if FORKABLE
  s.fork(1);
#elif FORKABLE_INTO
  s.fork(items, [](int i) { return i; }, 1);
#elif SPAWNABLE
  nopal::spawn([](int) {});
#elif CALLABLE
  nopal::affine(1);
#elif RUN_UNDER
  nopal::run(x, [] {});
#elif PARALLEL_CALLABLE
  nopal::invoke([] {}, 1);
#elif ALTERNATIVES
  nopal::either([] { return 1; }, 1);
#elif INDEX_RANGE
  nopal::for_index(0, items, [](int) {});
#elif PARALLEL_SORTABLE
  nopal::sort(bits);
#elif PARALLEL_SCANNABLE
  nopal::inclusive_scan(bits, &x, 1);
#elif PARALLEL_PERMUTABLE
  nopal::partition(bits, [](bool bit) { return bit; });
#elif PARALLEL_MERGEABLE
  nopal::merge(numbered, numbered, &x, [](int& a, int& b) { return a < b; });
#elif PARALLEL_PREDICATE
  nopal::count_if(numbered, [](int&&) { return true; });
#elif PARALLEL_ORDER
  nopal::min_element(numbered, [](int, int) {});
#elif PARALLEL_TRANSFORMED
  nopal::transform(numbered, bits.begin(), [](int i) { return i > 0; });
#elif PARALLEL_RANGE
  nopal::for_each(items, [](int) {});
#elif SELECT_CASE
  nopal::select(1);
#elif OTHERWISE_FIRST
  nopal::select(nopal::otherwise(), nopal::send(numbers, 1));
#elif OTHERWISE_ALONE
  nopal::select(nopal::otherwise());
#elif NOTHING_SELECTED
  nopal::select();
#else
  std::optional<nopal::future1<int>> later; // a handle in it asks what it can be made of
  std::optional<nopal::task<int>> task;
  s.fork(x, [](int i) { return i; }, 1);
  nopal::run([&] {
    nopal::spawn([] {});
    nopal::select(nopal::send(numbers, 1), nopal::otherwise());
    later.emplace([] { return 1; });
    task.emplace([] { return 1; });
  });
#endif
  s.join();
}
