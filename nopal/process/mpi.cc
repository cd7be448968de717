// SPDX-License-Identifier: MIT
// MPI carries the data, by a window of shared memory: for processes on one machine, where UCX is
// not to be had or not wanted.
//
// Each process has its part of the window, and maps it once more, at the block's address. MPI gives
// the parts of the others, which are used directly. A part has a page more than the block, since
// MPI does not begin it on a page; it is at the same place in its page in every process. MPI-3's
// unified memory model, which is required, makes a processor's own instructions see all of them
// alike; nobody calls MPI while tasks run.
//
// Between machines MPI's one-sided operations would have to be atomic to the owner's instructions
// (queue.h), which MPI promises nowhere, and Debian's MPIs would need a thread that calls them all
// the time. So that is left to UCX.
#include "nopal/base/die.h"
#include "nopal/config.h"
#include "nopal/process/direct.h"
#include "nopal/process/engines.h"

#include <cerrno>
#include <cstring>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

// The processes of this machine, which have to be all.
MPI_Comm all_of_one_machine() {
  int all = 0;
  int here = 0;
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  MPI_Comm_size(machine, &here);
  if (here != all)
    base::die("the transport mpi is for processes on one machine, and %d of %d are on this one; "
              "accepted is ucx, where Nopal was built with it",
              here, all);
  return machine;
}

MPI_Win allocate(MPI_Comm machine, std::size_t bytes, void*& own) {
  MPI_Info wanted = MPI_INFO_NULL;
  MPI_Info_create(&wanted);
  MPI_Info_set(wanted, "alloc_shared_noncontig", "true"); // each part on pages of its own
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, wanted, machine, &own, &window);
  MPI_Info_free(&wanted);
  int* model = nullptr;
  int known = 0;
  MPI_Win_get_attr(window, MPI_WIN_MODEL, static_cast<void*>(&model), &known);
  if (known == 0 || *model != MPI_WIN_UNIFIED)
    base::die("the transport mpi needs an MPI with the unified memory model");
  return window;
}

std::uintptr_t on_a_page(const void* part) noexcept {
  return layout::pages(reinterpret_cast<std::uintptr_t>(part));
}

// The same memory at the block's address. By a system call, since UCX puts a function of its own in
// the place of mremap, which MPICH brings.
void map_again(std::uintptr_t own, std::size_t bytes) {
  void* const block = reinterpret_cast<void*>(block_at);
  if (mmap(block, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) !=
          block ||
      syscall(SYS_mremap, own, std::size_t{0}, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, block) !=
          static_cast<long>(block_at))
    base::die("MPI's memory of %zu bytes could not be mapped at the address that all processes "
              "have: %s",
              bytes, std::strerror(errno));
}

// MPI gives a process that is alone memory that cannot be mapped again; others do not need it.
void map_alone(std::size_t bytes) {
  if (mmap(reinterpret_cast<void*>(block_at), bytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
           0) != reinterpret_cast<void*>(block_at))
    base::die("%zu bytes of memory could not be mapped for the tasks: %s", bytes,
              std::strerror(errno));
}

class mpi_transport final : public transport {
public:
  explicit mpi_transport(const layout& as) : machine_{all_of_one_machine()}, bytes_{as.size()} {
    int size = 0;
    MPI_Comm_size(machine_, &size);
    if (size == 1)
      map_alone(bytes_);
    else
      make_window(size);
  }
  ~mpi_transport() override { munmap(reinterpret_cast<void*>(block_at), bytes_); }

  const char* name() const noexcept override { return "mpi"; }

  void get(unsigned peer, void* to, const void* from, std::size_t bytes) override {
    parts_[peer].get(to, from, bytes);
  }
  void put(unsigned peer, void* to, const void* from, std::size_t bytes) override {
    parts_[peer].put(to, from, bytes);
  }
  std::uint32_t compare_swap(unsigned peer, word& at, std::uint32_t expected,
                             std::uint32_t desired) override {
    return parts_[peer].compare_swap(at, expected, desired);
  }
  std::uint32_t add(unsigned peer, word& at, std::uint32_t by) override {
    return parts_[peer].add(at, by);
  }
  std::uint32_t compare_swap_and_get(unsigned peer, word& at, std::uint32_t expected,
                                     std::uint32_t desired, void* to, const void* from,
                                     std::size_t bytes) override {
    return parts_[peer].compare_swap_and_get(at, expected, desired, to, from, bytes);
  }
  void post_store(unsigned peer, word& at, std::uint32_t value) override {
    parts_[peer].set(at, value);
  }
  void post_add(unsigned peer, word& at, std::uint32_t by) override { parts_[peer].add(at, by); }
  void close() noexcept override {
    if (window_ != MPI_WIN_NULL) {
      MPI_Win_unlock_all(window_);
      MPI_Win_free(&window_);
    }
    MPI_Comm_free(&machine_);
  }

private:
  void make_window(int size) {
    void* own = nullptr;
    window_ = allocate(machine_, bytes_ + base::page_size(), own);
    map_again(on_a_page(own), bytes_);
    std::memset(reinterpret_cast<void*>(block_at), 0, bytes_);
    for (int peer = 0; peer < size; ++peer) {
      MPI_Aint bytes = 0;
      int unit = 0;
      void* part = nullptr;
      MPI_Win_shared_query(window_, peer, &bytes, &unit, static_cast<void*>(&part));
      parts_.emplace_back(on_a_page(part));
    }
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    MPI_Win_sync(window_);
    MPI_Barrier(machine_);
  }

  MPI_Comm machine_;
  const std::size_t bytes_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<direct_block> parts_;
};

} // namespace

std::unique_ptr<transport> connect_by_mpi(const layout& as) {
  return std::make_unique<mpi_transport>(as);
}

} // namespace nopal::inline NOPAL_ABI::process
