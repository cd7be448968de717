// SPDX-License-Identifier: MIT
// MPI carries the data, where UCX is not to be had or not wanted: by a window of shared memory
// between processes of one machine, by messages (mpi_messages.h) between machines.
//
// Each process has its part of its machine's window, and maps it once more, at the block's address.
// MPI gives the parts of the others, which are used directly. A part has a page more than the
// block, since MPI does not begin it on a page; it is at the same place in its page in every
// process. MPI-3's unified memory model, which is required, makes a processor's own instructions
// see all of them alike.
#include "nopal/base/die.h"
#include "nopal/config.h"
#include "nopal/process/transport/engines.h"
#include "nopal/process/transport/mpi_messages.h"
#include "nopal/process/transport/near_or_far.h"

#include <cerrno>
#include <cstring>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

// The processes with which this one shares memory.
MPI_Comm those_of_this_machine(bool all_apart) {
  int rank = 0;
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (all_apart)
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &machine);
  else
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
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

// This process's block, and those of the others of its machine.
class shared_blocks {
public:
  shared_blocks(const layout& as, bool all_apart)
      : machine_{those_of_this_machine(all_apart)}, bytes_{as.size()} {
    int all = 0;
    int here = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_size(machine_, &here);
    near_.resize(static_cast<std::size_t>(all));
    if (here == 1)
      map_alone(bytes_);
    else
      make_window(here);
    MPI_Barrier(MPI_COMM_WORLD); // every block is there before somebody is asked for it
  }
  ~shared_blocks() { munmap(reinterpret_cast<void*>(block_at), bytes_); }
  shared_blocks(const shared_blocks&) = delete;
  shared_blocks& operator=(const shared_blocks&) = delete;

  // By process; none: elsewhere.
  const std::vector<direct_block>& near() const noexcept { return near_; }

  void close() noexcept {
    if (window_ != MPI_WIN_NULL) {
      MPI_Win_unlock_all(window_);
      MPI_Win_free(&window_);
    }
    MPI_Comm_free(&machine_);
  }

private:
  void make_window(int here) {
    void* own = nullptr;
    window_ = allocate(machine_, bytes_ + base::page_size(), own);
    map_again(on_a_page(own), bytes_);
    std::memset(reinterpret_cast<void*>(block_at), 0, bytes_);
    int rank = 0;
    std::vector<int> ranks(static_cast<std::size_t>(here));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allgather(&rank, 1, MPI_INT, ranks.data(), 1, MPI_INT, machine_);
    for (int i = 0; i < here; ++i) {
      const int peer = ranks[static_cast<std::size_t>(i)];
      if (peer == rank)
        continue;
      MPI_Aint bytes = 0;
      int unit = 0;
      void* part = nullptr;
      MPI_Win_shared_query(window_, i, &bytes, &unit, static_cast<void*>(&part));
      near_[static_cast<std::size_t>(peer)] = direct_block{on_a_page(part)};
    }
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    MPI_Win_sync(window_);
  }

  MPI_Comm machine_;
  const std::size_t bytes_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<direct_block> near_;
};

class mpi_transport final : private shared_blocks, public near_or_far {
public:
  mpi_transport(const layout& as, bool all_apart)
      : shared_blocks{as, all_apart},
        near_or_far{"mpi", near(),
                    some_lack(near()) ? connect_by_mpi_messages(as.region_size) : nullptr} {}

  void close() noexcept override {
    near_or_far::close();
    shared_blocks::close();
  }
};

} // namespace

std::unique_ptr<transport> connect_by_mpi(const layout& as, bool all_apart) {
  return std::make_unique<mpi_transport>(as, all_apart);
}

} // namespace nopal::inline NOPAL_ABI::process
