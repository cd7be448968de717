// SPDX-License-Identifier: MIT
// What an alarm does when it rings, and the threads that call the callbacks of tokens then.
#include "nopal/cancel/alarms.h"

#include "nopal/base/per_process.h"
#include "nopal/cancel/cancel.h"
#include "nopal/cancel/observers.h"
#include "nopal/join/cancelled.h"
#include "nopal/vproc/threads.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

namespace nopal::inline NOPAL_ABI::cancel {
namespace {

// Callbacks may sleep, and other deadlines come meanwhile: so each thread calls those of one token
// at a time, and another thread is there for the next token, up to a number.
class callback_threads {
public:
  // Never destroyed: the threads use it as long as the process lives.
  static callback_threads& all() {
    static constinit base::per_process<callback_threads> here;
    return here.get();
  }

  void make(const stop_requests& requests) {
    std::unique_lock guard{lock_};
    due_.insert(due_.end(), requests.begin(), requests.end());
    changed_.notify_all();
    begin_another(guard);
  }

private:
  static constexpr unsigned kMost = 64;

  // If all threads have a callback to call, and there is another one. Unlocks.
  void begin_another(std::unique_lock<std::mutex>& guard) {
    const bool begins = due_.size() > idle_ && number_ < kMost;
    number_ += begins ? 1 : 0;
    guard.unlock();
    if (begins)
      vproc::start_helper([](void*) noexcept -> void* { all().run(); },
                          "calls the callbacks of stop tokens at a deadline");
  }

  [[noreturn]] void run() {
    vproc::take_programs_signals(); // callbacks are the program's
    std::unique_lock guard{lock_};
    for (;;) {
      ++idle_;
      changed_.wait(guard, [this] { return !due_.empty(); });
      --idle_;
      {
        const std::shared_ptr<stop_request> next = std::move(due_.front());
        due_.pop_front();
        begin_another(guard);
        const std::uint32_t here = base::this_process;
        next->make();
        if (here != base::this_process)
          base::lost_in_child();
      }
      guard.lock();
    }
  }

  std::mutex lock_; // guards all fields
  std::condition_variable changed_;
  std::deque<std::shared_ptr<stop_request>> due_;
  std::size_t idle_ = 0;
  unsigned number_ = 0;
};

} // namespace

void alarm::ring(vproc::alarm* due) noexcept {
  auto* const own = static_cast<alarm*>(due);
  if (own->again_)
    if (const clock::time_point at = own->again_(); at > clock::now())
      return own->ring_again(at);
  const stop_requests requests =
      mark_and_tell(*own->node_, std::make_exception_ptr(deadline_passed{}));
  own->rung(); // the scope may end now
  if (!requests.empty())
    callback_threads::all().make(requests);
}

} // namespace nopal::inline NOPAL_ABI::cancel
