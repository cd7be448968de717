// SPDX-License-Identifier: MIT
// Steals by UCX: the messages, which prove where they come from, and the thread that answers them.
#pragma once

#include "nopal/base/thread.h"
#include "nopal/config.h"
#include "nopal/process/transport/layout.h"
#include "nopal/process/transport/sealed.h"
#include "nopal/process/transport/transport.h"

#include <cstddef>
#include <cstdint>
#include <ucp/api/ucp.h>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// Ends the program with a sentence unless the status is UCS_OK; `action` follows "UCX cannot".
void require(ucs_status_t status, const char* action);

// A thief's request, and the answer.
enum ucx_message : unsigned { ucx_steal, ucx_stolen };

struct steal_header {
  std::uint32_t from = 0;
  std::uint32_t unused = 0;
  head sealed = {};
};

// Of the messages between two processes, each of which goes over one connection, in order.
direction direction_of(const secret& key, side sender, unsigned asking,
                       unsigned answering) noexcept;

// False: the message is not one of UCX's eager ones with such a header.
bool read_header(steal_header& to, const void* header, std::size_t bytes,
                 const ucp_am_recv_param_t* from) noexcept;

// Strangers are not answered. Of the first a sentence is said.
void turn_away(bool& said) noexcept;

// call(argument, ...) is called where such a message arrives.
void call_when_arrives(ucp_worker_h worker, ucx_message kind, ucp_am_recv_callback_t call,
                       void* argument);

// A thread that answers what other processes ask of this one. It sleeps until something arrives. So
// a process that computes answers as soon as the system runs this thread, and costs nothing while
// nothing arrives. The thread answers a thief's message with a continuation (steal_service.h); the
// adapters, or UCX itself, do all else.
class ucx_answers {
public:
  ucx_answers(ucp_worker_h incoming, const secret& key, const group& all, const layout& memory);
  ~ucx_answers();
  ucx_answers(const ucx_answers&) = delete;
  ucx_answers& operator=(const ucx_answers&) = delete;

private:
  void answer() noexcept;
  static ucs_status_t when_asked(void* to, const void* header, std::size_t header_bytes, void*,
                                 std::size_t bytes, const ucp_am_recv_param_t* from);
  void give(const steal_header& asked, ucp_ep_h thief);

  const ucp_worker_h incoming_;
  const unsigned rank_;
  const layout memory_;
  std::vector<direction> asks_; // by process; like the next one, used by the thread alone
  std::vector<direction> answers_;
  bool said_ = false; // that there was a stranger
  int arrival_ = -1;
  const int stop_;
  base::thread thread_; // begins when all else is set
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
