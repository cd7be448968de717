// SPDX-License-Identifier: MIT
// A thread that notices when another process of the program dies, and then ends this one with a
// sentence. It sleeps in poll, so it costs nothing.
//
// What it watches are descriptors that become readable, or hang up, when a process has died: of the
// kernel (pidfd), or a connection to it. Who is about to end as it should says so first.
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/own_thread.h"

#include <functional>
#include <string>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

class watch {
public:
  enum class sign : unsigned char { alive, ended_well, dead };
  struct watched {
    int descriptor;    // closed by the watch
    std::string whose; // "process 3"
    // Called by the thread when the descriptor is readable: what that is a sign of.
    std::function<sign()> read;
  };

  watch() = default;
  ~watch() { stop(); }
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;

  void start(std::vector<watched> all);
  void stop() noexcept;

private:
  void look() noexcept;

  std::vector<watched> all_;
  int stop_[2] = {-1, -1};
  own_thread thread_;
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
