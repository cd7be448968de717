// SPDX-License-Identifier: MIT
// OpenBLAS, which has threads of its own, called by leaves.
#include "tests/interop/foreign.h"

#include "nopal/loop.h"

#include <cblas.h>

#include <vector>

namespace {

constexpr int kOrder = 96;

// (a b)[i][j] where a[i][k] = i and b[k][j] = j
bool leaf(int number) {
  const auto order = static_cast<std::size_t>(kOrder);
  std::vector<double> a(order * order);
  std::vector<double> b(order * order);
  std::vector<double> c(order * order);
  for (std::size_t i = 0; i < order; ++i)
    for (std::size_t j = 0; j < order; ++j) {
      a[i * order + j] = static_cast<double>(i);
      b[i * order + j] = static_cast<double>(j);
    }
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, kOrder, kOrder, kOrder, number, a.data(),
              kOrder, b.data(), kOrder, 0, c.data(), kOrder);
  for (std::size_t i = 0; i < order; ++i)
    for (std::size_t j = 0; j < order; ++j)
      if (c[i * order + j] != static_cast<double>(i * j * order) * number)
        return false;
  return true;
}

bool run_leaves() {
  std::atomic<bool> right{true};
  nopal::for_index(
      0, 8,
      [&right](int i) {
        if (nopal_interop::work(5) != nopal_interop::expected(5) || !leaf(i + 1))
          right = false;
      },
      1);
  return right;
}

} // namespace

int main(int count, char** arguments) {
  return nopal_interop::main_of(count, arguments, {{"cblas_dgemm in leaves", run_leaves, false}});
}
