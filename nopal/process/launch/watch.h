// SPDX-License-Identifier: MIT
// A thread that notices when another process of the program dies, and then ends this one with a
// sentence. It sleeps in poll, so it costs nothing.
//
// It watches descriptors that become readable, or hang up, when a process has died: the kernel's
// (pidfd), or a connection to the process. A process that is about to end as it should says so
// first. Between signs the thread can do something else from time to time.
#pragma once

#include "nopal/base/thread.h"
#include "nopal/config.h"

#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// A descriptor that becomes readable when the process ends (pidfd). Where there is none, the
// program ends with a sentence that says why; `whose` is its subject.
int descriptor_of(pid_t process, const std::string& whose);

class watch {
public:
  enum class sign : unsigned char { alive, ended_well, dead };
  static constexpr char sentence[] = // with the number of the process
      "process %u has died before the computation has ended, so this process ends too";
  struct watched {
    int descriptor;    // closed by the watch
    std::string whose; // "process 3"
    // Called by the thread when the descriptor is readable. Returns what that is a sign of.
    std::function<sign()> read;
  };

  watch() = default;
  ~watch() { stop(); }
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;

  // The thread calls `each_time` whenever so many milliseconds have passed without a sign.
  void start(std::vector<watched> all, int every_ms = -1, std::function<void()> each_time = {});
  void stop() noexcept;

private:
  void look() noexcept;

  // `start` sets these three; from then on they are the thread's own until it has been joined.
  std::vector<watched> all_;
  int every_ms_ = -1;
  std::function<void()> each_time_;
  int stop_[2] = {-1, -1}; // a pipe: the thread ends when the second end is closed
  base::thread thread_;
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
