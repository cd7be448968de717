// SPDX-License-Identifier: MIT
// The messages, and the thread that polls.
#include "nopal/process/transport/mpi_messages.h"

#include "nopal/base/die.h"
#include "nopal/base/os.h"
#include "nopal/base/thread.h"
#include "nopal/process/transport/direct.h"
#include "nopal/process/transport/steal_service.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <list>
#include <mpi.h>
#include <optional>
#include <utility>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

enum tag : int { asked, answered };

using lock = std::lock_guard<std::mutex>;
using words = std::vector<std::uint64_t>;

void require(int code) {
  if (code == MPI_SUCCESS)
    return;
  char why[MPI_MAX_ERROR_STRING];
  int size = 0;
  MPI_Error_string(code, why, &size);
  std::replace(why, why + size, '\n', ' ');
  base::die("another process cannot be reached any more (%s), so this process ends too", why);
}

bool is_done(MPI_Request& begun, MPI_Status* how = MPI_STATUS_IGNORE) {
  int done = 0;
  require(MPI_Test(&begun, &done, how));
  return done != 0;
}

int bytes_of(const MPI_Status& received) {
  int bytes = 0;
  require(MPI_Get_count(&received, MPI_BYTE, &bytes));
  return bytes;
}

constexpr std::size_t in_words(std::size_t bytes) noexcept {
  return (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
}

enum operation : std::uint64_t { gets, puts, steals, stores };

// What a process asks of another one; for a put the bytes follow.
struct request {
  operation kind;
  const void* at;            // in the block, which has the same address there
  std::uint64_t operand = 0; // a value, or how many bytes
};

class mpi_messages final : public far_transport {
public:
  explicit mpi_messages(const layout& memory)
      : region_{memory.region_at()}, stolen_(1 + in_words(memory.region_size)) {
    int size = 0;
    require(MPI_Comm_dup(MPI_COMM_WORLD, &all_)); // apart from the program's own messages
    require(MPI_Comm_set_errhandler(all_, MPI_ERRORS_RETURN));
    require(MPI_Comm_size(all_, &size));
    posted_to_.resize(static_cast<std::size_t>(size));
    thread_ = base::thread{"answers other processes", [this] { poll(); }, room_of_libraries};
  }

  void get(unsigned peer, void* to, const void* from, std::size_t bytes) override {
    exchange(peer, {gets, from, bytes}, to, bytes);
  }
  void put(unsigned peer, void* to, const void* from, std::size_t bytes) override {
    exchange(peer, {puts, to, bytes}, nullptr, 0, from);
  }
  std::optional<segment> request_steal(unsigned peer) override {
    const std::size_t most = stolen_.size() * sizeof stolen_[0];
    const std::size_t bytes = exchange(peer, {steals, nullptr}, stolen_.data(), most);
    return place_stolen(region_, stolen_.data(), bytes);
  }
  void post_store(unsigned peer, word& at, std::uint32_t value) override {
    const lock held{mpi_lock()};
    send_request(peer, {stores, &at, value});
    posted_to_[peer] = true;
  }
  void progress() noexcept override {
    const lock held{mpi_lock()};
    turn();
  }
  void flush() override;
  void close() noexcept override;

private:
  struct outgoing {
    MPI_Request sending;
    words message; // MPI reads it until it has been sent
  };

  // Sends a request and waits; returns how many bytes the answer has.
  std::size_t exchange(unsigned peer, const request& what, void* answer, std::size_t most,
                       const void* bytes = nullptr);
  void poll();

  // These are called under the lock.
  void send_request(unsigned peer, const request& what, const void* bytes = nullptr);
  void send(unsigned peer, int tag, words message, std::size_t bytes);
  bool turn();
  void answer();

  const std::uintptr_t region_; // where tasks run
  MPI_Comm all_ = MPI_COMM_NULL;
  MPI_Request arriving_ = MPI_REQUEST_NULL; // of the request that fills `arrived_`
  words arrived_;
  unsigned from_ = 0;        // the process whose request arrives
  std::list<outgoing> sent_; // what MPI has perhaps not sent yet
  words stolen_; // the answer to a request for a steal: at most an entry and a whole region
  std::vector<bool> posted_to_; // since the last flush, by process
  word over_{0};
  base::thread thread_;
};

// A peer answers in the order of requests. So its answer to a get says that it has done what was
// posted to it before.
void mpi_messages::flush() {
  for (unsigned peer = 0; peer < posted_to_.size(); ++peer) {
    if (!posted_to_[peer])
      continue;
    std::uint32_t any = 0;
    get(peer, &any, &control().queue.acknowledged, sizeof any);
    posted_to_[peer] = false;
  }
}

// The thread goes on answering until all processes have come here, with nothing left to ask.
void mpi_messages::close() noexcept {
  flush();
  MPI_Request all_closing = MPI_REQUEST_NULL;
  {
    const lock held{mpi_lock()};
    require(MPI_Ibarrier(all_, &all_closing));
  }
  wait_for([&] { return is_done(all_closing); });
  over_.store(1, base::relaxed);
  thread_.join();
  while (!sent_.empty()) // the last answers, which this process gave
    turn();
  MPI_Comm_free(&all_);
}

std::size_t mpi_messages::exchange(unsigned peer, const request& what, void* answer,
                                   std::size_t most, const void* bytes) {
  MPI_Request answering = MPI_REQUEST_NULL;
  MPI_Status how{};
  {
    const lock held{mpi_lock()};
    require(MPI_Irecv(answer, static_cast<int>(most), MPI_BYTE, static_cast<int>(peer), answered,
                      all_, &answering));
    send_request(peer, what, bytes);
  }
  wait_for([&] {
    if (is_done(answering, &how))
      return true;
    turn(); // or two processes that ask each other would both wait
    return false;
  });
  return static_cast<std::size_t>(bytes_of(how));
}

void mpi_messages::send_request(unsigned peer, const request& what, const void* bytes) {
  const std::size_t more = what.kind == puts ? what.operand : 0;
  words message(in_words(sizeof what) + in_words(more));
  std::memcpy(message.data(), &what, sizeof what);
  if (more != 0)
    std::memcpy(&message[in_words(sizeof what)], bytes, more);
  const std::size_t size = message.size() * sizeof message[0];
  send(peer, asked, std::move(message), size);
}

void mpi_messages::send(unsigned peer, int tag, words message, std::size_t bytes) {
  outgoing& added = sent_.emplace_back(MPI_REQUEST_NULL, std::move(message));
  require(MPI_Isend(added.message.data(), static_cast<int>(bytes), MPI_BYTE, static_cast<int>(peer),
                    tag, all_, &added.sending));
}

// Receives and answers at most one request. False: none has arrived, or not all of it.
bool mpi_messages::turn() {
  sent_.remove_if([](outgoing& each) { return is_done(each.sending); });
  if (arriving_ == MPI_REQUEST_NULL) {
    int is_there = 0;
    MPI_Message found = MPI_MESSAGE_NULL;
    MPI_Status which{};
    require(MPI_Improbe(MPI_ANY_SOURCE, asked, all_, &is_there, &found, &which));
    if (is_there == 0)
      return false;
    const int bytes = bytes_of(which);
    arrived_.resize(in_words(static_cast<std::size_t>(bytes)));
    from_ = static_cast<unsigned>(which.MPI_SOURCE);
    require(MPI_Imrecv(arrived_.data(), bytes, MPI_BYTE, &found, &arriving_));
  }
  if (!is_done(arriving_))
    return false;
  answer();
  return true;
}

// A store, which nobody waits for, has no answer.
void mpi_messages::answer() {
  request what{};
  std::memcpy(static_cast<void*>(&what), arrived_.data(), sizeof what);
  const direct_block own{block_at};
  void* const at = const_cast<void*>(what.at); // in this process's block
  words message;
  std::size_t bytes = 0;
  switch (what.kind) {
  case stores:
    return own.set(*static_cast<word*>(at), static_cast<std::uint32_t>(what.operand));
  case gets:
    bytes = what.operand;
    message.resize(in_words(bytes));
    own.get(message.data(), at, bytes);
    break;
  case puts:
    own.put(at, &arrived_[in_words(sizeof what)], what.operand);
    break;
  case steals:
    message = serve_steal(region_);
    bytes = message.size() * sizeof message[0];
    break;
  }
  send(from_, answered, std::move(message), bytes);
}

// The pause begins anew after a message, since others often follow, and doubles after each look in
// vain.
void mpi_messages::poll() {
  base::ask_for_short_turns();
  constexpr unsigned least_us = 50;
  constexpr unsigned most_us = 1000;
  for (unsigned pause_us = least_us; over_.load(base::relaxed) == 0;
       pause_us = std::min(2 * pause_us, most_us)) {
    {
      // If another thread calls MPI, that one takes the turns.
      const std::unique_lock held{mpi_lock(), std::try_to_lock};
      // A first call in vain may have read from the network what a second one finds.
      for (unsigned vain = 0; held && vain < 2; ++vain)
        while (turn())
          pause_us = least_us;
    }
    base::sleep_us(pause_us);
  }
}

} // namespace

std::mutex& mpi_lock() noexcept {
  static std::mutex lock_of_mpi;
  return lock_of_mpi;
}

void wait_for(const std::function<bool()>& is_done) {
  for (unsigned tries = 1;; ++tries) {
    {
      const lock held{mpi_lock()};
      if (is_done())
        return;
    }
    base::wait_briefly(tries);
  }
}

std::unique_ptr<far_transport> connect_by_mpi_messages(const layout& memory) {
  return std::make_unique<mpi_messages>(memory);
}

} // namespace nopal::inline NOPAL_ABI::process
