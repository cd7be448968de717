// SPDX-License-Identifier: MIT
// Counters as lines of text.
#include "nopal/process/run/statistics.h"

#include "nopal/base/die.h"

#include <algorithm>
#include <bit>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

// A step's cycles are divided by how often it was taken: each try looks, each steal takes and
// copies.
std::uint64_t mean(const counts& all, step which) noexcept {
  const std::uint64_t times = which == step::look                               ? all.tries
                              : which == step::suspend || which == step::resume ? all.suspended
                                                                                : all.steals;
  return all.cycles[static_cast<unsigned>(which)] / std::max<std::uint64_t>(times, 1);
}

void print(const std::string& whose, const counts& all) {
  base::say(
      "%s: %lu tasks, %lu steals of %lu tried, %lu bytes stolen, %lu suspended with %lu bytes, "
      "region used %lu bytes, %lu page faults; cycles for each: look %lu, take %lu, copy %lu, "
      "suspend %lu, resume %lu",
      whose.c_str(), all.tasks, all.steals, all.tries, all.stolen_bytes, all.suspended,
      all.suspended_bytes, all.most_region, all.page_faults, mean(all, step::look),
      mean(all, step::take), mean(all, step::copy), mean(all, step::suspend),
      mean(all, step::resume));
}

counts sum_of(const std::vector<counts>& all) {
  constexpr std::uint64_t counts::* added[] = {
      &counts::tasks,     &counts::tries,           &counts::steals,     &counts::stolen_bytes,
      &counts::suspended, &counts::suspended_bytes, &counts::page_faults};
  counts sum;
  for (const counts& each : all) {
    for (std::uint64_t counts::* const field : added)
      sum.*field += each.*field;
    for (unsigned i = 0; i < steps; ++i)
      sum.cycles[i] += each.cycles[i];
    sum.most_region =
        std::max(sum.most_region, each.most_region); // a maximum, of all processes too
  }
  return sum;
}

// Reads a count that the thread that runs tasks writes: an old value does no harm, a torn one
// would, and there is none of a whole word.
NOPAL_READS_FRAMES std::uint64_t count_now(const std::uint64_t& count) noexcept {
  return *const_cast<const volatile std::uint64_t*>(&count);
}

} // namespace

void print_progress(unsigned seconds, unsigned processes) {
  base::say("after %u s: process 0 of %u has run %lu tasks, stolen %lu and suspended %lu", seconds,
            processes, count_now(this_worker.done.tasks), count_now(this_worker.done.steals),
            count_now(this_worker.done.suspended));
}

// The system hands out memory that is zero, and frames are written from the upper end downwards. So
// the lowest word that is not zero is the deepest that a task has come. Pages that have no memory
// are passed over, or reading them would give them some.
std::size_t used_region(const layout& memory) noexcept {
  constexpr std::size_t pages = 64; // what the system is asked about at once
  constexpr std::size_t bytes = pages * base::page_size();
  std::size_t used = 0;
  for (unsigned i = 0; i < memory.regions; ++i) {
    const auto* const end = reinterpret_cast<const std::uint64_t*>(memory.region_end_of(i));
    const std::uintptr_t region_end = memory.region_end_of(i);
    std::uintptr_t at = region_end - memory.region_size;
    std::uint64_t resident = 0;
    for (;
         at < region_end && (resident = base::which_resident(
                                 at, std::min(pages, (region_end - at) / base::page_size()))) == 0;)
      at += bytes;
    if (at >= region_end)
      continue;
    const auto* const from = reinterpret_cast<const std::uint64_t*>(
        at + static_cast<unsigned>(std::countr_zero(resident)) * base::page_size());
    const auto* const lowest =
        std::find_if(from, end, [](std::uint64_t each) { return each != 0; });
    used += static_cast<std::size_t>(end - lowest) * sizeof *end;
  }
  return used;
}

void print_statistics(group& all, const char* engine, const layout& memory) {
  this_worker.done.most_region = used_region(memory);
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  this_worker.done.page_faults = static_cast<std::uint64_t>(own.ru_minflt);
  std::vector<counts> each(all.size());
  all.all_gather(&this_worker.done, each.data(), sizeof(counts));
  if (all.rank() != 0)
    return;
  for (unsigned i = 0; i < each.size(); ++i)
    print("process " + std::to_string(i) + " of " + std::to_string(each.size()), each[i]);
  print(std::string("all, by ") + engine, sum_of(each));
}

} // namespace nopal::inline NOPAL_ABI::process
