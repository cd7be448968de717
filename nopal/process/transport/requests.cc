// SPDX-License-Identifier: MIT
// How requests are checked and executed.
#include "nopal/process/transport/requests.h"

#include "nopal/base/die.h"
#include "nopal/process/transport/direct.h"
#include "nopal/process/transport/steal_service.h"

#include <utility>

namespace nopal::inline NOPAL_ABI::process {
namespace {

constexpr const char* name_of(operation kind) noexcept {
  switch (kind) {
  case operation::get:
    return "a get";
  case operation::put:
    return "a put";
  case operation::store:
    return "a store";
  case operation::steal:
    return "a steal";
  case operation::flush:
    return "a flush";
  case operation::answer:
    return "an answer";
  }
  return "an unknown operation";
}

// A word is read and written by one operation, which needs its alignment (direct.h).
bool is_aligned(std::uint64_t at, std::uint64_t bytes) noexcept {
  return (bytes != sizeof(std::uint32_t) && bytes != sizeof(std::uint64_t)) || at % bytes == 0;
}

const char* wrong_with_place(const request& asked, const layout& memory) noexcept {
  const std::uint64_t end = memory.guard_at();
  if (asked.bytes > most_moved)
    return "longer than one request may be";
  if (asked.at < block_at || asked.at > end || asked.bytes > end - asked.at)
    return "not within the memory that other processes may reach";
  if (!is_aligned(asked.at, asked.bytes))
    return "not aligned as a word is";
  return nullptr;
}

} // namespace

request request_for(operation kind, const void* at, std::size_t bytes) noexcept {
  if (bytes > most_moved)
    base::die("%zu bytes are to be moved to or from another process; at most %lu are possible",
              bytes, static_cast<unsigned long>(most_moved));
  const bool brings = kind == operation::put || kind == operation::store;
  return {kind, brings ? static_cast<std::uint32_t>(bytes) : 0u,
          reinterpret_cast<std::uintptr_t>(at), bytes};
}

const char* wrong_with(const request& asked, const layout& memory) noexcept {
  switch (asked.kind) {
  case operation::get:
    return asked.content != 0 ? "with bytes that a get does not have"
                              : wrong_with_place(asked, memory);
  case operation::put:
  case operation::store:
    if (asked.content != asked.bytes)
      return "of another length than what came with it";
    if (asked.kind == operation::store && asked.bytes != sizeof(word))
      return "not of one word";
    return wrong_with_place(asked, memory);
  case operation::steal:
  case operation::flush:
    return asked.content != 0 || asked.at != 0 || asked.bytes != 0 ? "with an address or bytes"
                                                                   : nullptr;
  case operation::answer:
    break;
  }
  return "none of those that there are";
}

void require_well(unsigned asking, const request& asked, std::size_t came,
                  const layout& memory) noexcept {
  const char* const wrong = came != asked.content ? "of another length than what came with it"
                                                  : wrong_with(asked, memory);
  if (wrong != nullptr)
    base::die("process %u asks for %s of %lu bytes at %#lx with %zu bytes, which is %s", asking,
              name_of(asked.kind), static_cast<unsigned long>(asked.bytes),
              static_cast<unsigned long>(asked.at), came, wrong);
}

content execute(const request& asked, const void* came, const layout& memory) {
  const direct_block own{block_at};
  void* const at = reinterpret_cast<void*>(asked.at);
  content answer;
  switch (asked.kind) {
  case operation::get:
    answer.bytes = asked.bytes;
    answer.words.resize(in_words(asked.bytes));
    own.get(answer.words.data(), at, asked.bytes);
    break;
  case operation::put:
  case operation::store:
    own.put(at, came, asked.bytes);
    break;
  case operation::steal:
    answer.words = serve_steal(memory.region_at());
    answer.bytes = answer.words.size() * sizeof answer.words[0];
    break;
  case operation::flush:
  case operation::answer:
    break;
  }
  return answer;
}

} // namespace nopal::inline NOPAL_ABI::process
