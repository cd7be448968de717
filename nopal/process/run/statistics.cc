// SPDX-License-Identifier: MIT
// Counters as lines of text.
#include "nopal/process/run/statistics.h"

#include "nopal/base/die.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

void print(const char* whose, const counts& of) {
  const auto mean = [&](step which) {
    const std::uint64_t times = which == step::look                               ? of.tries
                                : which == step::suspend || which == step::resume ? of.suspended
                                                                                  : of.steals;
    return of.cycles[static_cast<unsigned>(which)] / std::max<std::uint64_t>(times, 1);
  };
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  const std::string line =
      number(of.tasks) + " tasks, " + number(of.steals) + " steals of " + number(of.tries) +
      " tried, " + number(of.stolen_bytes) + " bytes stolen, " + number(of.suspended) +
      " suspended with " + number(of.suspended_bytes) + " bytes, region used " +
      number(of.most_region) + " bytes, " + number(of.page_faults) +
      " page faults; cycles for each: look " + number(mean(step::look)) + ", take " +
      number(mean(step::take)) + ", copy " + number(mean(step::copy)) + ", suspend " +
      number(mean(step::suspend)) + ", resume " + number(mean(step::resume));
  base::say("%s: %s", whose, line.c_str());
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
    sum.page_faults += each.page_faults;
    sum.most_region = std::max(sum.most_region, each.most_region);
    for (unsigned i = 0; i < steps; ++i)
      sum.cycles[i] += each.cycles[i];
  }
  return sum;
}

// The thread that runs tasks writes it.
NOPAL_READS_FRAMES std::uint64_t count_now(const std::uint64_t& count) noexcept {
  return *const_cast<const volatile std::uint64_t*>(&count);
}

} // namespace

progress_lines::progress_lines(unsigned seconds, unsigned processes) {
  if (seconds == 0)
    return;
  thread_ = own_thread{[=, this] { print_each(seconds, processes); }};
}

progress_lines::~progress_lines() {
  if (!thread_.joinable())
    return;
  {
    const std::lock_guard guard{mutex_};
    end_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void progress_lines::print_each(unsigned seconds, unsigned processes) {
  std::unique_lock guard{mutex_};
  for (std::uint64_t so_far = seconds;
       !ended_.wait_for(guard, std::chrono::seconds{seconds}, [this] { return end_; });
       so_far += seconds)
    base::say("after %llu s: process 0 of %u has run %llu tasks, stolen %llu and suspended %llu",
              static_cast<unsigned long long>(so_far), processes,
              static_cast<unsigned long long>(count_now(here.done.tasks)),
              static_cast<unsigned long long>(count_now(here.done.steals)),
              static_cast<unsigned long long>(count_now(here.done.suspended)));
}

std::size_t used_region(const layout& as) noexcept {
  std::size_t used = 0;
  for (unsigned i = 0; i < as.regions; ++i) {
    const auto* const end = reinterpret_cast<const std::uint64_t*>(as.region_end_of(i));
    const auto* const from = end - as.region_size / sizeof *end;
    const auto* const lowest =
        std::find_if(from, end, [](std::uint64_t each) { return each != 0; });
    used += static_cast<std::size_t>(end - lowest) * sizeof *end;
  }
  return used;
}

void print_statistics(launch& with, const layout& as) {
  here.done.most_region = used_region(as);
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  here.done.page_faults = static_cast<std::uint64_t>(own.ru_minflt);
  std::vector<counts> all(with.size());
  with.all_gather(&here.done, all.data(), sizeof(counts));
  if (with.rank() != 0)
    return;
  for (unsigned i = 0; i < all.size(); ++i)
    print(("process " + std::to_string(i) + " of " + std::to_string(all.size())).c_str(), all[i]);
  print((std::string("all, by ") + with.engine_name()).c_str(), sum_of(all));
}

} // namespace nopal::inline NOPAL_ABI::process
