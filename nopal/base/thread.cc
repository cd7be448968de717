// SPDX-License-Identifier: MIT
// Computes the size of a thread's stack. The C library takes each thread's copy of the program's
// thread-local data from that stack, so a fixed size would be too small for some programs.
#include "nopal/base/thread.h"

#include "nopal/base/atomic.h"
#include "nopal/base/die.h"
#include "nopal/base/limits.h"
#include "nopal/base/os.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <utility>

// Weak, so that a statically linked program does not take the dynamic linker along.
extern "C" [[gnu::weak]] decltype(dlsym) dlsym;

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {
namespace {

constexpr std::size_t kOwn = std::size_t{64} << 10;

struct thread_local_data {
  std::size_t bytes = 0;     // of all parts of the program, each with its padding
  std::size_t alignment = 1; // the largest
};

int add_part(dl_phdr_info* part, std::size_t, void* to) {
  auto* const sum = static_cast<thread_local_data*>(to);
  for (int i = 0; i < part->dlpi_phnum; ++i) {
    const auto& header = part->dlpi_phdr[i];
    if (header.p_type != PT_TLS)
      continue;
    sum->bytes += header.p_memsz + header.p_align;
    sum->alignment = std::max<std::size_t>(sum->alignment, header.p_align);
  }
  return 0;
}

// An upper bound of what the C library puts onto each thread's stack. The library has a function
// that says it, which only a dynamically linked program can find. Otherwise the bound is the sum of
// the program's parts, and kOwn for what the library adds for itself.
std::size_t taken_by_library() noexcept {
  thread_local_data all;
  dl_iterate_phdr(add_part, &all);
  using asked = std::size_t (*)(const pthread_attr_t*);
  void* const found = &dlsym == nullptr ? nullptr : dlsym(RTLD_DEFAULT, "__pthread_get_minstack");
  if (found == nullptr)
    return all.bytes + all.alignment + kOwn;
  pthread_attr_t usual;
  pthread_attr_init(&usual);
  const std::size_t least = reinterpret_cast<asked>(found)(&usual);
  pthread_attr_destroy(&usual);
  return least + all.alignment; // to align the data the library may move it by so much
}

// The same for all threads: libraries that are loaded later get no more of a thread's stack. 0: not
// computed yet. Two threads that compute it at the same time get the same number.
atomic<std::size_t> known{0};

std::size_t thread_local_bytes() noexcept {
  if (known.load(relaxed) == 0)
    known.store(taken_by_library(), relaxed);
  return known.load(relaxed);
}

std::size_t stack_bytes(std::size_t room) noexcept {
  return (room + thread_local_bytes() + page_size() - 1) & -page_size();
}

} // namespace

void measure_threads() noexcept { static_cast<void>(thread_local_bytes()); }

int start_thread(pthread_t& begun, void* (*body)(void*), void* argument, std::size_t room,
                 std::size_t guard) noexcept {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  int error = pthread_attr_setstacksize(&attributes, stack_bytes(room));
  if (error == 0)
    error = pthread_attr_setguardsize(&attributes, guard);
  sigset_t most;
  sigset_t before;
  sigfillset(&most);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
    sigdelset(&most, fault); // a fault whose signal is blocked kills without a message
  pthread_sigmask(SIG_SETMASK, &most, &before);
  if (error == 0)
    error = pthread_create(&begun, &attributes, body, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return error;
}

thread::thread(const char* purpose, std::function<void()> body, std::size_t room)
    : body_{std::make_unique<std::function<void()>>(std::move(body))} {
  const auto call = [](void* function) -> void* {
    (*static_cast<const std::function<void()>*>(function))();
    return nullptr;
  };
  if (const int error = start_thread(thread_, call, body_.get(), room); error != 0)
    die("cannot start a thread that %s with %s", purpose, thread_refused{error, room}.text);
}

void thread::join() {
  pthread_join(thread_, nullptr);
  body_.reset();
}

thread_refused::thread_refused(int error, std::size_t room, std::size_t guard) noexcept {
  std::snprintf(text, sizeof text,
                "a stack of %zu KiB, %zu KiB of them for the program's thread-local data: %s",
                stack_bytes(room) >> 10, thread_local_bytes() >> 10,
                why_no_thread(error, stack_bytes(room) + guard).text);
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
