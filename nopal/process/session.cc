// SPDX-License-Identifier: MIT
// How the processes of a program begin together: the same addresses, the block, the options; and
// how they end.
#include "nopal/process/session.h"

#include "nopal/base/die.h"
#include "nopal/config.h"
#include "nopal/process/launch/launch.h"

#include <chrono>
#include <cstdlib>
#include <exception>

namespace nopal::inline NOPAL_ABI::process {
namespace {

options options_or_die(const options& wanted) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  auto outcome = resolve(wanted, std::getenv, static_cast<std::uint64_t>(now));
  if (const auto* const complaint = std::get_if<std::string>(&outcome))
    base::die("%s", complaint->c_str());
  return std::get<options>(outcome);
}

bool a_session_exists = false; // the thread that makes sessions writes it

} // namespace

session::session(int argc, char** argv, const options& wanted)
    : exceptions_{std::uncaught_exceptions()} {
  static_cast<void>(argc);
  if (a_session_exists)
    base::die("a second process::session was made while there is one; a program has one at a time");
  a_session_exists = true;
  const options resolved = options_or_die(wanted);
  begin(begin_launch(resolved, argv), resolved);
}

session::~session() {
  if (size() > 1 && !thrown_together_ && std::uncaught_exceptions() > exceptions_)
    base::die("an exception ends the session of process %u, and the other processes may wait for "
              "it",
              rank());
  const int status = end();
  a_session_exists = false;
  if (status != 0)
    base::die("another process of the program has exited with status %d", status);
}

} // namespace nopal::inline NOPAL_ABI::process
