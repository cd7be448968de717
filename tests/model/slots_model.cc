// SPDX-License-Identifier: MIT
// Models of strands that meet at places which keep values or are closed.
#include "meeting.h"

namespace nopal::model {
namespace {

constexpr call close(unsigned at) { return {1, {{at, side::sending}}, true}; }
constexpr course end_of_one[] = {{{send(0), close(0)}}, {{receive(0), receive(0)}}};
constexpr course end_ends_place[] = {{{send(0), close(0)}}, {{receive(0), receive(0)}, true}};
constexpr course end_of_two[] = {{{send(0), close(0)}}, {{receive(0)}}, {{receive(0)}}};
constexpr course sender_meets_end[] = {{{send(0)}}, {{close(0)}}, {{close(0)}}};
constexpr course choice_meets_end[] = {{{receive_any, receive_any}}, {{close(0)}}, {{close(1)}}};
constexpr course cancelled_at_end[] = {
    {{receive(0)}, false, true, false, false}, {{close(0)}}, canceller};
constexpr course cancelled_at_slot[] = {
    {{receive(0)}, false, true, false, false}, {{send(0)}}, canceller};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.section("slots");
  models.random<meeting<twice, 0, 1>>("a sender, a receiver, twice");
  models.bounded<meeting<twice, 0, 1>>("a sender, a receiver, twice", 2);
  models.random<meeting<twice, 0, 2>>("two slots");
  models.random<meeting<two_senders, 0, 1>>("two senders, a receiver");
  models.bounded<meeting<two_senders, 0, 1>>("two senders, a receiver", 1);
  models.random<meeting<two_pairs, 0, 1>>("two senders, two receivers, twice");
  models.random<meeting<both_sent, 0, 1>>("a choice of two places");
  models.random<meeting<cancelled_at_slot, 0, 1>>("a receiver is cancelled");
  models.section("a place is closed");
  models.random<meeting<end_of_one>>("after a value");
  models.bounded<meeting<end_of_one>>("after a value", 2);
  models.random<meeting<end_of_one, 0, 1>>("after a value in a slot");
  models.bounded<meeting<end_of_one, 0, 1>>("after a value in a slot", 2);
  models.random<meeting<end_ends_place>>("then it ends");
  models.random<meeting<end_ends_place, 0, 1>>("then it ends, with a slot");
  models.random<meeting<end_of_two>>("two receivers, one value");
  models.random<meeting<sender_meets_end>>("where a sender waits, twice");
  models.random<meeting<choice_meets_end>>("of two that a strand chooses from");
  models.bounded<meeting<choice_meets_end>>("of two that a strand chooses from", 1);
  models.random<meeting<cancelled_at_end>>("where a receiver is cancelled");
  return models.result();
}
