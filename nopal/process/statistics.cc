// SPDX-License-Identifier: MIT
// Counters as lines of text.
#include "nopal/process/statistics.h"

#include "nopal/base/die.h"

#include <algorithm>
#include <string>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

void print(const char* whose, const counts& of) {
  const auto mean = [&](step which) {
    const std::uint64_t times = which == step::look      ? of.tries
                                : which == step::suspend ? of.suspended
                                                         : of.steals;
    return of.cycles[static_cast<unsigned>(which)] / std::max<std::uint64_t>(times, 1);
  };
  base::say(
      "%s: %llu tasks, %llu steals of %llu tried, %llu bytes stolen, %llu suspended with %llu "
      "bytes, region used %llu bytes; cycles for each: look %llu, take %llu, copy %llu, "
      "suspend %llu",
      whose, static_cast<unsigned long long>(of.tasks), static_cast<unsigned long long>(of.steals),
      static_cast<unsigned long long>(of.tries), static_cast<unsigned long long>(of.stolen_bytes),
      static_cast<unsigned long long>(of.suspended),
      static_cast<unsigned long long>(of.suspended_bytes),
      static_cast<unsigned long long>(of.most_region),
      static_cast<unsigned long long>(mean(step::look)),
      static_cast<unsigned long long>(mean(step::take)),
      static_cast<unsigned long long>(mean(step::copy)),
      static_cast<unsigned long long>(mean(step::suspend)));
}

counts sum_of(const std::vector<counts>& all) {
  counts sum;
  for (const counts& each : all) {
    sum.tasks += each.tasks;
    sum.tries += each.tries;
    sum.steals += each.steals;
    sum.stolen_bytes += each.stolen_bytes;
    sum.suspended += each.suspended;
    sum.suspended_bytes += each.suspended_bytes;
    sum.most_region = std::max(sum.most_region, each.most_region);
    for (unsigned i = 0; i < steps; ++i)
      sum.cycles[i] += each.cycles[i];
  }
  return sum;
}

} // namespace

std::size_t used_region(const layout& as) noexcept {
  const auto* at = reinterpret_cast<const std::uint64_t*>(as.region_at());
  const auto* const end = reinterpret_cast<const std::uint64_t*>(as.region_end());
  at = std::find_if(at, end, [](std::uint64_t each) { return each != 0; });
  return static_cast<std::size_t>(end - at) * sizeof *at;
}

void print_statistics(launch& with, const transport& by, const layout& as) {
  here.done.most_region = used_region(as);
  std::vector<counts> all(with.size());
  with.all_gather(&here.done, all.data(), sizeof(counts));
  if (with.rank() != 0)
    return;
  for (unsigned i = 0; i < all.size(); ++i)
    print(("process " + std::to_string(i) + " of " + std::to_string(all.size())).c_str(), all[i]);
  print((std::string("all, by ") + by.name()).c_str(), sum_of(all));
}

} // namespace nopal::inline NOPAL_ABI::process
