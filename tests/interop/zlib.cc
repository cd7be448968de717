// SPDX-License-Identifier: MIT
// zlib, called by leaves. It calls no function of Nopal's, but its callers are strands.
#include "tests/interop/foreign.h"

#include "nopal/loop.h"

#include <zlib.h>

#include <string>
#include <vector>

namespace {

bool leaf(int number) {
  std::string text;
  for (int i = 0; i < 2000; ++i)
    text += std::to_string(i * number) + ' ';
  uLongf size = compressBound(text.size());
  std::vector<Bytef> packed(size);
  const auto* const bytes = reinterpret_cast<const Bytef*>(text.data());
  if (compress2(packed.data(), &size, bytes, text.size(), 6) != Z_OK)
    return false;
  std::string back(text.size(), '\0');
  uLongf length = back.size();
  return uncompress(reinterpret_cast<Bytef*>(back.data()), &length, packed.data(), size) == Z_OK &&
         back == text;
}

bool run_leaves() {
  std::atomic<bool> right{true};
  nopal::for_index(
      0, 8,
      [&right](int i) {
        if (nopal_interop::work(5) != nopal_interop::expected(5) || !leaf(i))
          right = false;
      },
      1);
  return right;
}

} // namespace

int main(int count, char** arguments) {
  return nopal_interop::main_of(count, arguments, {{"compress2 in leaves", run_leaves, false}});
}
