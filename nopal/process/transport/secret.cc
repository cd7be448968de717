// SPDX-License-Identifier: MIT
// SipHash-2-4, a word at a time.
#include "nopal/process/transport/secret.h"

#include "nopal/base/die.h"
#include "nopal/process/transport/transport.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <sys/random.h>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

class sip_hash {
public:
  explicit sip_hash(const secret& key) noexcept
      : v_{key.first ^ 0x736f6d6570736575u, key.second ^ 0x646f72616e646f6du,
           key.first ^ 0x6c7967656e657261u, key.second ^ 0x7465646279746573u} {}

  void add(std::uint64_t text) noexcept {
    v_[3] ^= text;
    rounds(2);
    v_[0] ^= text;
  }
  std::uint64_t end() noexcept {
    v_[2] ^= 0xff;
    rounds(4);
    return v_[0] ^ v_[1] ^ v_[2] ^ v_[3];
  }

private:
  void half_round(std::uint64_t& a, std::uint64_t& b, int turn_b, std::uint64_t& c,
                  std::uint64_t& d, int turn_d) noexcept {
    a += b;
    b = std::rotl(b, turn_b) ^ a;
    c += d;
    d = std::rotl(d, turn_d) ^ c;
  }
  void rounds(int number) noexcept {
    for (int i = 0; i < number; ++i) {
      half_round(v_[0], v_[1], 13, v_[2], v_[3], 16);
      v_[0] = std::rotl(v_[0], 32);
      half_round(v_[2], v_[1], 17, v_[0], v_[3], 21);
      v_[2] = std::rotl(v_[2], 32);
    }
  }

  std::uint64_t v_[4];
};

} // namespace

std::uint64_t unknown_number() {
  std::uint64_t number = 0;
  ssize_t got = 0;
  while ((got = getrandom(&number, sizeof number, 0)) < 0 && errno == EINTR)
    ;
  if (got != sizeof number)
    base::die("no random number can be had from the system: %s", std::strerror(errno));
  return number;
}

secret agree_on_secret(group& all) {
  const secret own = all.rank() == 0 ? secret{unknown_number(), unknown_number()} : secret{};
  std::vector<secret> of_all(all.size());
  all.all_gather(&own, of_all.data(), sizeof own);
  return of_all[0];
}

std::uint64_t proof_of(const secret& key, std::uint64_t use, const void* bytes,
                       std::size_t size) noexcept {
  sip_hash hash{key};
  hash.add(use);
  const auto* const at = static_cast<const unsigned char*>(bytes);
  std::size_t done = 0;
  std::uint64_t next = 0;
  for (; done + sizeof next <= size; done += sizeof next) {
    std::memcpy(&next, at + done, sizeof next);
    hash.add(next);
  }
  next = static_cast<std::uint64_t>(sizeof use + size) << 56;
  if (done != size)
    std::memcpy(&next, at + done, size - done);
  hash.add(next);
  return hash.end();
}

} // namespace nopal::inline NOPAL_ABI::process
