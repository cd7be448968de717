// SPDX-License-Identifier: MIT
// A library that a process loads while others run (library_test.cc).
namespace {
int variable = 1;
char zeros[200'000];
thread_local int own = 1;
} // namespace

extern "C" {
int plug_variable(int add) { return variable += add; }
int plug_zeros() {
  for (char& each : zeros)
    ++each;
  return zeros[100'000];
}
int plug_own(int add) { return own += add; }
int plug_catch() {
  try {
    throw 3;
  } catch (int thrown) {
    return thrown;
  }
}
}
