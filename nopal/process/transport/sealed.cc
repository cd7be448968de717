// SPDX-License-Identifier: MIT
// The proofs of connections and messages.
#include "nopal/process/transport/sealed.h"

namespace nopal::inline NOPAL_ABI::process {
namespace {

// What the session's secret proves: words that no other use of it has.
enum use : std::uint64_t {
  of_side = 0x7369'6465'0000'0000u,       // and the side
  of_first_key = 0x6b65'7931'0000'0000u,  // and the sender's
  of_second_key = 0x6b65'7932'0000'0000u, // and the sender's
};
// What the key of a direction proves. Numbers of messages stay below.
constexpr std::uint64_t of_content = ~std::uint64_t{0};

} // namespace

std::uint64_t proof_of_side(const secret& key, side whose, const introduction& said) noexcept {
  return proof_of(key, of_side + static_cast<std::uint64_t>(whose), &said, sizeof said);
}

direction::direction(const secret& key, side sender, const introduction& said) noexcept
    : key_{proof_of(key, of_first_key + static_cast<std::uint64_t>(sender), &said, sizeof said),
           proof_of(key, of_second_key + static_cast<std::uint64_t>(sender), &said, sizeof said)} {}

head direction::seal(const request& what, const void* content) noexcept {
  head sealed{what, proof_of_content(what, content), 0};
  sealed.proof = proof_of_head(sealed);
  ++number_;
  return sealed;
}

bool direction::believes(const head& got) noexcept {
  const bool does = proof_of_head(got) == got.proof;
  if (does)
    ++number_;
  return does;
}

bool direction::believes(const head& got, const void* content) const noexcept {
  return proof_of_content(got.what, content) == got.content_proof;
}

// None needs none.
std::uint64_t direction::proof_of_content(const request& what, const void* content) const noexcept {
  return what.content == 0 ? 0 : proof_of(key_, of_content, content, what.content);
}

std::uint64_t direction::proof_of_head(const head& whole) const noexcept {
  return proof_of(key_, number_, &whole, sizeof whole - sizeof whole.proof);
}

} // namespace nopal::inline NOPAL_ABI::process
