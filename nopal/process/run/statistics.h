// SPDX-License-Identifier: MIT
// The lines of counters that a program on several processes ends with (NOPAL_STATS=1), and those
// of a long run (NOPAL_PROGRESS).
#pragma once

#include "nopal/base/thread.h"
#include "nopal/config.h"
#include "nopal/process/run/worker.h"
#include "nopal/process/transport/transport.h"

#include <condition_variable>
#include <mutex>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// Collective. Process 0 prints one line for each process, and their sum. `engine` is the name of
// what carries data.
void print_statistics(group& all, const char* engine, const layout& memory);

// As long as this exists, a thread says every so many seconds what this process has done so far; 0:
// never. What the thread reads of the counts may be a little old.
class progress_lines {
public:
  progress_lines(unsigned seconds, unsigned processes);
  ~progress_lines();
  progress_lines(const progress_lines&) = delete;
  progress_lines& operator=(const progress_lines&) = delete;

private:
  void print_each(unsigned seconds, unsigned processes);

  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  base::thread thread_;
};

// How much of the region has been used, in bytes from its upper end.
std::size_t used_region(const layout& memory) noexcept;

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
