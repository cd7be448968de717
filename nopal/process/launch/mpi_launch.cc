// SPDX-License-Identifier: MIT
// Processes that a launcher of MPI has begun. MPI gives them their numbers, and carries what they
// have to know of each other before they are connected. Then shared memory carries the data, and
// between machines UCX or messages of MPI.
//
// MPI may wait for ever for a process that has died. So the processes watch each other: at first
// by their launcher's children (beginning.h), then by connections (ring.h), until MPI has ended.
//
// Where no launcher has begun the process, it forks the others (local.cc).
#include "nopal/base/die.h"
#include "nopal/config.h"
#include "nopal/process/launch/addresses.h"
#include "nopal/process/launch/beginning.h"
#include "nopal/process/launch/known_mpis.h"
#include "nopal/process/launch/launch.h"
#include "nopal/process/launch/ring.h"
#include "nopal/process/launch/watch.h"
#include "nopal/process/transport/mpi_messages.h"
#include "nopal/process/transport/ucx.h"

#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <mutex>
#include <optional>
#include <string>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace nopal::inline NOPAL_ABI::process {
namespace {

const known_mpi& own_mpi() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int size = 0;
  MPI_Get_library_version(text, &size);
  return std::strstr(text, known_mpis[0].name) != nullptr ? known_mpis[0] : known_mpis[1];
}

bool is_begun_by(const known_mpi& mpi) noexcept {
  return std::getenv(mpi.size) != nullptr || std::getenv(mpi.number) != nullptr;
}

// Under the launcher of the other MPI each process would have a world of its own, and compute all
// by itself.
void refuse_wrong_launcher(const known_mpi& own) {
  for (const known_mpi& other : known_mpis) {
    const char* const size = std::getenv(other.size);
    if (&other != &own && size != nullptr && std::atoi(size) > 1)
      base::die("this process was begun by %s, and the program is linked with %s: begin it with %s",
                other.launcher, own.name, own.launcher);
  }
}

bool uses_ucx(engine carrier) noexcept {
  return carrier == engine::ucx || carrier == engine::ucx_messages;
}
bool needs_launcher(engine carrier) noexcept {
  return carrier != engine::best && carrier != engine::local;
}

constexpr unsigned end_limit_s = 10; // ample, since all processes have met before

// For a watch: ends the process if MPI_Finalize takes longer than the limit.
watch::watched limit_of_end() {
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  itimerspec once{};
  once.it_value.tv_sec = end_limit_s;
  timerfd_settime(timer, 0, &once, nullptr);
  return {timer, "MPI", []() -> watch::sign {
            base::die("MPI_Finalize has not returned within %u seconds after all processes had "
                      "come to it",
                      end_limit_s);
          }};
}

class mpi_launch final : public launch {
public:
  mpi_launch(const resolved_options& options, engine carrier) : carrier_{carrier} {
    const known_mpi& own = own_mpi();
    if (is_begun_by(own))
      begin_watched(own);
    initialise();
    MPI_Comm_dup(MPI_COMM_WORLD, &all_);
    MPI_Comm_rank(all_, &rank_);
    MPI_Comm_size(all_, &size_);
    if (options.processes > 1 && static_cast<int>(options.processes) != size_)
      base::die("NOPAL_PROCESSES or process::options::processes asks for %u processes, and the "
                "launcher of MPI has begun %d; leave the number to one of the two",
                options.processes, size_);
    if (static_cast<unsigned>(size_) > most_processes)
      base::die("%d processes were begun; at most %u are possible", size_, most_processes);
    std::vector<watch::watched> others = ring_.connect(*this);
    if (launcher_ >= 0)
      others.push_back({launcher_, "the launcher", [] { return watch::sign::dead; }});
    if (beginning_)
      beginning_->end();
    watch_.start(std::move(others));
  }
  ~mpi_launch() override { watch_.stop(); }

  unsigned rank() const noexcept override { return static_cast<unsigned>(rank_); }
  unsigned size() const noexcept override { return static_cast<unsigned>(size_); }

  const char* engine_name() const noexcept override { return name_of(carrier_); }

  void all_gather(const void* own, void* all, std::size_t bytes) override {
    const int count = static_cast<int>(bytes);
    MPI_Request gathering = MPI_REQUEST_NULL;
    {
      const std::lock_guard held{mpi_lock()};
      MPI_Iallgather(own, count, MPI_BYTE, all, count, MPI_BYTE, all_, &gathering);
    }
    wait_for([&] {
      int done = 0;
      MPI_Test(&gathering, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
  }

  std::unique_ptr<transport> connect(const layout& memory) override {
    const bool apart = carrier_ == engine::ucx_messages || carrier_ == engine::mpi_messages;
    auto made =
        connect_by_shared_memory(*this, memory, {.apart = apart}, [&](const near_blocks& near) {
          return uses_ucx(carrier_) ? connect_by_ucx(*this, memory, near)
                                    : connect_by_mpi_messages(memory);
        });
    connected_ = made.get();
    return made;
  }

  // MPI_Finalize of MPICH 4.0 asks the other processes something, and answers them until it has
  // their answers. A process that still answers by another call of MPI may never be answered
  // itself. So none calls MPI between the ring's meeting and MPI_Finalize. The others are watched
  // until MPI has ended, since MPI waits for them.
  int finish() noexcept override {
    if (connected_ != nullptr)
      connected_->close();
    MPI_Comm_free(&all_);
    ring_.meet();
    if (initialised_mpi_) {
      watch end;
      end.start({limit_of_end()});
      MPI_Finalize();
    }
    ring_.end_well();
    watch_.stop();
    return 0;
  }

private:
  // Until the ring is connected.
  void begin_watched(const known_mpi& mpi) {
    const pid_t launcher = process_that_set(mpi.number);
    launcher_ = static_cast<int>(syscall(SYS_pidfd_open, launcher, 0));
    const char* const processes = std::getenv(mpi.size_here);
    beginning_.emplace(launcher, processes != nullptr ? std::atoi(processes) : 0);
  }

  // With UCX the thread that runs tasks is the only one that calls MPI; else one more does
  // (mpi_messages.h).
  void initialise() {
    struct level {
      int value;
      const char* name;
    };
    constexpr level single{MPI_THREAD_SINGLE, "MPI_THREAD_SINGLE"};
    constexpr level funneled{MPI_THREAD_FUNNELED, "MPI_THREAD_FUNNELED"};
    constexpr level serialized{MPI_THREAD_SERIALIZED, "MPI_THREAD_SERIALIZED"};
    const level wanted = uses_ucx(carrier_) ? funneled : serialized;
    int before = 0;
    int got = single.value;
    MPI_Initialized(&before);
    initialised_mpi_ = before == 0;
    // Open MPI's shared memory leaves files behind when the launcher is killed, and saves little.
    setenv("OMPI_MCA_btl", "self,tcp", 0);
    if (initialised_mpi_)
      MPI_Init_thread(nullptr, nullptr, wanted.value, &got);
    else
      MPI_Query_thread(&got);
    if (got < wanted.value)
      base::die("MPI is needed with %s at least, and %s %s", wanted.name,
                initialised_mpi_ ? "offers only" : "the program has initialised it with",
                got == funneled.value ? funneled.name : single.name);
  }

  const engine carrier_;
  int rank_ = 0;
  int size_ = 1;
  MPI_Comm all_ = MPI_COMM_NULL;
  bool initialised_mpi_ = false;
  int launcher_ = -1; // a descriptor of the launcher, or of its daemon on this machine; -1: none
  std::optional<beginning> beginning_;
  transport* connected_ = nullptr;
  ring ring_;
  watch watch_;
};

} // namespace

std::unique_ptr<launch> begin_launch(const resolved_options& options, char** argv) {
  const known_mpi& own = own_mpi();
  int before = 0;
  MPI_Initialized(&before);
  const bool launched = is_begun_by(own) || before != 0;
  if (!launched)
    refuse_wrong_launcher(own);
  if (!launched && !needs_launcher(options.transport))
    return fork_processes(options);
  if (!launched && options.processes > 1)
    base::die("%u processes with the transport that is asked for are begun by %s",
              options.processes, own.launcher);
  if (options.transport == engine::local)
    base::die("the transport local is for processes that NOPAL_PROCESSES or "
              "process::options::processes begins, and this one was begun by a launcher of MPI; "
              "accepted are ucx, ucx_messages, mpi and mpi_messages");
  if (uses_ucx(options.transport) && !has_ucx())
    base::die("NOPAL_TRANSPORT or process::options::transport asks for %s, and this program was "
              "linked with a Nopal that was built without UCX; accepted are mpi and mpi_messages",
              name_of(options.transport));
  if (before == 0 && argv != nullptr)
    begin_anew_with_fixed_addresses(argv);
  if (before == 0)
    note_libraries();
  const engine best = has_ucx() ? engine::ucx : engine::mpi;
  return std::make_unique<mpi_launch>(options,
                                      options.transport == engine::best ? best : options.transport);
}

} // namespace nopal::inline NOPAL_ABI::process
