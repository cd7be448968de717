// SPDX-License-Identifier: MIT
// Messages between two processes that prove where they come from, and that nothing in them has been
// changed, left out, repeated or put in another order.
//
// A message is a head, then its content. The head has the proof of the content, and a proof of
// itself under the number of the message, so that the length in it is believed before anything of
// the content is received. Each connection has keys of its own, one for either direction, which the
// session's secret gives with a number that each side has drawn for this connection:
//
//      who asks                                   who answers
//      hello: both ranks, a number           ->
//                                            <-   welcome: a number, proof of all this
//      proof of all this                     ->
//
// The two proofs are for different uses, so that neither can be sent back as the other. Nothing is
// hidden: who listens on the network reads all.
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/requests.h"
#include "nopal/process/transport/secret.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

struct hello {
  static constexpr std::uint64_t first_word = 0x6e6f70616c20736du; // tells Nopal's port from others

  std::uint64_t begins = first_word;
  std::uint32_t asking = 0;
  std::uint32_t answering = 0;
  std::uint64_t number = 0;
};
struct welcome {
  std::uint64_t number = 0;
  std::uint64_t proof = 0;
};
// What both sides have said before the proofs.
struct introduction {
  hello first;
  std::uint64_t answer = 0; // the number of the welcome
};

enum class side : std::uint64_t { asking = 1, answering = 2 };

// The proof that who says it, on that side, knows the secret.
std::uint64_t proof_of_side(const secret& key, side whose, const introduction& said) noexcept;

struct head {
  request what;
  std::uint64_t content_proof = 0;
  std::uint64_t proof = 0; // of all above, under the message's number
};
static_assert(sizeof(head) == sizeof(request) + 2 * sizeof(std::uint64_t));

// One direction of a connection. Each side has one to send and one to receive.
class direction {
public:
  direction() = default;
  direction(const secret& key, side sender, const introduction& said) noexcept;

  // The head of the next message.
  head seal(const request& what, const void* content) noexcept;
  // Whether it is the head of the next message. Then it counts as received.
  bool believes(const head& got) noexcept;
  // Whether the content is that of a head that is believed.
  bool believes(const head& got, const void* content) const noexcept;

private:
  std::uint64_t proof_of_content(const request& what, const void* content) const noexcept;
  std::uint64_t proof_of_head(const head& whole) const noexcept;

  secret key_;
  std::uint64_t number_ = 0; // of the next message
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
