// SPDX-License-Identifier: MIT
// The messages, and the thread that polls.
#include "nopal/process/transport/mpi_messages.h"

#include "nopal/base/die.h"
#include "nopal/base/os.h"
#include "nopal/base/thread.h"
#include "nopal/process/transport/requests.h"
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

bool is_done(MPI_Request& begun, MPI_Status* status = MPI_STATUS_IGNORE) {
  int done = 0;
  require(MPI_Test(&begun, &done, status));
  return done != 0;
}

int bytes_of(const MPI_Status& received) {
  int bytes = 0;
  require(MPI_Get_count(&received, MPI_BYTE, &bytes));
  return bytes;
}

class mpi_messages final : public far_transport {
public:
  explicit mpi_messages(const layout& memory)
      : memory_{memory},
        stolen_{std::make_unique_for_overwrite<std::uint64_t[]>(in_words(most_stolen(memory)))} {
    require(MPI_Comm_dup(MPI_COMM_WORLD, &all_)); // apart from the program's own messages
    require(MPI_Comm_set_errhandler(all_, MPI_ERRORS_RETURN));
    thread_ = base::thread{"answers other processes", [this] { poll(); }, room_of_libraries};
  }

  void get(unsigned peer, void* to, const void* from, std::size_t bytes) override {
    const std::size_t got = exchange(peer, request_for(operation::get, from, bytes), to, bytes);
    if (got != bytes)
      base::die("process %u has answered a get of %zu bytes by %zu", peer, bytes, got);
  }
  void put(unsigned peer, void* to, const void* from, std::size_t bytes) override {
    exchange(peer, request_for(operation::put, to, bytes), nullptr, 0, from);
  }
  std::optional<segment> request_steal(unsigned peer) override {
    const std::size_t bytes =
        exchange(peer, request_for(operation::steal), stolen_.get(), most_stolen(memory_));
    return place_stolen(peer, memory_, stolen_.get(), bytes);
  }
  void progress() noexcept override {
    const lock held{mpi_lock()};
    turn();
  }
  void stop_thread() noexcept override {
    over_.store(1, base::relaxed);
    thread_.join();
  }
  // The thread goes on answering until all processes have come here, with nothing left to ask.
  void close() noexcept override {
    MPI_Request all_closing = MPI_REQUEST_NULL;
    {
      const lock held{mpi_lock()};
      require(MPI_Ibarrier(all_, &all_closing));
    }
    wait_for([&] { return is_done(all_closing); });
    stop_thread();
    while (!sent_.empty()) // the last answers, which this process gave
      turn();
    MPI_Comm_free(&all_);
  }

private:
  struct outgoing {
    MPI_Request sending;
    words message; // MPI reads it until it has been sent
  };

  // Sends a request and waits; returns how many bytes the answer has.
  std::size_t exchange(unsigned peer, const request& wanted, void* answer, std::size_t most,
                       const void* bytes = nullptr) {
    const std::size_t more = wanted.content;
    words message(in_words(sizeof wanted) + in_words(more));
    std::memcpy(message.data(), &wanted, sizeof wanted);
    if (more != 0)
      std::memcpy(&message[in_words(sizeof wanted)], bytes, more);
    const std::size_t size = sizeof wanted + more;
    MPI_Request answering = MPI_REQUEST_NULL;
    MPI_Status status{};
    {
      const lock held{mpi_lock()};
      require(MPI_Irecv(answer, static_cast<int>(most), MPI_BYTE, static_cast<int>(peer), answered,
                        all_, &answering));
      send(peer, asked, std::move(message), size);
    }
    wait_for([&] {
      if (is_done(answering, &status))
        return true;
      turn(); // or two processes that ask each other would both wait
      return false;
    });
    return static_cast<std::size_t>(bytes_of(status));
  }

  // The pause begins anew after a message, since others often follow, and doubles after each look
  // in vain.
  void poll() {
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

  // These are called under the lock.
  void send(unsigned peer, int tag, words message, std::size_t bytes) {
    outgoing& added = sent_.emplace_back(MPI_REQUEST_NULL, std::move(message));
    require(MPI_Isend(added.message.data(), static_cast<int>(bytes), MPI_BYTE,
                      static_cast<int>(peer), tag, all_, &added.sending));
  }

  // Receives and answers at most one request. False: none has arrived, or not all of it.
  bool turn() {
    sent_.remove_if([](outgoing& each) { return is_done(each.sending); });
    if (arriving_ == MPI_REQUEST_NULL) {
      int is_there = 0;
      MPI_Message found = MPI_MESSAGE_NULL;
      MPI_Status which{};
      require(MPI_Improbe(MPI_ANY_SOURCE, asked, all_, &is_there, &found, &which));
      if (is_there == 0)
        return false;
      const int bytes = bytes_of(which);
      size_ = static_cast<std::size_t>(bytes);
      if (size_ > sizeof(request) + memory_.size())
        base::die("process %d has sent a request of %zu bytes, more than its memory holds",
                  which.MPI_SOURCE, size_);
      arrived_.resize(in_words(size_));
      from_ = static_cast<unsigned>(which.MPI_SOURCE);
      require(MPI_Imrecv(arrived_.data(), bytes, MPI_BYTE, &found, &arriving_));
    }
    if (!is_done(arriving_))
      return false;
    answer();
    return true;
  }

  // An answer to a put has no content, and says that the put has been done.
  void answer() {
    request wanted;
    if (size_ < sizeof wanted)
      base::die("process %u has sent a request of %zu bytes; at least %zu are accepted", from_,
                size_, sizeof wanted);
    std::memcpy(static_cast<void*>(&wanted), arrived_.data(), sizeof wanted);
    require_well(from_, wanted, size_ - sizeof wanted, memory_);
    content done = execute(wanted, arrived_.data() + in_words(sizeof wanted), memory_);
    send(from_, answered, std::move(done.words), done.bytes);
  }

  const layout memory_;
  MPI_Comm all_ = MPI_COMM_NULL; // set before the thread begins
  // The thread that holds the lock writes and reads these.
  MPI_Request arriving_ = MPI_REQUEST_NULL; // of the request that fills `arrived_`
  words arrived_;
  std::size_t size_ = 0;     // of what arrives, in bytes
  unsigned from_ = 0;        // the process whose request arrives
  std::list<outgoing> sent_; // messages that MPI may not have sent yet
  // The answer to a request for a steal: at most an entry and a whole region. Only the thread that
  // runs tasks asks for one.
  const std::unique_ptr<std::uint64_t[]> stolen_; // its pages come when they are used
  word over_{0}; // set once by `close`; nobody reads other memory because of it
  base::thread thread_;
};

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
    idle_for_a_while(tries + 48); // it sleeps soon, since each look takes a microsecond or more
  }
}

std::unique_ptr<far_transport> connect_by_mpi_messages(const layout& memory) {
  return std::make_unique<mpi_messages>(memory);
}

} // namespace nopal::inline NOPAL_ABI::process
