// SPDX-License-Identifier: MIT
// The first process makes them for all. What they read and write is copied, since it may lie on a
// stack that only the caller sees.
#include "nopal/mapped/process_calls.h"

#include "nopal/mapped/members.h"
#include "nopal/mapped/memory.h"
#include "nopal/mapped/refusals.h"
#include "nopal/mapped/sharing.h"
#include "nopal/mapped/twin.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <ctime>
#include <iterator>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>

namespace nopal::mapped {
namespace {

// Which argument points to what the kernel reads, and which to what it writes; -1: none.
struct shape {
  int number;
  int in = -1;
  std::size_t in_bytes = 0;
  int out = -1;
  std::size_t out_bytes = 0;
};
constexpr shape kByFirst[] = {
    {SYS_setitimer, 1, sizeof(itimerval), 2, sizeof(itimerval)},
    {SYS_getitimer, -1, 0, 1, sizeof(itimerval)},
    {SYS_alarm},
    {SYS_timer_create, 1, sizeof(sigevent), 2, sizeof(int)},
    {SYS_timer_settime, 2, sizeof(itimerspec), 3, sizeof(itimerspec)},
    {SYS_timer_gettime, -1, 0, 1, sizeof(itimerspec)},
    {SYS_timer_delete},
    {SYS_timer_getoverrun},
    {SYS_getppid},
    {SYS_setpgid},
    {SYS_setsid},
    {SYS_getpgid},
    {SYS_getsid},
    {SYS_getpgrp},
};
constexpr int kOthers[] = {SYS_getpid, SYS_tgkill,   SYS_rt_tgsigqueueinfo, SYS_prlimit64,
                           SYS_execve, SYS_execveat, SYS_close_range};

struct request {
  long number;
  long arguments[6];
  char in[64], out[64];
};

long make(request& wanted) noexcept {
  const long(&a)[6] = wanted.arguments;
  return raw(wanted.number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

long make_in_first(const shape& how, const long (&arguments)[6]) noexcept {
  request wanted{how.number, {}, {}, {}};
  std::copy(std::begin(arguments), std::end(arguments), wanted.arguments);
  const auto point_to = [&](int argument, std::size_t bytes, bool reads) {
    if (argument < 0 || arguments[argument] == 0)
      return false;
    if (reads)
      std::memcpy(wanted.in, reinterpret_cast<const void*>(arguments[argument]), bytes);
    return true;
  };
  const bool reads = point_to(how.in, how.in_bytes, true);
  const bool writes = point_to(how.out, how.out_bytes, false);
  struct placed {
    request wanted;
    int in, out;
  } sent{wanted, reads ? how.in : -1, writes ? how.out : -1};
  const long result = in_first_process(
      +[](placed& data) {
        if (data.in >= 0)
          data.wanted.arguments[data.in] = reinterpret_cast<long>(data.wanted.in);
        if (data.out >= 0)
          data.wanted.arguments[data.out] = reinterpret_cast<long>(data.wanted.out);
        return make(data.wanted);
      },
      sent);
  if (writes && result >= 0)
    std::memcpy(reinterpret_cast<void*>(arguments[how.out]), sent.wanted.out, how.out_bytes);
  return result;
}

// A limit holds for each process.
long change_limit(const long (&arguments)[6]) noexcept {
  const long pid = arguments[0] == 0 ? own().pid : arguments[0];
  if (arguments[2] == 0 || (pid != own().pid && pid != first_pid()))
    return raw(SYS_prlimit64, pid, arguments[1], arguments[2], arguments[3]);
  rlimit wanted{};
  std::memcpy(&wanted, reinterpret_cast<const void*>(arguments[2]), sizeof wanted);
  const long result = raw(SYS_prlimit64, pid, arguments[1], &wanted, arguments[3]);
  if (result == 0)
    for_each_member([&](member& each) {
      raw(SYS_prlimit64, each.pid.load(base::relaxed), arguments[1], &wanted, nullptr);
    });
  return result;
}

} // namespace

std::span<const int> calls_of_process() noexcept {
  static constexpr auto kAll = [] {
    std::array<int, std::size(kByFirst) + std::size(kOthers)> all{};
    auto* end = std::ranges::transform(kByFirst, all.begin(), &shape::number).out;
    std::ranges::copy(kOthers, end);
    return all;
  }();
  return kAll;
}

bool call_of_process(long number, long (&arguments)[6], long& result) noexcept {
  for (const shape& each : kByFirst)
    if (each.number == number)
      return result = make_in_first(each, arguments), true;
  switch (number) {
  case SYS_getpid:
    result = first_pid();
    return true;
  case SYS_tgkill: // the thread may be one of another process
    result = raw(SYS_tkill, arguments[1], arguments[2]);
    return true;
  case SYS_rt_tgsigqueueinfo:
    result = raw(number, arguments[0], arguments[1], arguments[2], arguments[3]);
    if (result == -3 /* ESRCH */)
      result = raw(number, arguments[1], arguments[1], arguments[2], arguments[3]);
    return true;
  case SYS_prlimit64:
    result = change_limit(arguments);
    return true;
  case SYS_close_range: // what lies above is not the program's
    arguments[1] = static_cast<long>(std::min<unsigned long>(
        static_cast<unsigned>(arguments[1]), static_cast<unsigned>(first_descriptor - 1)));
    result = 0;
    return static_cast<unsigned long>(arguments[0]) > static_cast<unsigned long>(arguments[1]);
  case SYS_execve:
  case SYS_execveat:
    if (own().is_first || raw(SYS_getpid) != own().pid)
      return false; // or a child that shares the memory until now
    result = refuse(number);
    return true;
  default:
    result = refuse(number);
    return true;
  }
}

} // namespace nopal::mapped
