// SPDX-License-Identifier: MIT
// UCX carries the data between machines, by its one-sided operations. On one machine the processes
// share memory, and UCX is not asked (shared_memory.h).
//
// Roles:     outgoing   a worker of UCX for what this process asks of others. The thread that runs
//                       tasks is its only user.
//            incoming   a worker of UCX for what others ask of this process. A thread of its own
//                       answers (answering_thread).
#include "nopal/process/transport/ucx.h"

#include "nopal/base/die.h"
#include "nopal/base/os.h"
#include "nopal/base/thread.h"
#include "nopal/config/environment.h"
#include "nopal/process/transport/steal_service.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <ucp/api/ucp.h>
#include <ucs/debug/debug.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

// Ends the program with a sentence unless the status is UCS_OK; `action` follows "UCX cannot".
void require(ucs_status_t status, const char* action) {
  if (status != UCS_OK)
    base::die("UCX cannot %s: %s", action, ucs_status_string(status));
}

// The active messages: a thief's request, which has no content, and the answer.
enum ucx_message : unsigned { ucx_steal, ucx_stolen };

// call(argument, ...) is called where such a message arrives.
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

// UCX may abort in a call when a process that it answers has died. This thread calls nothing else.
thread_local bool answers = false; // set by the answering thread for itself
struct sigaction before_abort;     // set before the handler is installed, read by the handler

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
  ucp_request_param_t parameters{};
  parameters.op_attr_mask =
      UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  parameters.flags = UCP_AM_SEND_FLAG_EAGER; // the thief's handler gets all of it
  parameters.cb.send = when_sent;
  parameters.user_data = message;
  if (!UCS_PTR_IS_PTR(ucp_am_send_nbx(from->reply_ep, ucx_stolen, nullptr, 0, message->data(),
                                      message->size() * sizeof(std::uint64_t), &parameters)))
    delete message;
  return UCS_OK;
}

// A thread that answers what other processes ask of this one. It sleeps until something arrives. So
// a process that computes answers as soon as the system runs this thread, and costs nothing while
// nothing arrives. The thread answers a thief's message with a continuation (steal_service.h); UCX
// itself answers all else.
class answering_thread {
public:
  answering_thread(ucp_worker_h incoming, std::uintptr_t region)
      : incoming_{incoming}, region_{region} {
    call_when_arrives(incoming_, ucx_steal, when_asked, const_cast<std::uintptr_t*>(&region_));
    require(ucp_worker_get_efd(incoming_, &arrival_), "say when something arrives");
    if (stop_ < 0)
      base::die("no event descriptor can be had: %s", std::strerror(errno));
    struct sigaction action{};
    action.sa_handler = abort_with_sentence;
    sigaction(SIGABRT, &action, &before_abort);
    thread_ = base::thread{"answers other processes", [this] { answer(); }, room_of_libraries};
  }
  ~answering_thread() {
    eventfd_write(stop_, 1);
    thread_.join();
    close(stop_);
    sigaction(SIGABRT, &before_abort, nullptr);
  }
  answering_thread(const answering_thread&) = delete;
  answering_thread& operator=(const answering_thread&) = delete;

private:
  // UCX's descriptor becomes readable only for what arrives after a successful arm, and arming
  // fails while something is left to do. So nothing that arrives is slept over.
  void answer() noexcept {
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

  const ucp_worker_h incoming_;
  const std::uintptr_t region_; // where tasks run
  int arrival_ = -1;
  const int stop_ = eventfd(0, EFD_CLOEXEC);
  base::thread thread_; // begins when all else is set
};

[[noreturn]] void die_of_lost(unsigned peer, ucs_status_t why) {
  base::die("process %u cannot be reached any more (%s), so this process ends too", peer,
            ucs_status_string(why));
}

ucp_context_h make_context() {
  for (const int error : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) // UCX prints a backtrace of these
    ucs_debug_disable_signal(error);
  ucp_config_t* config = nullptr;
  // UCX's variables; those with NOPAL_ before are for this context alone, not for MPI's.
  require(ucp_config_read("NOPAL", nullptr, &config), "read its configuration");
  // Shared memory is for processes of one machine, which need no UCX; and its files in /dev/shm
  // have names for some milliseconds, so that a process that is killed then leaves them behind.
  if (config::variable("NOPAL_UCX_TLS") == nullptr)
    require(ucp_config_modify(config, "TLS", "^shm"), "do without shared memory");
  ucp_params_t wanted{};
  wanted.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
  wanted.features = UCP_FEATURE_RMA | UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  wanted.mt_workers_shared = 1;
  ucp_context_h context = nullptr;
  require(ucp_init(&wanted, config, &context), "begin");
  ucp_config_release(config);
  return context;
}

ucp_worker_h make_worker(ucp_context_h context) {
  ucp_worker_params_t wanted{};
  wanted.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  wanted.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  ucp_worker_h worker = nullptr;
  require(ucp_worker_create(context, &wanted, &worker), "make a worker");
  return worker;
}

// The block is mapped already; UCX makes it known to the adapters.
ucp_mem_h register_block(ucp_context_h context, const layout& memory) {
  ucp_mem_map_params_t wanted{};
  wanted.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS;
  wanted.flags = UCP_MEM_MAP_NONBLOCK; // pages come when they are used
  wanted.address = reinterpret_cast<void*>(block_at);
  wanted.length = memory.size();
  ucp_mem_h block = nullptr;
  require(ucp_mem_map(context, &wanted, &block), "register the memory that other processes reach");
  return block;
}

struct way_to_peer {
  ucp_ep_h endpoint = nullptr;
  ucp_rkey_h key = nullptr;
  unsigned peer = 0;
};

// Gathers what every process has of this kind. Each gets as much room as the longest takes.
std::vector<char> gathered(group& all, const void* own, std::size_t size, std::size_t& longest) {
  std::vector<std::size_t> sizes(all.size());
  all.all_gather(&size, sizes.data(), sizeof size);
  longest = *std::ranges::max_element(sizes);
  std::vector<char> padded(longest);
  std::memcpy(padded.data(), own, size);
  std::vector<char> found(longest * all.size());
  all.all_gather(padded.data(), found.data(), longest);
  return found;
}

class ucx_transport final : public far_transport {
public:
  ucx_transport(group& all, const layout& memory, const near_blocks& near)
      : region_{memory.region_at()}, context_{make_context()},
        block_{register_block(context_, memory)}, incoming_{make_worker(context_)},
        outgoing_{make_worker(context_)}, ways_(all.size()) {
    call_when_arrives(outgoing_, ucx_stolen, when_stolen, this);
    connect(all, near);
    answers_.emplace(incoming_, region_);
  }
  ~ucx_transport() override {
    answers_.reset(); // its thread, before what it uses
    for (const way_to_peer& each : ways_) {
      if (each.endpoint == nullptr)
        continue;
      ucp_rkey_destroy(each.key);
      ucp_request_param_t now{};
      now.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
      now.flags = UCP_EP_CLOSE_FLAG_FORCE; // all processes have met: nothing is on its way
      const ucs_status_ptr_t request = ucp_ep_close_nbx(each.endpoint, &now);
      while (UCS_PTR_IS_PTR(request) && ucp_request_check_status(request) == UCS_INPROGRESS)
        ucp_worker_progress(outgoing_);
      if (UCS_PTR_IS_PTR(request))
        ucp_request_free(request);
    }
    ucp_worker_destroy(outgoing_);
    ucp_worker_destroy(incoming_);
    ucp_mem_unmap(context_, block_);
    ucp_cleanup(context_);
  }

  void get(unsigned peer, void* to, const void* from, std::size_t bytes) override {
    const ucp_request_param_t plain{};
    wait_for(ucp_get_nbx(ways_[peer].endpoint, to, bytes, reinterpret_cast<std::uint64_t>(from),
                         ways_[peer].key, &plain),
             peer);
  }
  void put(unsigned peer, void* to, const void* from, std::size_t bytes) override {
    const way_to_peer& way = ways_[peer];
    wait_for(begin_put(way, to, from, bytes), peer);
    const ucp_request_param_t plain{};
    wait_for(ucp_ep_flush_nbx(way.endpoint, &plain), peer);
  }
  std::optional<segment> request_steal(unsigned peer) override {
    ucp_request_param_t parameters{};
    parameters.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    parameters.flags = UCP_AM_SEND_FLAG_REPLY;
    answered_ = false;
    wait_for(ucp_am_send_nbx(ways_[peer].endpoint, ucx_steal, nullptr, 0, nullptr, 0, &parameters),
             peer);
    for (unsigned tries = 1; !answered_; ++tries)
      if (ucp_worker_progress(outgoing_) == 0)
        base::wait_briefly(tries);
    return stolen_;
  }

  // Waits until the store has left, since its operand lies in this frame.
  void post_store(unsigned peer, word& at, std::uint32_t value) override {
    wait_for(begin_put(ways_[peer], &at, &value, sizeof value), peer);
  }
  void progress() noexcept override { ucp_worker_progress(outgoing_); }
  void stop_thread() noexcept override { answers_.reset(); }
  void flush() override {
    const ucp_request_param_t plain{};
    wait_for(ucp_worker_flush_nbx(outgoing_, &plain), no_peer);
  }

private:
  static constexpr unsigned no_peer = ~0u;

  static ucs_status_t when_stolen(void* to, const void*, std::size_t, void* message,
                                  std::size_t bytes, const ucp_am_recv_param_t*) {
    auto* const self = static_cast<ucx_transport*>(to);
    self->stolen_ = place_stolen(self->region_, message, bytes);
    self->answered_ = true;
    return UCS_OK;
  }

  void connect(group& all, const near_blocks& near) {
    ucp_address_t* address = nullptr;
    void* key = nullptr;
    std::size_t size = 0;
    std::size_t longest_address = 0;
    std::size_t longest_key = 0;
    require(ucp_worker_get_address(incoming_, &address, &size), "say how this process is reached");
    const std::vector<char> addresses = gathered(all, address, size, longest_address);
    ucp_worker_release_address(incoming_, address);
    require(ucp_rkey_pack(context_, block_, &key, &size), "give a key of this process's memory");
    const std::vector<char> keys = gathered(all, key, size, longest_key);
    ucp_rkey_buffer_release(key);
    for (unsigned peer = 0; peer < all.size(); ++peer)
      if (!near[peer])
        connect_to(peer, &addresses[peer * longest_address], &keys[peer * longest_key]);
  }

  void connect_to(unsigned peer, const char* address, const char* key) {
    way_to_peer& way = ways_[peer];
    way.peer = peer;
    ucp_ep_params_t wanted{};
    wanted.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                        UCP_EP_PARAM_FIELD_ERR_HANDLER;
    wanted.address = reinterpret_cast<const ucp_address_t*>(address);
    wanted.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    wanted.err_handler.arg = &way;
    wanted.err_handler.cb = [](void* lost, ucp_ep_h, ucs_status_t why) {
      die_of_lost(static_cast<const way_to_peer*>(lost)->peer, why);
    };
    // A process that has died in the meantime refuses the connection at once.
    if (const ucs_status_t made = ucp_ep_create(outgoing_, &wanted, &way.endpoint); made != UCS_OK)
      die_of_lost(peer, made);
    require(ucp_ep_rkey_unpack(way.endpoint, key, &way.key), "use the key of another's memory");
  }

  static ucs_status_ptr_t begin_put(const way_to_peer& way, void* to, const void* from,
                                    std::size_t bytes) noexcept {
    const ucp_request_param_t plain{};
    return ucp_put_nbx(way.endpoint, from, bytes, reinterpret_cast<std::uint64_t>(to), way.key,
                       &plain);
  }

  // A request is null if the operation is done already, and else an error or a handle.
  void wait_for(ucs_status_ptr_t request, unsigned peer) noexcept {
    if (request == nullptr)
      return;
    if (UCS_PTR_IS_ERR(request))
      die_of_lost(peer, UCS_PTR_STATUS(request));
    ucs_status_t status = UCS_INPROGRESS;
    for (unsigned tries = 1; status == UCS_INPROGRESS; ++tries) {
      if (ucp_worker_progress(outgoing_) == 0)
        base::wait_briefly(tries);
      status = ucp_request_check_status(request);
    }
    ucp_request_free(request);
    if (status != UCS_OK)
      die_of_lost(peer, status);
  }

  const std::uintptr_t region_; // where tasks run, at the same address in all processes
  const ucp_context_h context_;
  const ucp_mem_h block_;
  const ucp_worker_h incoming_;
  const ucp_worker_h outgoing_;
  std::vector<way_to_peer> ways_; // set by the constructor, then constant
  // Of the last request for a steal: request_steal and, in a call of UCX within it, when_stolen
  // write both.
  bool answered_ = false;
  std::optional<segment> stolen_;
  std::optional<answering_thread> answers_;
};

} // namespace

bool has_ucx() noexcept { return true; }

std::unique_ptr<far_transport> connect_by_ucx(group& all, const layout& memory,
                                              const near_blocks& near) {
  return std::make_unique<ucx_transport>(all, memory, near);
}

} // namespace nopal::inline NOPAL_ABI::process
