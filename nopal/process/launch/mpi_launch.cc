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
#include "nopal/config/environment.h"
#include "nopal/process/launch/addresses.h"
#include "nopal/process/launch/agreement.h"
#include "nopal/process/launch/beginning.h"
#include "nopal/process/launch/known_mpis.h"
#include "nopal/process/launch/launch.h"
#include "nopal/process/launch/needs.h"
#include "nopal/process/launch/ring.h"
#include "nopal/process/launch/watch.h"
#include "nopal/process/transport/mpi_messages.h"
#include "nopal/process/transport/ucx.h"

#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <mutex>
#include <string>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

const known_mpi& own_mpi() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int size = 0;
  MPI_Get_library_version(text, &size);
  return std::strstr(text, known_mpis[0].name) != nullptr ? known_mpis[0] : known_mpis[1];
}

bool uses_ucx(engine carrier) noexcept {
  return carrier == engine::ucx || carrier == engine::ucx_messages;
}

constexpr const char* name_of_level[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED",
                                         "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"};
static_assert(MPI_THREAD_SINGLE == 0 && MPI_THREAD_MULTIPLE == 3);

constexpr int end_limit_s = 60; // ample, since all processes have met before

class mpi_launch final : public launch {
public:
  // `mpi` is null if no launcher has begun the process: the program has initialised MPI.
  mpi_launch(const options& settings, engine carrier, const known_mpi* mpi, bool initialised)
      : launch{carrier}, initialises_mpi_{!initialised} {
    const pid_t launcher = mpi != nullptr ? process_that_set(mpi->number) : 0;
    watch until_connected;
    if (mpi != nullptr)
      until_connected.start({watched(launcher)}, look_every_ms, look_at_children(*mpi, launcher));
    const int wanted = uses_ucx(carrier_) ? MPI_THREAD_FUNNELED : MPI_THREAD_SERIALIZED;
    const int got = initialise(wanted);
    find_place(settings.processes);
    require_agreement(*this, settings, carrier, name_of_level[got]);
    if (got < wanted)
      base::die("MPI is needed with %s at least, and %s %s", name_of_level[wanted],
                initialises_mpi_ ? "offers only" : "the program has initialised it with",
                name_of_level[got]);
    std::vector<watch::watched> others = ring_.connect(*this, settings.interfaces);
    if (mpi != nullptr)
      others.push_back(watched(launcher));
    for (const watch::watched& each : others)
      watched_.push_back(each.descriptor);
    watch_.start(std::move(others));
  }
  ~mpi_launch() override { watch_.stop(); }

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
    const far_engine between_machines = [&](const near_blocks& near) {
      return uses_ucx(carrier_) ? connect_by_ucx(*this, memory, near, ring_.addresses())
                                : connect_by_mpi_messages(memory);
    };
    auto made =
        std::make_unique<transport>(*this, memory, sharing{.apart = apart}, between_machines);
    connected_ = made.get();
    return made;
  }

  // MPI_Finalize of MPICH 4.0 asks the other processes something, and answers them until it has
  // their answers. A process that still answers by another call of MPI may never be answered
  // itself. So none calls MPI between the ring's meeting and MPI_Finalize. The others are watched
  // until MPI has ended, since MPI waits for them.
  void finish() noexcept override {
    if (connected_ != nullptr)
      connected_->close();
    MPI_Comm_free(&all_);
    ring_.meet();
    watch limit;
    limit.start({}, 1000 * end_limit_s, [] {
      base::die(
          "MPI_Finalize has not returned within %d seconds after all processes had come to it",
          end_limit_s);
    });
    if (initialises_mpi_)
      MPI_Finalize();
    ring_.end_well();
    watched_.clear(); // the watch closes them
    watch_.stop();
  }

private:
  // The launcher, or its daemon on this machine.
  static watch::watched watched(pid_t launcher) {
    return {descriptor_of(launcher, "the launcher"), "the launcher",
            [] { return watch::sign::dead; }};
  }

  // UCX's shared memory is too large for a /dev/shm of 64 MB, a container's default; and it may be
  // read-only.
  static bool has_small_shared_memory() {
    constexpr std::uint64_t enough = std::uint64_t{1} << 30;
    struct statvfs there{};
    return access("/dev/shm", W_OK) != 0 || statvfs("/dev/shm", &there) != 0 ||
           there.f_blocks * there.f_frsize < enough;
  }

  // With UCX the thread that runs tasks is the only one that calls MPI; else one more does
  // (mpi_messages.h). Returns the level of threads that MPI has.
  int initialise(int wanted) {
    int got = MPI_THREAD_SINGLE;
    // Open MPI's own leaves files behind when the launcher is killed, and saves little.
    setenv("OMPI_MCA_btl", "self,tcp", 0);
    if (has_small_shared_memory())
      setenv("UCX_TLS", "^shm", 0);
    if (initialises_mpi_)
      MPI_Init_thread(nullptr, nullptr, wanted, &got);
    else
      MPI_Query_thread(&got);
    return got;
  }

  // Asks MPI for the number of this process, and how many there are.
  void find_place(unsigned asked) {
    int rank = 0;
    int size = 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &all_);
    MPI_Comm_rank(all_, &rank);
    MPI_Comm_size(all_, &size);
    rank_ = static_cast<unsigned>(rank);
    size_ = static_cast<unsigned>(size);
    if (asked > 1 && asked != size_)
      base::die("NOPAL_PROCESSES or process::options::processes asks for %u processes, and the "
                "launcher of MPI has begun %u; leave the number to one of the two",
                asked, size_);
    if (size_ > most_processes)
      base::die("%u processes were begun; at most %u are possible", size_, most_processes);
  }

  const bool initialises_mpi_; // then this object also ends MPI
  MPI_Comm all_ = MPI_COMM_NULL;
  transport* connected_ = nullptr; // set by `connect`; `finish` closes it
  ring ring_;
  watch watch_;
};

} // namespace

std::unique_ptr<launch> begin_launch(const options& settings) {
  const known_mpi& own = own_mpi();
  int before = 0;
  int after = 0;
  MPI_Initialized(&before);
  MPI_Finalized(&after);
  if (after != 0)
    base::die("MPI has ended, with the session before or by the program: a program that makes "
              "several sessions initialises and ends MPI itself");
  const bool begun =
      config::variable(own.size) != nullptr || config::variable(own.number) != nullptr;
  const bool launched = begun || before != 0;
  // Under the launcher of the other MPI each process would have a world of its own, and compute all
  // by itself.
  if (const known_mpi* const other = mpi_of_several(); !launched && other != nullptr)
    base::die("this process was begun by %s, and the program is linked with %s: begin it with %s",
              other->launcher, own.name, own.launcher);
  if (!launched && (settings.transport == engine::best || settings.transport == engine::local))
    return fork_processes(settings);
  if (!launched && settings.processes > 1)
    base::die("%u processes with the transport that is asked for are begun by %s",
              settings.processes, own.launcher);
  if (settings.transport == engine::local)
    base::die("the transport local is for processes that NOPAL_PROCESSES or "
              "process::options::processes begins, and this one was begun by a launcher of MPI; "
              "accepted are ucx, ucx_messages, mpi and mpi_messages");
  if (uses_ucx(settings.transport) && !has_ucx())
    base::die("NOPAL_TRANSPORT or process::options::transport asks for %s, and this program was "
              "linked with a Nopal that was built without UCX; accepted are mpi and mpi_messages",
              name_of(settings.transport));
  require_proc();
  if (before == 0) {
    require_files_of_mpi(own);
    if (&own == &known_mpis[1])
      require_shared_files_of_mpich();
    remove_what_killed_processes_left();
    note_libraries();
  }
  const engine best = has_ucx() ? engine::ucx : engine::mpi;
  return std::make_unique<mpi_launch>(
      settings, settings.transport == engine::best ? best : settings.transport,
      begun ? &own : nullptr, before != 0);
}

} // namespace nopal::inline NOPAL_ABI::process
