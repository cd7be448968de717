// SPDX-License-Identifier: MIT
// A thread that answers what other processes ask of this one by UCX. It sleeps until something
// arrives, so a process that computes answers as soon as the system runs this thread, and a thread
// that has nothing to do costs nothing. A thief's message is answered with a continuation
// (handover.h), all else by UCX itself.
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/own_thread.h"

#include <csignal>
#include <ucp/api/ucp.h>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// Ends the program with a sentence unless the status is UCS_OK; `what` follows "UCX cannot".
void require(ucs_status_t status, const char* what);

// What active messages are for; a thief asks with one that has no content.
enum ucx_message : unsigned { ucx_asks, ucx_gives };
void call_when_arrives(ucp_worker_h at, ucx_message what, ucp_am_recv_callback_t call, void* with);

class ucx_answers {
public:
  explicit ucx_answers(ucp_worker_h incoming);
  ~ucx_answers();
  ucx_answers(const ucx_answers&) = delete;
  ucx_answers& operator=(const ucx_answers&) = delete;

private:
  void answer() noexcept;

  const ucp_worker_h incoming_;
  int arrival_ = -1;
  int stop_ = -1;
  own_thread thread_;
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
