// SPDX-License-Identifier: MIT
// By what the processes of a session know each other from strangers on the network.
//
// Process 0 makes the secret, and the group gives it to all: within a machine by memory, between
// machines by the launcher's MPI, whose network is trusted with it. Nothing of it is sent
// otherwise: who knows it sends a proof, a keyed hash of what it says. The hash is SipHash-2-4
// (Aumasson and Bernstein, INDOCRYPT 2012), whose value nobody can guess without the key.
//
// A proof does not hide what is said, and a proof that is heard can be said again. So each use
// proves something that comes once: a number that the other side has just drawn, or a count.
#pragma once

#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

class group;

struct secret {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

// A number that nobody else knows, from the system. Ends the program if none can be had.
std::uint64_t unknown_number();

// Collective: the same secret in all processes of the group, and in no other session.
secret agree_on_secret(group& all);

// The keyed hash of the word `use`, then `size` bytes. Each use of the secret has words of its own,
// so that what is said in one does not prove anything in another one. A proof may be the word of a
// later one: the two prove both texts together.
std::uint64_t proof_of(const secret& key, std::uint64_t use, const void* bytes = nullptr,
                       std::size_t size = 0) noexcept;

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
