// SPDX-License-Identifier: MIT
// How the processes of a program begin together: the same addresses, the block, the options; and
// how they end.
#include "nopal/process/session.h"

#include "nopal/base/die.h"
#include "nopal/config.h"
#include "nopal/config/environment.h"
#include "nopal/process/launch/launch.h"

#include <chrono>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <utility>

namespace nopal::inline NOPAL_ABI::process {
namespace {

options options_or_die(const options& wanted) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  auto outcome = resolve(wanted, config::variable, static_cast<std::uint64_t>(now));
  if (const auto* const complaint = std::get_if<std::string>(&outcome))
    base::die("%s", complaint->c_str());
  return std::get<options>(outcome);
}

// The thread that makes sessions writes both.
bool a_session_exists = false;
bool is_forked = false; // by an earlier session

} // namespace

session::session(int argc, char** argv, const options& wanted)
    : exceptions_{std::uncaught_exceptions()} {
  static_cast<void>(argc);
  static_cast<void>(argv);
  if (a_session_exists)
    base::die("a second process::session was made while there is one; a program has one at a time");
  if (is_forked)
    base::die("a second process::session was made in a process that the first one has forked: each "
              "of them would fork again; make one session, and call run several times");
  a_session_exists = true;
  const options resolved = options_or_die(wanted);
  auto processes = begin_launch(resolved);
  is_forked = processes->rank() != 0 && processes->engine_name() == std::string_view("local");
  begin(std::move(processes), resolved);
}

// Where a static session is destroyed in a process that the program has forked, or by an exit in a
// task, the processes of the session have not come to its end.
session::~session() {
  if (!is_in_session() || is_in_run())
    return;
  if (size() > 1 && !thrown_together_ && std::uncaught_exceptions() > exceptions_)
    base::die("an exception ends the session of process %u, and the other processes may wait for "
              "it",
              rank());
  end();
  a_session_exists = false;
}

} // namespace nopal::inline NOPAL_ABI::process
