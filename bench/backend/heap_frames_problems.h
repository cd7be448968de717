// SPDX-License-Identifier: MIT
// fib, fibx, nqueens, cilksort, matmul, heat and captives with frames on the heap; sizes and
// verification are the shared ones. As in Cilk a function that spawns is itself spawned, never
// called.
//
// Each frame's `run` is both clones of its function: the fast one enters the switch at its top, and
// the slow one where it left off. What lives across a spawn is a member.
#pragma once

#include "bench/backend/heap_frames.h"
#include "bench/problems/captives.h"
#include "bench/problems/cilksort.h"
#include "bench/problems/fib.h"
#include "bench/problems/fibx.h"
#include "bench/problems/heat.h"
#include "bench/problems/matmul.h"
#include "bench/problems/nqueens.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace bench::heap_frames {

struct fib_frame : header {
  static long call(worker& self, long n) {
    return n < 2 ? n : heap_frames::call<fib_frame>(self, n);
  }
  template <bool Slow> long run(worker& self) {
    switch (Slow ? entry : 0) {
    default:
      BENCH_SPAWN(1, x, call, n - 1);
      BENCH_SPAWN(2, y, call, n - 2);
      BENCH_SYNC(3);
    }
    return self.end(this, x + y);
  }

  long n;
  long x = 0;
  long y = 0;
};

struct fibx_frame : header {
  static long call(worker& self, long n) {
    return n < 2 ? 1 : heap_frames::call<fibx_frame>(self, n);
  }
  template <bool Slow> long run(worker& self) {
    switch (Slow ? entry : 0) {
    default:
      BENCH_SPAWN(1, x, call, n - 1);
      BENCH_SPAWN(2, y, call, n - fibx_lag);
      BENCH_SYNC(3);
    }
    return self.end(this, x + y);
  }

  long n;
  long x = 0;
  long y = 0;
};

// The solutions that begin with the queens of rows 0 to row - 1, which `board` has.
struct extend_frame : header {
  static long place(worker& self, const signed char* above, int n, int row, int column) {
    for (int r = 0; r < row; ++r)
      if (attacks(row, column, r, above[r]))
        return 0;
    if (row + 1 == n)
      return 1;
    auto* const f = self.make<extend_frame>(n, row + 1);
    std::copy(above, above + row, f->board);
    f->board[row] = static_cast<signed char>(column);
    return f->run<false>(self);
  }
  template <bool Slow> long run(worker& self) {
    switch (Slow ? entry : 0) {
    default:
      for (; column < n; ++column) {
        BENCH_SPAWN(1, found[column], place, board, n, row, column);
      }
      BENCH_SYNC(2);
    }
    long sum = 0;
    for (int c = 0; c < n; ++c)
      sum += found[c];
    return self.end(this, sum);
  }

  int n;
  int row;
  int column = 0;
  signed char board[board_max] = {};
  long found[board_max] = {};
};

struct merge_frame : header {
  static long call(worker& self, const std::int32_t* x, std::ptrdiff_t x_count,
                   const std::int32_t* y, std::ptrdiff_t y_count, std::int32_t* out) {
    if (x_count + y_count < cilksort_serial_below) {
      merge_serially(x, x + x_count, y, y + y_count, out);
      return 0;
    }
    if (x_count < y_count) {
      std::swap(x, y);
      std::swap(x_count, y_count);
    }
    const std::ptrdiff_t y_half = std::lower_bound(y, y + y_count, x[x_count / 2]) - y;
    return heap_frames::call<merge_frame>(self, x, x_count, y, y_count, out, y_half);
  }
  template <bool Slow> long run(worker& self) {
    const std::ptrdiff_t x_half = x_count / 2;
    switch (Slow ? entry : 0) {
    default:
      BENCH_SPAWN_VOID(1, call, x, x_half, y, y_half, out);
      BENCH_SPAWN_VOID(2, call, x + x_half, x_count - x_half, y + y_half, y_count - y_half,
                       out + x_half + y_half);
      BENCH_SYNC(3);
    }
    return self.end(this, 0);
  }

  const std::int32_t* x;
  std::ptrdiff_t x_count;
  const std::int32_t* y;
  std::ptrdiff_t y_count;
  std::int32_t* out;
  std::ptrdiff_t y_half;
};

struct cilksort_frame : header {
  static long call(worker& self, std::int32_t* first, std::int32_t* scratch, std::ptrdiff_t count) {
    if (count >= cilksort_serial_below)
      return heap_frames::call<cilksort_frame>(self, first, scratch, count);
    cilksort_serially(first, count);
    return 0;
  }
  template <bool Slow> long run(worker& self) {
    const std::ptrdiff_t quarter = count / 4;
    const std::ptrdiff_t half = 2 * quarter;
    const std::ptrdiff_t third = half + quarter;
    const std::ptrdiff_t rest = count - third;
    switch (Slow ? entry : 0) {
    default:
      BENCH_SPAWN_VOID(1, call, first, scratch, quarter);
      BENCH_SPAWN_VOID(2, call, first + quarter, scratch + quarter, quarter);
      BENCH_SPAWN_VOID(3, call, first + half, scratch + half, quarter);
      BENCH_SPAWN_VOID(4, call, first + third, scratch + third, rest);
      BENCH_SYNC(5);
      BENCH_SPAWN_VOID(6, merge_frame::call, first, quarter, first + quarter, quarter, scratch);
      BENCH_SPAWN_VOID(7, merge_frame::call, first + half, quarter, first + third, rest,
                       scratch + half);
      BENCH_SYNC(8);
      BENCH_SPAWN_VOID(9, merge_frame::call, scratch, half, scratch + half, count - half, first);
      BENCH_SYNC(10);
    }
    return self.end(this, 0);
  }

  std::int32_t* first;
  std::int32_t* scratch;
  std::ptrdiff_t count;
};

struct matmul_frame : header {
  static long call(worker& self, const float* a, const float* b, float* c, std::ptrdiff_t n,
                   std::ptrdiff_t stride) {
    if (n > 2)
      return heap_frames::call<matmul_frame>(self, a, b, c, n, stride);
    multiply_2x2(a, b, c, stride);
    return 0;
  }
  // All quadrants' first products, then their second ones.
  template <bool Slow> long run(worker& self) {
    const std::ptrdiff_t half = n / 2;
    const std::ptrdiff_t below = half * stride;
    const auto product = [this, half](worker& on, std::ptrdiff_t of_a, std::ptrdiff_t of_b,
                                      std::ptrdiff_t of_c) {
      call(on, a + of_a, b + of_b, c + of_c, half, stride);
    };
    switch (Slow ? entry : 0) {
    default:
      BENCH_SPAWN_VOID(1, product, 0, 0, 0);
      BENCH_SPAWN_VOID(2, product, 0, half, half);
      BENCH_SPAWN_VOID(3, product, below, 0, below);
      BENCH_SPAWN_VOID(4, product, below, half, below + half);
      BENCH_SYNC(5);
      BENCH_SPAWN_VOID(6, product, half, below, 0);
      BENCH_SPAWN_VOID(7, product, half, below + half, half);
      BENCH_SPAWN_VOID(8, product, below + half, below, below);
      BENCH_SPAWN_VOID(9, product, below + half, below + half, below + half);
      BENCH_SYNC(10);
    }
    return self.end(this, 0);
  }

  const float* a;
  const float* b;
  float* c;
  std::ptrdiff_t n;
  std::ptrdiff_t stride;
};

struct diffuse_frame : header {
  static long call(worker& self, const heat_step* step, std::ptrdiff_t first, std::ptrdiff_t last) {
    if (last - first > 1)
      return heap_frames::call<diffuse_frame>(self, step, first, last);
    diffuse_row(step, first);
    return 0;
  }
  template <bool Slow> long run(worker& self) {
    const std::ptrdiff_t middle = first + (last - first) / 2;
    switch (Slow ? entry : 0) {
    default:
      BENCH_SPAWN_VOID(1, call, step, first, middle);
      BENCH_SPAWN_VOID(2, call, step, middle, last);
      BENCH_SYNC(3);
    }
    return self.end(this, 0);
  }

  const heat_step* step;
  std::ptrdiff_t first;
  std::ptrdiff_t last;
};

struct descend_frame : header {
  static long pause(worker&, long us) { return brief_child(us); }
  static long call(worker& self, int levels, long end_us) {
    return levels == 0 ? pause_for(end_us) : heap_frames::call<descend_frame>(self, levels, end_us);
  }
  template <bool Slow> long run(worker& self) {
    switch (Slow ? entry : 0) {
    default:
      BENCH_SPAWN(1, child, pause, descent::child_us);
      own = pause_for(descent::step_us);
      BENCH_SPAWN(2, below, call, levels - 1, end_us);
      BENCH_SYNC(3);
    }
    return self.end(this, child + own + below);
  }

  int levels;
  long end_us;
  long child = 0;
  long own = 0;
  long below = 0;
};

// What is a serial function elsewhere must be written anew too, since it calls what spawns.
struct descend_below_frame : header {
  static long call(worker& self, long pages, int levels, long end_us) {
    return pages == 0 ? descend_frame::call(self, levels, end_us)
                      : heap_frames::call<descend_below_frame>(self, pages, levels, end_us);
  }
  template <bool Slow> long run(worker& self) {
    switch (Slow ? entry : 0) {
    default:
      BENCH_SPAWN(1, below, call, pages - 1, levels, end_us);
      BENCH_SYNC(2);
    }
    return self.end(this, below);
  }

  long pages;
  int levels;
  long end_us;
  long below = 0;
  struct unused { // what the serial function has on the stack
    unused() {}
    char bytes[3900];
  } page = {};
};

struct spine_frame : header {
  template <bool Slow> long run(worker& self) {
    switch (Slow ? entry : 0) {
    default:
      for (; begun < chains; ++begun) {
        BENCH_SPAWN(1, paused_us[begun], descend_below_frame::call, pages, levels, end_us);
        along += pause_for(gap_us);
      }
      BENCH_SYNC(2);
    }
    return self.end(this, std::accumulate(paused_us, paused_us + chains, along));
  }

  long* paused_us;
  long chains;
  long pages;
  int levels;
  long end_us;
  long gap_us;
  long begun = 0;
  long along = 0;
};

} // namespace bench::heap_frames

namespace bench::on_heap_frames {

class fib_problem : public bench::fib_problem {
public:
  using bench::fib_problem::fib_problem;
  void compute() {
    result_ = runtime::first->execute(
        [this](heap_frames::worker& self) { return heap_frames::fib_frame::call(self, n_); });
  }
};

class fibx_problem : public bench::fibx_problem {
public:
  using bench::fibx_problem::fibx_problem;
  void compute() {
    result_ = runtime::first->execute(
        [this](heap_frames::worker& self) { return heap_frames::fibx_frame::call(self, n_); });
  }
};

class nqueens_problem : public bench::nqueens_problem {
public:
  using bench::nqueens_problem::nqueens_problem;
  void compute() {
    result_ = static_cast<int>(runtime::first->execute([this](heap_frames::worker& self) {
      return heap_frames::call<heap_frames::extend_frame>(self, known_.n, 0);
    }));
  }
};

class cilksort_problem : public bench::cilksort_problem {
public:
  using bench::cilksort_problem::cilksort_problem;
  void compute() {
    runtime::first->execute([this](heap_frames::worker& self) {
      return heap_frames::cilksort_frame::call(self, values_.data(), scratch_.data(),
                                               static_cast<std::ptrdiff_t>(values_.size()));
    });
  }
};

class matmul_problem : public bench::matmul_problem {
public:
  using bench::matmul_problem::matmul_problem;
  void compute() {
    const auto n = static_cast<std::ptrdiff_t>(n_);
    runtime::first->execute([this, n](heap_frames::worker& self) {
      return heap_frames::matmul_frame::call(self, a_.data(), b_.data(), c_.data(), n, n);
    });
  }
};

class heat_problem : public bench::heat_problem {
public:
  using bench::heat_problem::heat_problem;
  void compute() {
    for (int t = 0; t < steps; ++t) {
      const heat_step step{grid_.data(), next_.data(), columns_, across, down};
      runtime::first->execute([this, &step](heap_frames::worker& self) {
        return heap_frames::diffuse_frame::call(self, &step, 1, rows_ - 1);
      });
      grid_.swap(next_);
    }
  }
};

class captives_problem : public bench::captives_problem {
public:
  using bench::captives_problem::captives_problem;
  void compute() {
    result_us_ = runtime::first->execute([this](heap_frames::worker& self) {
      return heap_frames::call<heap_frames::spine_frame>(self, paused_us_.data(), chains_, pages,
                                                         levels, end_us, gap_us);
    });
  }
};

} // namespace bench::on_heap_frames
