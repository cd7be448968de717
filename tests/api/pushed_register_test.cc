// SPDX-License-Identifier: MIT
// What a fork leaves in registers. A function may push a register that holds nothing of its own, to
// align the stack; the word must not pass for an open fork, wherever it lies.
#include "nopal/stack/marks.h"
#include "tests/api/support.h"

#include <array>
#include <cstdint>

namespace nopal_test {

using marks = nopal::stack::marks;
using registers = std::array<std::uintptr_t, 9>; // those that a call need not preserve

extern "C" {
// Calls f(argument), and stores what is in the registers then.
void nopal_test_registers_after(void (*f)(void*), void* argument, registers* found);

[[gnu::used]] std::uintptr_t nopal_test_mark_in(std::uintptr_t from, std::uintptr_t to) {
  return marks::highest(from, to);
}

void nopal_test_return(); // touches no register

std::uintptr_t nopal_test_push_rax();
std::uintptr_t nopal_test_push_rcx();
std::uintptr_t nopal_test_push_rdx();
std::uintptr_t nopal_test_push_rsi();
std::uintptr_t nopal_test_push_rdi();
std::uintptr_t nopal_test_push_r8();
std::uintptr_t nopal_test_push_r9();
std::uintptr_t nopal_test_push_r10();
std::uintptr_t nopal_test_push_r11();
}

// nopal_test_push_rax and so on push a register into each of the 65 words below their return
// address, and say where a mark is among them. Their caller has just forked.
asm(R"(
    .pushsection .text
nopal_test_registers_after:
    pushq %rbx
    movq %rdx, %rbx
    movq %rdi, %rax
    movq %rsi, %rdi
    call *%rax
    movq %rax, 0(%rbx)
    movq %rcx, 8(%rbx)
    movq %rdx, 16(%rbx)
    movq %rsi, 24(%rbx)
    movq %rdi, 32(%rbx)
    movq %r8, 40(%rbx)
    movq %r9, 48(%rbx)
    movq %r10, 56(%rbx)
    movq %r11, 64(%rbx)
    popq %rbx
nopal_test_return:
    ret

    .irp name, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
nopal_test_push_\name:
    .rept 65
    pushq %\name
    .endr
    movq %rsp, %rdi
    leaq 520(%rsp), %rsi
    call nopal_test_mark_in
    addq $520, %rsp
    ret
    .endr
    .popsection
)");

namespace {

using push = std::uintptr_t();

void nothing_marked_after_forks(push* pushed) {
  {
    nopal::scope s;
    s.fork(nopal_test_return);
    EXPECT_EQ(pushed(), 0u) << "after a child that leaves all registers as they are";
  }
  {
    nopal::scope s;
    long result = 0;
    s.fork(result, [] { return 1L; });
    EXPECT_EQ(pushed(), 0u) << "after a child with a result";
  }
  {
    nopal::scope s;
    long a = 1;
    long b = 2;
    long result = 0;
    s.fork([&result, a, b] { result = a + b; });
    EXPECT_EQ(pushed(), 0u) << "after a child with captures";
  }
}

// One worker: a thief would run what follows a fork on another stack.
const start this_program{1};

TEST(pushed_register, is_no_open_fork) {
  nopal::scope s;
  s.fork([] {
    for (push* const pushed : {nopal_test_push_rax, nopal_test_push_rcx, nopal_test_push_rdx,
                               nopal_test_push_rsi, nopal_test_push_rdi, nopal_test_push_r8,
                               nopal_test_push_r9, nopal_test_push_r10, nopal_test_push_r11})
      nothing_marked_after_forks(pushed);
  });
}

// What opens, closes, claims and finds leaves no register with a mark of that place.
TEST(pushed_register, holds_no_mark) {
  alignas(8) std::uintptr_t place[2] = {};
  const auto nothing_left = [&place](void (*f)(void*), const char* name) {
    registers found;
    nopal_test_registers_after(f, place, &found);
    for (const std::uintptr_t value : found) {
      place[1] = place[0];
      place[0] = value;
      const auto at = reinterpret_cast<std::uintptr_t>(place);
      EXPECT_EQ(marks::highest(at, at + sizeof(std::uintptr_t)), 0u) << name;
      place[0] = place[1];
    }
  };
  nothing_left([](void* at) { marks::open(at); }, "open");
  nothing_left([](void* at) { marks::claim(reinterpret_cast<std::uintptr_t>(at)); }, "claim");
  nothing_left([](void* at) { marks::claim(reinterpret_cast<std::uintptr_t>(at)); }, "claim again");
  nothing_left([](void* at) { marks::claimed(reinterpret_cast<std::uintptr_t>(at)); }, "claimed");
  nothing_left(
      [](void* at) {
        const auto from = reinterpret_cast<std::uintptr_t>(at);
        marks::highest(from, from + sizeof(std::uintptr_t));
      },
      "highest");
  EXPECT_FALSE(marks::close(place));
  nothing_left([](void* at) { marks::open(at); }, "open again");
  nothing_left([](void* at) { marks::close(at); }, "close");
}

} // namespace
} // namespace nopal_test
