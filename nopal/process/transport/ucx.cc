// SPDX-License-Identifier: MIT
// UCX carries the data between machines whose adapters access memory by themselves (adapters.h), by
// its one-sided operations; keys guard the block, and steals are proved (sealed.h). On one machine
// the processes share memory, and UCX is not asked (shared_memory.h).
//
// Roles:     outgoing   a worker of UCX for what this process asks of others. The thread that runs
//                       tasks is its only user.
//            incoming   a worker of UCX for what others ask of this process. A thread of its own
//                       answers (ucx_answers.h).
#include "nopal/process/transport/ucx.h"

#include "nopal/base/die.h"
#include "nopal/base/os.h"
#include "nopal/config/environment.h"
#include "nopal/process/transport/adapters.h"
#include "nopal/process/transport/sealed.h"
#include "nopal/process/transport/steal_service.h"
#include "nopal/process/transport/tcp_messages.h"
#include "nopal/process/transport/ucx_answers.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <optional>
#include <ucp/api/ucp.h>
#include <ucs/debug/debug.h>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

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
  if (config::variable(chosen_transports) == nullptr)
    require(ucp_config_modify(config, "TLS", "ib"), "do with adapters alone");
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

// UCX's shared memory, by which tests have UCX carry data on one machine, notices none. The ring
// does in any case.
bool notices_deaths() noexcept {
  const char* const transports = config::variable(chosen_transports);
  return transports == nullptr || std::strstr(transports, "sysv") == nullptr;
}

struct way_to_peer {
  ucp_ep_h endpoint = nullptr;
  ucp_rkey_h key = nullptr;
  unsigned peer = 0;
  direction asks = {};
  direction answers = {};
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
      : key_{agree_on_secret(all)}, rank_{all.rank()}, memory_{memory}, context_{make_context()},
        block_{register_block(context_, memory)}, incoming_{make_worker(context_)},
        outgoing_{make_worker(context_)}, ways_(all.size()) {
    call_when_arrives(outgoing_, ucx_stolen, when_stolen, this);
    connect(all, near);
    answers_.emplace(incoming_, key_, all, memory_);
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
    parameters.flags = UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_EAGER;
    const steal_header asked{rank_, 0,
                             ways_[peer].asks.seal(request_for(operation::steal), nullptr)};
    answered_ = false;
    asked_ = peer;
    wait_for(ucp_am_send_nbx(ways_[peer].endpoint, ucx_steal, &asked, sizeof asked, nullptr, 0,
                             &parameters),
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

  static ucs_status_t when_stolen(void* to, const void* header, std::size_t header_bytes,
                                  void* message, std::size_t bytes,
                                  const ucp_am_recv_param_t* from) {
    auto* const self = static_cast<ucx_transport*>(to);
    direction& answers = self->ways_[self->asked_].answers;
    steal_header got;
    if (self->answered_ || !read_header(got, header, header_bytes, from) ||
        bytes != got.sealed.what.content || !answers.believes(got.sealed) ||
        (bytes != 0 && !answers.believes(got.sealed, message))) {
      turn_away(self->said_);
      return UCS_OK;
    }
    self->stolen_ = place_stolen(self->asked_, self->memory_, message, bytes);
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
    way.asks = direction_of(key_, side::asking, rank_, peer);
    way.answers = direction_of(key_, side::answering, rank_, peer);
    ucp_ep_params_t wanted{};
    wanted.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                        UCP_EP_PARAM_FIELD_ERR_HANDLER;
    wanted.address = reinterpret_cast<const ucp_address_t*>(address);
    wanted.err_mode = notices_deaths() ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
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

  const secret key_;
  const unsigned rank_;
  const layout memory_;
  const ucp_context_h context_;
  const ucp_mem_h block_;
  const ucp_worker_h incoming_;
  const ucp_worker_h outgoing_;
  std::vector<way_to_peer> ways_; // set by the constructor, then constant
  // Of the last request for a steal: request_steal and, in a call of UCX within it, when_stolen
  // write both.
  bool answered_ = true;
  unsigned asked_ = 0; // the victim
  std::optional<segment> stolen_;
  bool said_ = false; // that there was a stranger
  std::optional<ucx_answers> answers_;
};

} // namespace

bool has_ucx() noexcept { return true; }

std::unique_ptr<far_transport> connect_by_ucx(group& all, const layout& memory,
                                              const near_blocks& near, const hosts& chosen) {
  if (!all_access_memory(all))
    return connect_by_tcp_messages(all, memory, chosen);
  return std::make_unique<ucx_transport>(all, memory, near);
}

} // namespace nopal::inline NOPAL_ABI::process
