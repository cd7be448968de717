// SPDX-License-Identifier: MIT
// How thieves are answered by UCX.
#include "nopal/process/transport/ucx_answers.h"

#include "nopal/base/die.h"
#include "nopal/base/os.h"
#include "nopal/process/transport/requests.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace nopal::inline NOPAL_ABI::process {
namespace {

// UCX may abort in a call when a process that it answers has died. This thread calls nothing else.
thread_local bool is_answering = false; // set by the answering thread for itself
struct sigaction before_abort;          // set before the handler is installed, read by the handler

void abort_with_sentence(int signal) {
  if (is_answering)
    base::die_in_signal_handler("UCX cannot answer another process any more, which has probably "
                                "died, so this process ends too");
  sigaction(signal, &before_abort, nullptr);
  raise(signal); // taken when this handler has returned
}

// An answer to a thief, which belongs to UCX until when_sent is called.
struct stolen_message {
  steal_header header;
  content frames;
};

void when_sent(void* request, ucs_status_t, void* message) {
  delete static_cast<stolen_message*>(message); // a thief that did not get it has died
  ucp_request_free(request);
}

} // namespace

void require(ucs_status_t status, const char* action) {
  if (status != UCS_OK)
    base::die("UCX cannot %s: %s", action, ucs_status_string(status));
}

direction direction_of(const secret& key, side sender, unsigned asking,
                       unsigned answering) noexcept {
  introduction both;
  both.first.asking = asking;
  both.first.answering = answering;
  return {key, sender, both};
}

bool read_header(steal_header& to, const void* header, std::size_t bytes,
                 const ucp_am_recv_param_t* from) noexcept {
  if (bytes != sizeof to || (from->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0)
    return false;
  std::memcpy(static_cast<void*>(&to), header, sizeof to);
  return true;
}

void turn_away(bool& said) noexcept {
  if (!std::exchange(said, true))
    base::say(
        "a message by UCX that does not prove that it is of this session was not obeyed; more "
        "such are not mentioned");
}

void call_when_arrives(ucp_worker_h worker, ucx_message kind, ucp_am_recv_callback_t call,
                       void* argument) {
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                       UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = kind;
  handler.cb = call;
  handler.arg = argument;
  require(ucp_worker_set_am_recv_handler(worker, &handler), "take messages");
}

ucx_answers::ucx_answers(ucp_worker_h incoming, const secret& key, const group& all,
                         const layout& memory)
    : incoming_{incoming}, rank_{all.rank()}, memory_{memory}, stop_{eventfd(0, EFD_CLOEXEC)} {
  for (unsigned peer = 0; peer < all.size(); ++peer) {
    asks_.push_back(direction_of(key, side::asking, peer, rank_));
    answers_.push_back(direction_of(key, side::answering, peer, rank_));
  }
  call_when_arrives(incoming_, ucx_steal, when_asked, this);
  require(ucp_worker_get_efd(incoming_, &arrival_), "say when something arrives");
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

// UCX's descriptor becomes readable only for what arrives after a successful arm, and arming
// fails while something is left to do. So nothing that arrives is slept over.
void ucx_answers::answer() noexcept {
  is_answering = true;
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

ucs_status_t ucx_answers::when_asked(void* to, const void* header, std::size_t header_bytes, void*,
                                     std::size_t bytes, const ucp_am_recv_param_t* from) {
  auto* const self = static_cast<ucx_answers*>(to);
  steal_header asked;
  if (read_header(asked, header, header_bytes, from) && bytes == 0 &&
      asked.sealed.what.kind == operation::steal && asked.from < self->asks_.size() &&
      (from->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) &&
      self->asks_[asked.from].believes(asked.sealed))
    self->give(asked, from->reply_ep);
  else
    turn_away(self->said_);
  return UCS_OK;
}

void ucx_answers::give(const steal_header& asked, ucp_ep_h thief) {
  require_well(asked.from, asked.sealed.what, 0, memory_);
  auto* const message = new stolen_message{{rank_}, execute(asked.sealed.what, nullptr, memory_)};
  const content& frames = message->frames;
  message->header.sealed = answers_[asked.from].seal(
      {operation::answer, static_cast<std::uint32_t>(frames.bytes)}, frames.words.data());
  ucp_request_param_t parameters{};
  parameters.op_attr_mask =
      UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  parameters.flags = UCP_AM_SEND_FLAG_EAGER; // the thief's handler gets all of it
  parameters.cb.send = when_sent;
  parameters.user_data = message;
  if (!UCS_PTR_IS_PTR(ucp_am_send_nbx(thief, ucx_stolen, &message->header, sizeof message->header,
                                      frames.words.data(), frames.bytes, &parameters)))
    delete message;
}

} // namespace nopal::inline NOPAL_ABI::process
