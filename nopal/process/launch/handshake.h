// SPDX-License-Identifier: MIT
// How the two ends of a connection prove to each other that they are processes of one session, and
// which ones, before either does what the other one says.
//
//   1  the process that welcomes    its number
//   2  the process that reaches     its number, and its proof
//   3  the process that welcomes    its proof
//
// Each number is drawn anew (unknown_number), so a proof that was heard before proves nothing here.
// A proof is a keyed hash of both numbers and both ranks (secret.h). Each side's has a word of use
// of its own, and the ranks say who reaches whom: so a proof that is sent back, or passed on to
// another connection of the session, is no proof there. Nothing of the secret is sent, and a
// stranger who connects gets nothing but a number.
//
// Somebody on the way between two machines can pass all on, unchanged, and speak afterwards
// (SECURITY.md).
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/secret.h"

#include <array>
#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// One side of it, on a connection that does not block. Its owner closes the connection.
class handshake {
public:
  enum class side : unsigned char { reaches, welcomes };
  enum class state : unsigned char { unfinished, proved, refused };
  struct ranks {
    std::uint32_t reaches;
    std::uint32_t welcomes;
  };

  handshake(const secret& key, side own, const ranks& of_both) noexcept
      : key_{key}, side_{own}, ranks_{of_both} {}

  // When the connection is there.
  state begin(int connection);
  // When it is readable or closed. Reads no byte of what follows the proofs.
  state go_on(int connection);
  // The process that reaches has sent its proof: the other one may count the two as connected.
  bool has_answered() const noexcept { return answered_; }

private:
  state answer_number(int connection);
  state judge_reacher(int connection) noexcept;
  std::uint64_t proof(side by) const noexcept;

  secret key_;
  side side_;
  ranks ranks_;
  std::array<std::uint64_t, 2> numbers_{};  // of the process that welcomes, of the one that reaches
  std::array<std::uint64_t, 2> received_{}; // what comes next, as far as it has come
  std::size_t got_ = 0;                     // bytes of it
  bool answered_ = false;
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
