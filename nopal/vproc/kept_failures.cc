// SPDX-License-Identifier: MIT
// The list of all that is kept, the oldest first, and the alarm that looks at it.
#include "nopal/vproc/kept_failures.h"

#include "nopal/base/clock.h"
#include "nopal/base/die.h"
#include "nopal/base/per_process.h"
#include "nopal/sync/linked_queue.h"
#include "nopal/vproc/alarms.h"

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <typeinfo>
#include <utility>

namespace nopal::inline NOPAL_ABI::vproc {

// The first failure of a keeper, and how many that one has.
struct kept_failure {
  char what[240] = "";
  std::chrono::steady_clock::time_point since;
  std::size_t number = 1;
  std::uint32_t kept_in = base::this_process;
  base::handed_over<kept_failure*> next{nullptr};
  base::handed_over<kept_failure*> before{nullptr};
};

namespace {

using clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kLong{1};

// Of the exception that is handled: its type, and what it says of itself.
void describe(char* into, std::size_t size) noexcept {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name{
      type == nullptr ? nullptr : abi::__cxa_demangle(type->name(), nullptr, nullptr, &status),
      std::free};
  const char* const shown = name != nullptr ? name.get() : "an exception";
  try {
    throw;
  } catch (const std::exception& thrown) {
    std::snprintf(into, size, "%s: %s", shown, thrown.what());
  } catch (...) {
    std::snprintf(into, size, "%s", shown);
  }
}

// Looks whether the oldest is kept for long. In the child of fork() the parent's failures are told
// by the parent alone.
class list;
base::per_process<list> the_list;

class list : alarm {
public:
  static list& of_all() { return the_list.get(); }

  void add(base::handed_over<kept_failure*>& first, kept_failure* made) {
    const std::lock_guard guard{lock_};
    ++number_;
    if (first != nullptr && first->kept_in != base::this_process)
      first = nullptr;
    if (first != nullptr || made == nullptr) { // another fiber was faster
      if (first != nullptr)
        first->number += 1;
      delete made;
      return;
    }
    first = made;
    kept_.append(made);
    if (told_ || std::exchange(waits_, true))
      return;
    set(made->since + kLong);
  }
  void remove(kept_failure* given) noexcept {
    const std::lock_guard guard{lock_};
    if (given->kept_in != base::this_process)
      return; // others of the parent's list point to it
    number_ -= given->number;
    kept_.remove(given);
    delete given;
  }
  void tell() noexcept {
    const std::lock_guard guard{lock_};
    tell_first();
  }

private:
  friend base::per_process<list>;
  list() noexcept : alarm{look} {}

  // With the lock.
  void tell_first() noexcept {
    if (kept_.empty() || std::exchange(told_, true))
      return;
    base::say("%zu fiber%s failed, and nobody has asked for %s yet (nopal::run throws it when all "
              "fibers have ended, a group or a task when it is joined); the first: %s",
              number_, number_ == 1 ? " has" : "s have",
              number_ == 1 ? "its exception" : "their exceptions", kept_.first()->what);
  }
  static void look(alarm* due) noexcept {
    auto* const self = static_cast<list*>(due);
    const std::lock_guard guard{self->lock_};
    if (!self->told_ && !self->kept_.empty()) {
      const clock::time_point at = self->kept_.first()->since + kLong;
      if (at > clock::now())
        return self->ring_again(at);
      self->tell_first();
    }
    self->waits_ = false;
    self->rung();
  }

  std::mutex lock_; // guards the rest, and each keeper's `first`
  sync::linked_queue<kept_failure, sync::by_next_and_before> kept_;
  std::size_t number_ = 0; // of all failures that are kept
  bool told_ = false;
  bool waits_ = false; // the alarm is set, or ringing
};

} // namespace

// Without memory nothing is told of this one.
void kept_failures::keep() noexcept try {
  auto* const made = new (std::nothrow) kept_failure;
  if (made == nullptr)
    return;
  describe(made->what, sizeof made->what);
  made->since = clock::now();
  list::of_all().add(first_, made);
} catch (const std::bad_alloc&) {
}

void kept_failures::forget() noexcept { list::of_all().remove(std::exchange(first_, nullptr)); }

void tell_kept_failures() noexcept { list::of_all().tell(); }

} // namespace nopal::inline NOPAL_ABI::vproc
