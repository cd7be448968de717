// SPDX-License-Identifier: MIT
// The two sides of the proof.
#include "nopal/process/launch/handshake.h"

#include <cerrno>
#include <sys/socket.h>
#include <sys/types.h>

namespace nopal::inline NOPAL_ABI::process {
namespace {

// Words of use (secret.h).
constexpr std::uint64_t i_reach = 0x7265616368657321;
constexpr std::uint64_t i_welcome = 0x77656c636f6d6521;

// So few bytes always fit into what a new connection holds.
bool send_all(int connection, const void* bytes, std::size_t size) noexcept {
  return send(connection, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(size);
}

} // namespace

std::uint64_t handshake::proof(side by) const noexcept {
  const struct {
    std::array<std::uint64_t, 2> numbers;
    ranks of_both;
  } text{numbers_, ranks_};
  static_assert(sizeof text == 24, "all bytes are said");
  return proof_of(key_, by == side::reaches ? i_reach : i_welcome, &text, sizeof text);
}

handshake::state handshake::begin(int connection) {
  if (side_ == side::reaches)
    return state::unfinished;
  numbers_[0] = unknown_number();
  return send_all(connection, &numbers_[0], sizeof numbers_[0]) ? state::unfinished
                                                                : state::refused;
}

handshake::state handshake::go_on(int connection) {
  for (;;) {
    const std::size_t wanted = side_ == side::welcomes ? sizeof received_ : sizeof received_[0];
    const ssize_t more = recv(connection, reinterpret_cast<char*>(received_.data()) + got_,
                              wanted - got_, MSG_DONTWAIT);
    if (more < 0 && errno == EINTR)
      continue;
    if (more < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return state::unfinished;
    if (more <= 0)
      return state::refused;
    got_ += static_cast<std::size_t>(more);
    if (got_ < wanted)
      continue;
    if (side_ == side::welcomes)
      return judge_reacher(connection);
    if (answered_)
      return received_[0] == proof(side::welcomes) ? state::proved : state::refused;
    if (answer_number(connection) == state::refused)
      return state::refused;
  }
}

handshake::state handshake::answer_number(int connection) {
  got_ = 0;
  answered_ = true;
  numbers_ = {received_[0], unknown_number()};
  const std::uint64_t answer[] = {numbers_[1], proof(side::reaches)};
  return send_all(connection, answer, sizeof answer) ? state::unfinished : state::refused;
}

// The proof of this side goes to a process that has proved itself, and to nobody else.
handshake::state handshake::judge_reacher(int connection) noexcept {
  numbers_[1] = received_[0];
  if (received_[1] != proof(side::reaches))
    return state::refused;
  const std::uint64_t own = proof(side::welcomes);
  return send_all(connection, &own, sizeof own) ? state::proved : state::refused;
}

} // namespace nopal::inline NOPAL_ABI::process
