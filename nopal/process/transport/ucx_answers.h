// SPDX-License-Identifier: MIT
// A thread that answers what other processes ask of this one by UCX. It sleeps until something
// arrives. So a process that computes answers as soon as the system runs this thread, and costs
// nothing while nothing arrives. The thread answers a thief's message with a continuation
// (steal_service.h); UCX itself answers all else.
#pragma once

#include "nopal/base/thread.h"
#include "nopal/config.h"
#include "nopal/process/transport/transport.h"

#include <cstdint>
#include <ucp/api/ucp.h>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// Ends the program with a sentence unless the status is UCS_OK; `what` follows "UCX cannot".
void require(ucs_status_t status, const char* what);

// The active messages: a thief's request, which has no content, and the answer.
enum ucx_message : unsigned { ucx_steal, ucx_stolen };
// call(argument, ...) is called where such a message arrives.
void call_when_arrives(ucp_worker_h worker, ucx_message what, ucp_am_recv_callback_t call,
                       void* argument);

class ucx_answers {
public:
  ucx_answers(ucp_worker_h incoming, std::uintptr_t region);
  ~ucx_answers();
  ucx_answers(const ucx_answers&) = delete;
  ucx_answers& operator=(const ucx_answers&) = delete;

private:
  void answer() noexcept;

  const ucp_worker_h incoming_;
  const std::uintptr_t region_; // where tasks run
  int arrival_ = -1;
  int stop_ = -1;
  base::thread thread_;
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
