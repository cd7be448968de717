// SPDX-License-Identifier: MIT
// Each policy schedules fibers.
#include "nopal/policies.h"

#include <bit>
#include <cstdint>
#include <sys/wait.h>
#include <unistd.h>

namespace {

template <class Policy> int scheduled_by(Policy&& policy) {
  int count = 0;
  nopal::run(policy, [&count] { nopal::spawn([&count] { ++count; }); });
  return count;
}

// A number that is no share is refused, even where -ffast-math takes every number for finite.
bool is_refused(std::uint64_t bits_of_share) {
  const pid_t child = fork();
  if (child == 0) {
    nopal::proportional_share by_shares;
    nopal::run(by_shares, [&] { by_shares.set_share(std::bit_cast<double>(bits_of_share)); });
    _exit(0);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 70;
}

} // namespace

bool policies_is_right() {
  constexpr std::uint64_t infinity = 0x7ff0'0000'0000'0000;
  constexpr std::uint64_t negative = 0xbff0'0000'0000'0000;
  if (!is_refused(infinity) || !is_refused(infinity + 1) || !is_refused(negative) || !is_refused(0))
    return false;
  nopal::round_robin in_turn;
  nopal::gang together{2};
  nopal::newest_first newest;
  nopal::work_stealing stealing;
  nopal::proportional_share by_shares;
  double used = -1;
  nopal::run(by_shares, [&] {
    by_shares.set_share(2.5);
    used = by_shares.used();
  });
  return scheduled_by(in_turn) + scheduled_by(together) + scheduled_by(newest) +
                 scheduled_by(stealing) + scheduled_by(by_shares) ==
             5 &&
         used >= 0;
}
