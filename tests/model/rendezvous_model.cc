// SPDX-License-Identifier: MIT
// Models of strands that meet to hand over a value, at one place or at one of two, and may be
// cancelled while they wait.
#include "meeting.h"

namespace nopal::model {
namespace {

constexpr course once[] = {{{send(0)}}, {{receive(0)}}};
constexpr course and_back[] = {{{send(0), receive(0)}}, {{receive(0), send(0)}}};
constexpr course place_ends[] = {{{send(0)}}, {{receive(0)}, true}};
constexpr course sender_ends_place[] = {{{send(0)}, true}, {{receive(0)}}};

constexpr call receive_any_reversed = one_of(receive(1), receive(0));
constexpr call send_any = one_of(send(0), send(1));
constexpr course one_after_other[] = {{{receive_any, receive_any}}, {{send(0), send(1)}}};
constexpr course places_end[] = {{{receive_any}, true}, {{send(0)}}};
constexpr course two_choose[] = {{{send_any, send_any}}, {{receive_any_reversed, receive_any}}};
constexpr course crossed[] = {{{one_of(send(0), receive(1))}}, {{one_of(send(1), receive(0))}}};
constexpr course three_choose[] = {
    {{receive_any}}, {{receive_any_reversed}}, {{send_any}}, {{send(1)}}};

constexpr course cancelled_receiver[] = {
    {{receive(0), receive(0)}, false, true}, {{send(0), send(0)}}, canceller};
constexpr course cancelled_chooser[] = {{{receive_any}, false, true}, {{send(1)}}, canceller};

constexpr call send_or_receive = one_of(send(0), receive(0));
constexpr call receive_or_send = one_of(receive(0), send(0));
constexpr course alike[] = {{{send_or_receive}}, {{receive_or_send}}};
constexpr course three_alike[] = {{{send_or_receive}}, {{receive_or_send}}, {{send_or_receive}}};
constexpr course both_sides[] = {{{send_or_receive}}, {{send(0)}}, {{receive(0)}}};

} // namespace
} // namespace nopal::model

int main(int argc, char** argv) {
  using namespace nopal::model;
  runner models{argc, argv};
  models.section("one place");
  models.random<meeting<once>>("a sender, a receiver");
  models.bounded<meeting<once>>("a sender, a receiver", 4);
  models.random<meeting<twice>>("twice");
  models.random<meeting<and_back>>("there and back");
  models.random<meeting<two_senders>>("two senders, a receiver");
  models.bounded<meeting<two_senders>>("two senders, a receiver", 1);
  models.random<meeting<two_pairs>>("two senders, two receivers, twice");
  models.random<meeting<place_ends>>("the receiver ends the place");
  models.bounded<meeting<place_ends>>("the receiver ends the place", 4);
  models.random<meeting<sender_ends_place>>("the sender ends the place");
  models.section("a choice of two places");
  models.random<meeting<both_sent>>("a sender at each");
  models.bounded<meeting<both_sent>>("a sender at each", 1);
  models.random<meeting<one_after_other>>("a sender at one, then at the other");
  models.random<meeting<places_end>>("the strand that chose ends the places");
  models.bounded<meeting<places_end>>("the strand that chose ends the places", 2);
  models.random<meeting<two_choose>>("two choose, twice");
  models.random<meeting<crossed>>("two choose, each to send or to receive");
  models.bounded<meeting<crossed>>("two choose, each to send or to receive", 2);
  models.random<meeting<three_choose>>("three choose, and a sender", 2);
  models.section("a choice of both sides of a place");
  models.random<meeting<alike>>("two alike");
  models.bounded<meeting<alike>>("two alike", 2);
  models.random<meeting<three_alike, 1>>("three alike");
  models.random<meeting<both_sides, 1>>("a sender, a receiver");
  models.bounded<meeting<both_sides, 1>>("a sender, a receiver", 1);
  models.section("a strand is cancelled");
  models.random<meeting<cancelled_receiver>>("a receiver, twice");
  models.random<meeting<cancelled_chooser>>("one that chooses");
  models.bounded<meeting<cancelled_chooser>>("one that chooses", 1);
  return models.result();
}
