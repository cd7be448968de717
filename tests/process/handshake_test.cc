// SPDX-License-Identifier: MIT
// Two sides that prove to each other that they are of one session, and adversaries between them.
#include "nopal/process/launch/handshake.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using nopal::process::handshake;
using side = handshake::side;
using state = handshake::state;

constexpr nopal::process::secret key{0x0123456789abcdef, 0xfedcba9876543210};
constexpr nopal::process::secret other_key{0x0123456789abcdef, 0xfedcba9876543211};
constexpr handshake::ranks forth{0, 1};
constexpr handshake::ranks back{1, 0};

// A connection whose second end is the adversary's.
class line {
public:
  line() {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_) != 0)
      ADD_FAILURE() << "no sockets";
  }
  ~line() {
    close(ends_[0]);
    hang_up();
  }
  line(const line&) = delete;
  line& operator=(const line&) = delete;

  int end() const { return ends_[0]; }
  std::string said() const { // by the process at the first end, and not yet read
    char bytes[256];
    const ssize_t got = recv(ends_[1], bytes, sizeof bytes, 0);
    return got > 0 ? std::string(bytes, static_cast<std::size_t>(got)) : std::string();
  }
  void say(const std::string& bytes) const {
    EXPECT_EQ(send(ends_[1], bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  void hang_up() {
    if (ends_[1] >= 0)
      close(ends_[1]);
    ends_[1] = -1;
  }

private:
  int ends_[2] = {-1, -1};
};

// A process at its end of a line.
struct party {
  party(side own, const nopal::process::secret& known = key, handshake::ranks who = forth)
      : proof{known, own, who}, now{proof.begin(to_others.end())} {}

  state hears(const std::string& bytes) {
    to_others.say(bytes);
    return now = proof.go_on(to_others.end());
  }

  line to_others;
  handshake proof;
  state now;
};

struct conversation {
  std::string number, proof, answer;
};

// Passes on what the two say, unchanged.
conversation pass_on(party& reacher, party& welcomer) {
  conversation all;
  all.number = welcomer.to_others.said();
  reacher.hears(all.number);
  all.proof = reacher.to_others.said();
  welcomer.hears(all.proof);
  all.answer = welcomer.to_others.said();
  if (!all.answer.empty())
    reacher.hears(all.answer);
  return all;
}

TEST(handshake, two_of_one_session_prove_it) {
  party reacher{side::reaches};
  party welcomer{side::welcomes};
  const conversation all = pass_on(reacher, welcomer);
  EXPECT_EQ(reacher.now, state::proved);
  EXPECT_EQ(welcomer.now, state::proved);
  EXPECT_EQ(all.number.size(), 8u);
  EXPECT_EQ(all.proof.size(), 16u);
  EXPECT_EQ(all.answer.size(), 8u);
}

TEST(handshake, says_nothing_of_the_secret) {
  party reacher{side::reaches};
  party welcomer{side::welcomes};
  const conversation all = pass_on(reacher, welcomer);
  const std::string heard = all.number + all.proof + all.answer;
  for (const std::uint64_t half : {key.first, key.second}) {
    std::string bytes(sizeof half, '\0');
    std::memcpy(bytes.data(), &half, sizeof half);
    EXPECT_EQ(heard.find(bytes), std::string::npos);
  }
}

TEST(handshake, a_stranger_gets_a_number_and_no_proof) {
  for (const std::size_t size : {0u, 1u, 15u, 16u, 200u}) {
    party welcomer{side::welcomes};
    EXPECT_EQ(welcomer.to_others.said().size(), 8u);
    const state now = size == 0 ? welcomer.now : welcomer.hears(std::string(size, 'x'));
    EXPECT_EQ(now, size < 16 ? state::unfinished : state::refused) << size;
    EXPECT_EQ(welcomer.to_others.said(), "") << size;
    welcomer.to_others.hang_up();
    EXPECT_EQ(welcomer.proof.go_on(welcomer.to_others.end()), state::refused) << size;
  }
}

TEST(handshake, another_sessions_process_is_refused) {
  party reacher{side::reaches, other_key};
  party welcomer{side::welcomes};
  EXPECT_EQ(pass_on(reacher, welcomer).answer, "");
  EXPECT_EQ(welcomer.now, state::refused);
  // Nor does a process that reaches believe a listener of another session.
  party own{side::reaches};
  own.hears(std::string(8, 'n'));
  EXPECT_EQ(own.hears(std::string(8, 'p')), state::refused);
}

TEST(handshake, a_process_of_another_rank_is_refused) {
  for (const handshake::ranks who : {handshake::ranks{2, 1}, {0, 2}, back, {1, 1}}) {
    party reacher{side::reaches, key, who};
    party welcomer{side::welcomes};
    pass_on(reacher, welcomer);
    EXPECT_EQ(welcomer.now, state::refused) << who.reaches << who.welcomes;
  }
}

TEST(handshake, what_was_heard_before_proves_nothing) {
  party first{side::reaches};
  party first_welcomer{side::welcomes};
  const conversation heard = pass_on(first, first_welcomer);
  party welcomer{side::welcomes};
  EXPECT_EQ(welcomer.hears(heard.proof), state::refused);
  EXPECT_NE(welcomer.to_others.said(), heard.number);
  party reacher{side::reaches}; // even if the listener's number comes again
  EXPECT_EQ(reacher.hears(heard.number), state::unfinished);
  EXPECT_EQ(reacher.hears(heard.answer), state::refused);
}

TEST(handshake, what_is_sent_back_proves_nothing) {
  party welcomer{side::welcomes};
  const std::string number = welcomer.to_others.said();
  EXPECT_EQ(welcomer.hears(number + number), state::refused);
  party reacher{side::reaches};
  EXPECT_EQ(reacher.hears(number), state::unfinished);
  EXPECT_EQ(reacher.hears(reacher.to_others.said()), state::refused);
}

// Two processes reach each other. One's own connection, or the other direction, proves nothing.
TEST(handshake, what_belongs_to_another_connection_proves_nothing) {
  party reacher{side::reaches, key, forth};
  party listener_of_the_same_process{side::welcomes, key, back};
  pass_on(reacher, listener_of_the_same_process);
  EXPECT_EQ(listener_of_the_same_process.now, state::refused);
  party one{side::reaches};
  party two{side::reaches};
  one.hears(std::string(8, 'n'));
  two.hears(std::string(8, 'n'));
  EXPECT_EQ(one.hears(two.to_others.said()), state::refused);
}

TEST(handshake, bytes_may_come_one_by_one_and_what_follows_stays) {
  party reacher{side::reaches};
  party welcomer{side::welcomes};
  for (const char each : welcomer.to_others.said())
    reacher.hears({each});
  for (const char each : reacher.to_others.said() + "more")
    welcomer.to_others.say({each});
  EXPECT_EQ(welcomer.proof.go_on(welcomer.to_others.end()), state::proved);
  EXPECT_EQ(reacher.hears(welcomer.to_others.said() + "less"), state::proved);
  char rest[8] = {};
  EXPECT_EQ(recv(welcomer.to_others.end(), rest, sizeof rest, 0), 4);
  EXPECT_STREQ(rest, "more");
  EXPECT_EQ(recv(reacher.to_others.end(), rest, sizeof rest, 0), 4);
  EXPECT_STREQ(rest, "less");
}

TEST(handshake, who_closes_in_the_middle_is_refused) {
  for (const std::size_t bytes : {0u, 7u, 8u, 15u}) {
    party reacher{side::reaches};
    if (bytes != 0)
      reacher.hears(std::string(bytes, 'n'));
    reacher.to_others.hang_up();
    EXPECT_EQ(reacher.proof.go_on(reacher.to_others.end()), state::refused) << bytes;
  }
}

} // namespace
