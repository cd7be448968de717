// SPDX-License-Identifier: MIT
// Processes that the program forks itself, where no launcher has begun it.
#include "nopal/base/check.h"
#include "nopal/base/die.h"
#include "nopal/base/os.h"
#include "nopal/base/sanitizer.h"
#include "nopal/config.h"
#include "nopal/process/launch/launch.h"
#include "nopal/process/launch/needs.h"
#include "nopal/process/launch/watch.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

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
  word died{0}; // which process, if process 0 ends because of that; the watch's thread writes it
  unsigned char given[most_local][most_gathered] = {};
};

// fork(2) copies the calling thread alone, and the libraries of the others would miss them.
void require_one_thread() {
  const std::filesystem::directory_iterator threads{"/proc/self/task"};
  const auto number = std::distance(begin(threads), end(threads));
  if (number > 1 && !base::a_tool_watches())
    base::die("the program has %td threads where process::session forks its processes, which would "
              "lack them: make the session before anything begins a thread (OpenMP does so in its "
              "first parallel region)",
              number);
}

// Process 0 begins the others and watches them, and they watch process 0. A process is watched from
// its first instruction: its parent gets a descriptor of it that tells of its end also if it has
// ended before, and it inherits one of its parent. All this is before anything waits or can fail.
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
    if (size_ > 1)
      begin_others();
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
    const far_engine none = [](const near_blocks&) -> std::unique_ptr<far_transport> {
      base::die("the processes cannot open each other's memory by /proc/<process>/fd, as they have "
                "to with the transport local");
    };
    return std::make_unique<transport>(*this, memory, sharing{latency_us_}, none);
  }

  void finish() noexcept override {
    // Before the others can see that this process ends.
    shared_->gone[rank_].store(1, base::release);
    watch_.stop();
    unsigned first_bad = 0;
    int how = 0;
    for (unsigned i = 1; i <= children_.size(); ++i) {
      int status = 0;
      while (waitpid(children_[i - 1], &status, 0) < 0 && errno == EINTR)
        ;
      if (status != 0 && first_bad == 0) {
        first_bad = i;
        how = status;
      }
    }
    munmap(shared_, sizeof(common));
    if (first_bad != 0 && WIFSIGNALED(how))
      base::die("process %u was ended by signal %d (%s) after its session", first_bad,
                WTERMSIG(how), strsignal(WTERMSIG(how)));
    if (first_bad != 0)
      base::die("process %u has exited with status %d", first_bad, WEXITSTATUS(how));
  }

private:
  void meet() noexcept {
    const std::uint32_t turn = shared_->arrived.fetch_add(1, base::acq_rel) / size_;
    for (unsigned tries = 1; shared_->arrived.load(base::acquire) / size_ == turn; ++tries)
      base::wait_briefly(tries);
  }

  void begin_others() {
    require_proc();
    // A descriptor of each other process; a pipe, this process's memory and another one's.
    require_files(size_ + 3, size_);
    require_one_thread();
    const int own = descriptor_of(getpid(), "process 0");
    std::vector<watch::watched> all;
    std::fflush(nullptr); // or each process would write what the streams hold
    for (unsigned rank = 1; rank < size_; ++rank) {
      const pid_t child = fork();
      if (child < 0)
        base::die("process %u of %u could not be begun: %s", rank, size_, std::strerror(errno));
      if (child == 0)
        return watch_process_0(rank, own, all);
      children_.push_back(child);
      const std::string whose = "process " + std::to_string(rank);
      all.push_back({descriptor_of(child, whose), whose, [this, rank] { return look_at(rank); }});
    }
    close(own);
    watch_.start(std::move(all));
  }

  void watch_process_0(unsigned rank, int process_0, const std::vector<watch::watched>& inherited) {
    rank_ = rank;
    children_.clear();
    for (const watch::watched& each : inherited)
      close(each.descriptor);
    watch_.start({{process_0, "process 0", [this] {
                     if (look_at(0) == watch::sign::ended_well)
                       return watch::sign::ended_well;
                     base::die(watch::sentence, shared_->died.load(base::acquire));
                   }}});
  }

  // Called by the watch's thread when the process has ended. Process 0 tells which has died.
  watch::sign look_at(unsigned rank) noexcept {
    if (shared_->gone[rank].load(base::acquire) != 0)
      return watch::sign::ended_well;
    if (rank != 0)
      shared_->died.store(rank, base::release);
    return watch::sign::dead;
  }

  const unsigned latency_us_;
  common* shared_ = nullptr;
  std::vector<pid_t> children_; // of process 0; then constant
  watch watch_;
};

} // namespace

std::unique_ptr<launch> fork_processes(const options& settings) {
  return std::make_unique<local_launch>(settings);
}

} // namespace nopal::inline NOPAL_ABI::process
