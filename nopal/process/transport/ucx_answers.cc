// SPDX-License-Identifier: MIT
// The thread that answers, its turns, and how it ends when UCX does.
#include "nopal/process/transport/ucx_answers.h"

#include "nopal/base/die.h"
#include "nopal/base/os.h"
#include "nopal/process/transport/steal_service.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

// UCX may abort in a call when a process that it answers has died. This thread calls nothing else.
thread_local bool answers = false;
struct sigaction before_abort;

void abort_with_sentence(int signal) {
  if (answers)
    base::die_in_signal_handler("UCX cannot answer another process any more, which has probably "
                                "died, so this process ends too");
  sigaction(signal, &before_abort, nullptr);
  raise(signal); // taken when this handler has returned
}

using words = std::vector<std::uint64_t>;

void when_sent(void* request, ucs_status_t, void* message) {
  delete static_cast<words*>(message); // a thief that did not get it has died, which is noticed
  ucp_request_free(request);
}

// The message belongs to UCX until when_sent is called, unless it has left at once.
ucs_status_t when_asked(void* region, const void*, std::size_t, void*, std::size_t,
                        const ucp_am_recv_param_t* from) {
  auto* const message = new words(serve_steal(*static_cast<const std::uintptr_t*>(region)));
  ucp_request_param_t how{};
  how.op_attr_mask =
      UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  how.flags = UCP_AM_SEND_FLAG_EAGER; // the thief's handler gets all of it
  how.cb.send = when_sent;
  how.user_data = message;
  if (!UCS_PTR_IS_PTR(ucp_am_send_nbx(from->reply_ep, ucx_stolen, nullptr, 0, message->data(),
                                      message->size() * sizeof(std::uint64_t), &how)))
    delete message;
  return UCS_OK;
}

} // namespace

void call_when_arrives(ucp_worker_h worker, ucx_message what, ucp_am_recv_callback_t call,
                       void* argument) {
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                       UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = what;
  handler.cb = call;
  handler.arg = argument;
  require(ucp_worker_set_am_recv_handler(worker, &handler), "take messages");
}

void require(ucs_status_t status, const char* what) {
  if (status != UCS_OK)
    base::die("UCX cannot %s: %s", what, ucs_status_string(status));
}

ucx_answers::ucx_answers(ucp_worker_h incoming, std::uintptr_t region)
    : incoming_{incoming}, region_{region} {
  call_when_arrives(incoming_, ucx_steal, when_asked, const_cast<std::uintptr_t*>(&region_));
  require(ucp_worker_get_efd(incoming_, &arrival_), "say when something arrives");
  stop_ = eventfd(0, EFD_CLOEXEC);
  if (stop_ < 0)
    base::die("no event descriptor can be had: %s", std::strerror(errno));
  struct sigaction action{};
  action.sa_handler = abort_with_sentence;
  sigaction(SIGABRT, &action, &before_abort);
  thread_ = base::thread{"answers other processes", [this] { answer(); }, room_of_libraries};
}

ucx_answers::~ucx_answers() {
  eventfd_write(stop_, 1);
  thread_.join();
  close(stop_);
  sigaction(SIGABRT, &before_abort, nullptr);
}

// UCX's descriptor becomes readable only for what arrives after a successful arm, and arming fails
// while something is left to do. So nothing that arrives is slept over.
void ucx_answers::answer() noexcept {
  answers = true;
  base::ask_for_short_turns();
  pollfd wanted[2] = {{arrival_, POLLIN, 0}, {stop_, POLLIN, 0}};
  while (wanted[1].revents == 0) {
    while (ucp_worker_progress(incoming_) != 0)
      ;
    const ucs_status_t armed = ucp_worker_arm(incoming_);
    if (armed == UCS_ERR_BUSY)
      continue; // something has arrived since
    require(armed, "wait for other processes");
    if (poll(wanted, 2, -1) < 0 && errno != EINTR)
      base::die("other processes cannot be answered any more: %s", std::strerror(errno));
  }
}

} // namespace nopal::inline NOPAL_ABI::process
