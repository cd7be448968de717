// SPDX-License-Identifier: MIT
// What a process asks of another one by message, where a thread of that one does what is asked
// (mpi_messages.h, tcp_messages.h).
//
// Nothing is done before all of a request has been checked: its kind, whether its length is that of
// what came with it, and whether each byte lies in the part of the block that others may read and
// write, from the block's beginning to the guard. Frames move by steals alone.
//
// Orders: those of direct.h, by which the answering process executes what was asked.
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/layout.h"

#include <cstddef>
#include <cstdint>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// `store` is a put of a word, which is not answered; `flush` is answered when all before it has
// been done. `answer` is what comes back for the others.
enum class operation : std::uint32_t { get, put, store, steal, flush, answer };

struct request {
  operation kind = operation::answer;
  std::uint32_t content = 0; // so many bytes follow: of a put, a store or an answer
  std::uint64_t at = 0;      // in the block, which has the same address there
  std::uint64_t bytes = 0;   // of a get, a put or a store
};

// One request moves at most so much.
inline constexpr std::uint64_t most_moved = std::uint64_t{1} << 30;

// The request for an operation on these bytes of another process.
request request_for(operation kind, const void* at = nullptr, std::size_t bytes = 0) noexcept;

// What is wrong with a request, to stand behind "which is"; null if nothing is.
const char* wrong_with(const request& asked, const layout& memory) noexcept;

// Ends the program with a sentence unless the request of that process is well and so many bytes
// came with it.
void require_well(unsigned asking, const request& asked, std::size_t came,
                  const layout& memory) noexcept;

// What a process answers; `bytes` of the words are the answer.
struct content {
  std::vector<std::uint64_t> words;
  std::size_t bytes = 0;
};

// Does what is asked, which is well. Any thread of the answering process may call it.
content execute(const request& asked, const void* came, const layout& memory);

constexpr std::size_t in_words(std::size_t bytes) noexcept {
  return (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
}

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
