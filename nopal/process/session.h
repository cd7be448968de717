// SPDX-License-Identifier: MIT
// session: the processes of a program, and what they compute together (nopal/process.h).
#pragma once

#include "nopal/config.h"
#include "nopal/process/options.h"
#include "nopal/process/task.h"

#include <array>
#include <bit>
#include <type_traits>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

/// The processes of a program, which begin and end together.
/// @pre There is no other session, and the program has not begun threads.
/// @par Threads
/// The thread that made the session calls its members, `spawn` and `join`, and destroys it.
/// @par Paper
/// uni-address-hpdc15, sections 3 and 5.
class NOPAL_TYPE session {
public:
  /// Begins the processes, or joins those that a launcher has begun. `argv` is main's: a process
  /// that a launcher has begun at addresses that the system has chosen at random begins anew with
  /// it. Options that are not accepted end the program with a sentence.
  session(int argc, char** argv, const options& wanted = {});
  /// Waits for all processes. Ends the program with a sentence where an exception destroys the
  /// session, unless `run` threw it: `run` throws in every process, and so none waits in vain.
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// The number of this process, from 0.
  unsigned rank() const noexcept { return process::rank(); }
  /// How many processes there are.
  unsigned size() const noexcept { return process::size(); }

  /// Collective. f(args...) runs as the first task; all processes return its result.
  /// @pre Every process calls it with the same arguments. These, f and the result are trivially
  /// copyable, which is checked, and the result has at most 1024 bytes.
  /// @throws remote_error in every process, if f throws.
  /// @par Cost
  /// One meeting of all processes, for which each sends log2(size) messages.
  template <class F, class... Args> auto run(F f, Args... args) {
    detail::check_isolated<F, Args...>();
    auto body = detail::isolated_closure(f, args...);
    using kept = detail::result_of_body<decltype(body)>;
    std::array<unsigned char, sizeof(kept)> result;
    static_assert(sizeof result <= most_result, "a run's result has at most 1024 bytes");
    thrown_together_ = true; // if it throws
    process::run(detail::root_thunk<decltype(body)>, &body, sizeof body, &result, sizeof result);
    thrown_together_ = false;
    if constexpr (!std::is_void_v<detail::result_of<F, Args...>>)
      return std::bit_cast<kept>(result);
  }

private:
  const int exceptions_; // how many were under way when the session began
  bool thrown_together_ = false;
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
