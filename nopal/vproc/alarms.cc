// SPDX-License-Identifier: MIT
// The alarms' thread.
#include "nopal/vproc/alarms.h"

#include "nopal/base/child.h"
#include "nopal/base/die.h"
#include "nopal/base/per_process.h"
#include "nopal/stack/stack.h"
#include "nopal/vproc/ready.h"
#include "nopal/vproc/threads.h"
#include "nopal/vproc/wake.h"

namespace nopal::inline NOPAL_ABI::vproc {

struct alarm_thread {
  alarm::queue all{&idle.waiting};
  base::atomic<std::uint32_t> started{0}; // 1 + forks_behind() where it was; 0: not yet

  // Never destroyed: the thread uses it as long as the process lives.
  static alarm_thread& only_thread() {
    static constinit base::per_process<alarm_thread> thread;
    return thread.get();
  }
  [[noreturn]] static void* run(void*) noexcept {
    for (alarm_thread& self = only_thread();;)
      if (alarm* const due = self.all.next())
        due->ring_(due);
  }
};

void alarm::set(clock::time_point at) {
  alarm_thread& thread = alarm_thread::only_thread();
  set_in_ = base::this_process;
  thread.all.add(at, stack::seen(stack::no_stack, this));
  std::uint32_t seen = thread.started.load(base::relaxed);
  const std::uint32_t here = 1 + base::forks_behind();
  if (seen == 0 && thread.started.compare_exchange_strong(seen, here, base::relaxed, base::relaxed))
    return start_helper(alarm_thread::run, "watches deadlines and timeouts");
  if (seen != here && base::is_child_of_mapped()) [[unlikely]]
    base::die("this process is a child of fork() of a program with mapped workers (nopal::mapped), "
              "and has no thread that watches times: nothing here may sleep or have a deadline");
}

void alarm::ring_again(clock::time_point at) { alarm_thread::only_thread().all.again(at, this); }

// The alarms' thread of the parent does not ring in the child of fork().
void alarm::reset_slow() noexcept {
  if (set_in_ != base::this_process)
    return rung();
  alarm_thread::only_thread().all.take_back(stack::seen(stack::no_stack, this));
}

// A strand that was claimed does not go on before it is made ready.
void timed_wait::wake(alarm* due) noexcept {
  auto* const wait = static_cast<timed_wait*>(due);
  fiber* const strand = wait->strand_;
  const bool claimed = wait->decided_.claim(wait->number_);
  wait->rung();
  if (claimed)
    make_ready(strand);
}

} // namespace nopal::inline NOPAL_ABI::vproc
