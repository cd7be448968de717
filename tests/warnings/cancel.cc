// SPDX-License-Identifier: MIT
// Scopes that are cancelled, by a call, a token and a deadline.
#include "nopal/cancel.h"

#include <chrono>
#include <stop_token>

bool cancel_is_right() {
  using namespace std::chrono_literals;
  int looked = 0;
  nopal::cancel_scope plain;
  plain.fork([] {});
  plain.join();
  plain.cancel();
  nopal::cancel_scope late{1h};
  nopal::cancel_scope later{0.5h};
  nopal::cancel_scope never{std::chrono::steady_clock::now() + 1h};
  std::stop_source source;
  nopal::cancel_scope by_token{source.get_token()};
  by_token.fork([&looked] { looked += nopal::is_cancelled() ? 0 : 1; });
  by_token.join();
  source.request_stop();
  nopal::shielded([&looked] { ++looked; });
  return nopal::shielded([] { return 3; }) == 3 && looked == 2;
}
