// SPDX-License-Identifier: MIT
// What strands do in the models of meeting.h.
#pragma once

#include "nopal/sync/rendezvous.h"

namespace nopal::model {
namespace {

using sync::side;

inline constexpr unsigned most_alternatives = 2;
inline constexpr unsigned most_calls = 2;

struct wish {
  unsigned place;
  side wants;
};
// The `count` wishes of one call of a strand: one of them is fulfilled.
struct call {
  unsigned count = 0;
  wish wishes[most_alternatives]{};
  bool closes = false; // the first wish's place
};
struct course {
  call calls[most_calls]{};
  bool ends_places = false; // after its calls; nobody else waits there then, or will
  bool is_cancelled = false;
  bool cancels = false;  // cancels the strands with is_cancelled
  bool is_missed = true; // another strand waits for ever if this one stops
};

constexpr call send(unsigned at) { return {1, {{at, side::sending}}}; }
constexpr call receive(unsigned at) { return {1, {{at, side::receiving}}}; }
constexpr call one_of(call a, call b) { return {2, {a.wishes[0], b.wishes[0]}}; }
constexpr call receive_any = one_of(receive(0), receive(1));

constexpr course twice[] = {{{send(0), send(0)}}, {{receive(0), receive(0)}}};
constexpr course two_senders[] = {{{send(0)}}, {{send(0)}}, {{receive(0), receive(0)}}};
constexpr course two_pairs[] = {{{send(0), send(0)}},
                                {{send(0), send(0)}},
                                {{receive(0), receive(0)}},
                                {{receive(0), receive(0)}}};
constexpr course both_sent[] = {{{receive_any, receive_any}}, {{send(0)}}, {{send(1)}}};
constexpr course canceller{.cancels = true};

} // namespace
} // namespace nopal::model
