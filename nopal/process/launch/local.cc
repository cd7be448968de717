// SPDX-License-Identifier: MIT
// Processes that the program forks itself, where no launcher has begun it.
#include "nopal/base/check.h"
#include "nopal/base/die.h"
#include "nopal/base/os.h"
#include "nopal/config.h"
#include "nopal/process/launch/launch.h"
#include "nopal/process/launch/watch.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nopal::inline NOPAL_ABI::process {
namespace {

constexpr unsigned most_local = 64;
constexpr std::size_t most_gathered = 1024;

// What the processes share from the beginning, before their blocks are connected.
//
// Invariant: arrived / size is how many meetings are over. A process writes its own element of each
//            array alone, and that of `given` only between a meeting after which all have read it
//            and the next one.
struct common {
  word arrived{0};
  word gone[most_local]{}; // each sets its own when it ends as it should
  pid_t pids[most_local] = {};
  unsigned char given[most_local][most_gathered] = {};
};

class local_launch final : public launch {
public:
  explicit local_launch(const options& settings)
      : launch{engine::local}, latency_us_{*settings.latency_us} {
    size_ = settings.processes;
    void* const memory =
        mmap(nullptr, sizeof(common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      base::die("%zu bytes of shared memory could not be mapped for the processes: %s",
                sizeof(common), std::strerror(errno));
    shared_ = std::construct_at(static_cast<common*>(memory));
    shared_->pids[0] = getpid();
    std::fflush(nullptr); // or each process would write what the streams hold
    for (unsigned rank = 1; rank < size_; ++rank) {
      const pid_t child = fork();
      if (child < 0)
        base::die("process %u of %u could not be begun: %s", rank, size_, std::strerror(errno));
      if (child == 0) {
        rank_ = rank;
        shared_->pids[rank] = getpid();
        break;
      }
    }
  }

  void all_gather(const void* own, void* all, std::size_t bytes) override {
    NOPAL_CHECK(bytes <= most_gathered);
    std::memcpy(shared_->given[rank_], own, bytes);
    meet();
    for (unsigned i = 0; i < size_; ++i)
      std::memcpy(static_cast<char*>(all) + i * bytes, shared_->given[i], bytes);
    meet();
  }

  std::unique_ptr<transport> connect(const layout& memory) override {
    meet(); // all numbers of processes are known
    watch_others();
    const far_engine none = [](const near_blocks&) -> std::unique_ptr<far_transport> {
      base::die("the processes cannot open each other's memory by /proc/<process>/fd, as they have "
                "to with the transport local");
    };
    return std::make_unique<transport>(*this, memory, sharing{latency_us_}, none);
  }

  int finish() noexcept override {
    // Before the others can see that this process ends.
    shared_->gone[rank_].store(1, base::release);
    watch_.stop();
    int worst = 0;
    for (unsigned i = 1; rank_ == 0 && i < size_; ++i) {
      int status = 0;
      waitpid(shared_->pids[i], &status, 0);
      worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : base::exit_status_died);
    }
    munmap(shared_, sizeof(common));
    return worst;
  }

private:
  void meet() noexcept {
    const std::uint32_t turn = shared_->arrived.fetch_add(1, base::acq_rel) / size_;
    for (unsigned tries = 1; shared_->arrived.load(base::acquire) / size_ == turn; ++tries)
      base::wait_briefly(tries);
  }

  void watch_others() {
    std::vector<watch::watched> all;
    for (unsigned i = 0; i < size_; ++i) {
      if (i == rank_)
        continue;
      const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, shared_->pids[i], 0));
      if (descriptor < 0)
        base::die("process %u has died before the computation has begun", i);
      all.push_back({descriptor, "process " + std::to_string(i), [this, i] {
                       return shared_->gone[i].load(base::acquire) != 0 ? watch::sign::ended_well
                                                                        : watch::sign::dead;
                     }});
    }
    watch_.start(std::move(all));
  }

  const unsigned latency_us_;
  common* shared_ = nullptr;
  watch watch_;
};

} // namespace

std::unique_ptr<launch> fork_processes(const options& settings) {
  return std::make_unique<local_launch>(settings);
}

} // namespace nopal::inline NOPAL_ABI::process
