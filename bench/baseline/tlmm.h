// SPDX-License-Identifier: MIT
// The system calls of TLMM-Linux (cilk-m-pact10, Figure 6) as functions over a file in memory, on
// an unmodified kernel. Workers are processes that are forked after `memory` was made.
//
// A page descriptor is the number of a page of that file, so it means the same page in every
// process. The paper's kernel maps any array of descriptors in one crossing. Here one mmap maps a
// run: descriptors that follow one another, or addresses that are to have no page. Page by page, as
// the paper's section 7 expects it of processes, each page takes an mmap. Both count their calls.
//
// Errors are those of a system call: -1, PD_NULL or a null address, and errno. A call that fails
// with EINVAL has changed nothing.
// Thread rules: palloc and pfree at any time, from any process. A process reserves and maps for
// itself, by one thread at a time.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>
#include <system_error>

namespace bench::tlmm {

using pd_t = std::int64_t;
inline constexpr pd_t PD_NULL = -1;
inline constexpr std::size_t page_size = 4096;

enum class mapping { by_runs, page_wise };

class memory {
public:
  // At most so many descriptors exist at a time (the paper's kernel has 500).
  explicit memory(std::size_t most, mapping how = mapping::by_runs) : how_(how) {
    const std::size_t bytes = sizeof(table) + most * sizeof(pd_t);
    void* const shared =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    file_ = memfd_create("tlmm", MFD_CLOEXEC);
    if (shared == MAP_FAILED || file_ < 0 ||
        ftruncate(file_, static_cast<off_t>(most * page_size)) != 0)
      throw std::system_error(errno, std::generic_category(), "no file in memory");
    table_ = new (shared) table;
    table_->most = static_cast<pd_t>(most);
  }
  ~memory() {
    if (region_ != nullptr)
      munmap(region_, region_bytes_);
    close(file_);
    munmap(table_, sizeof(table) + static_cast<std::size_t>(table_->most) * sizeof(pd_t));
  }
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;

  // Marks n bytes, rounded up to pages, as the region that each process maps for itself. They have
  // no pages yet. EBUSY: there is a region already.
  void* reserve(std::size_t n) {
    const std::size_t bytes = (n + page_size - 1) / page_size * page_size;
    if (bytes == 0 || region_ != nullptr) {
      errno = bytes == 0 ? EINVAL : EBUSY;
      return nullptr;
    }
    void* const at =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
      return nullptr;
    region_ = static_cast<char*>(at);
    region_bytes_ = bytes;
    return region_;
  }

  // A page of zeros. ENOSPC: all descriptors are in use.
  pd_t palloc() {
    const locked guard{table_->lock};
    pd_t taken = table_->first_free;
    if (taken != PD_NULL) {
      table_->first_free = next(taken);
    } else if (table_->made < table_->most) {
      taken = table_->made++;
    } else {
      errno = ENOSPC;
      return PD_NULL;
    }
    next(taken) = in_use;
    return taken;
  }

  // The page's memory is given back. A process that has it mapped sees zeros there.
  int pfree(pd_t p) {
    const locked guard{table_->lock};
    if (!known(p))
      return failed(EINVAL);
    if (fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset_of(p), page_size) != 0)
      return -1;
    next(p) = table_->first_free;
    table_->first_free = p;
    return 0;
  }

  // Maps n pages, one behind the other, from address `a` of the region upwards. PD_NULL leaves an
  // address without a page.
  int pmap(const pd_t p[], std::size_t n, void* a) {
    char* const at = static_cast<char*>(a);
    if (!valid(p, n, at))
      return failed(EINVAL);
    for (std::size_t begin = 0, end = 0; begin < n; begin = end) {
      end = begin + 1;
      while (how_ == mapping::by_runs && end < n && follows(p[end - 1], p[end]))
        ++end;
      ++crossings_;
      if (!map(p[begin], end - begin, at + begin * page_size))
        return -1;
    }
    return 0;
  }

  // How often pmap of this process has called mmap.
  std::uint64_t crossings() const { return crossings_; }

private:
  static constexpr pd_t in_use = -2;

  // What all processes share. Behind it, for each descriptor: in_use, or the next free one.
  struct table {
    std::atomic_flag lock;
    pd_t most = 0;
    pd_t made = 0;
    pd_t first_free = PD_NULL;
  };
  struct locked {
    explicit locked(std::atomic_flag& lock) : lock_(lock) {
      while (lock_.test_and_set(std::memory_order_acquire)) {
      }
    }
    ~locked() { lock_.clear(std::memory_order_release); }
    std::atomic_flag& lock_;
  };

  static int failed(int why) {
    errno = why;
    return -1;
  }
  static off_t offset_of(pd_t p) { return static_cast<off_t>(p) * static_cast<off_t>(page_size); }
  static bool follows(pd_t before, pd_t p) {
    return before == PD_NULL ? p == PD_NULL : p == before + 1;
  }

  pd_t& next(pd_t p) { return reinterpret_cast<pd_t*>(table_ + 1)[p]; }
  bool known(pd_t p) { return p >= 0 && p < table_->made && next(p) == in_use; }

  bool valid(const pd_t p[], std::size_t n, const char* at) {
    const auto from = reinterpret_cast<std::uintptr_t>(at);
    const auto low = reinterpret_cast<std::uintptr_t>(region_);
    if (region_ == nullptr || from % page_size != 0 || from < low ||
        from + n * page_size > low + region_bytes_)
      return false;
    const locked guard{table_->lock};
    for (std::size_t i = 0; i < n; ++i)
      if (p[i] != PD_NULL && !known(p[i]))
        return false;
    return true;
  }

  bool map(pd_t first, std::size_t count, char* at) {
    const std::size_t bytes = count * page_size;
    if (first == PD_NULL)
      return mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
                  0) != MAP_FAILED;
    return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_,
                offset_of(first)) != MAP_FAILED;
  }

  mapping how_;
  int file_ = -1;
  table* table_ = nullptr;
  char* region_ = nullptr;
  std::size_t region_bytes_ = 0;
  std::uint64_t crossings_ = 0;
};

} // namespace bench::tlmm
