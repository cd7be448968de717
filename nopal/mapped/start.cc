// SPDX-License-Identifier: MIT
// Before any constructor of the program, also those of its libraries, its memory becomes shared. If
// that is impossible here, the program is told so, and runs on threads.
#include "nopal/mapped/before_main.h"

#include "nopal/base/die.h"
#include "nopal/base/shared.h"
#include "nopal/config.h"
#include "nopal/mapped/calls.h"
#include "nopal/mapped/members.h"
#include "nopal/mapped/memory.h"
#include "nopal/mapped/sharing.h"
#include "nopal/mapped/signals.h"
#include "nopal/mapped/traps.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

extern "C" {
[[gnu::weak]] void __asan_init();
[[gnu::weak]] void __tsan_init();
}

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {
namespace {

void for_each_process(void (*see)(int pid, std::size_t ours, void* to), void* to) noexcept {
  for (unsigned i = members_used.load(base::acquire); i-- != 0;)
    if (const int pid = members[i].pid.load(base::acquire); pid > 0)
      see(pid, members[i].attended.load(base::acquire) == attendance::there ? 1 : 0, to);
}

constexpr base::sharing kSharing{become_process,   map_again,         install_guard,
                                 layout::view_end, layout::view_room, notice_signal,
                                 for_each_process};

// As config::variable, but the C library has not begun.
bool is_switched_off(const char* const* environment) noexcept {
  if (getauxval(AT_SECURE) != 0)
    return false;
  constexpr std::string_view name = "NOPAL_MAPPED=";
  for (; *environment != nullptr; ++environment) {
    if (!std::string_view{*environment}.starts_with(name))
      continue;
    const std::string_view value = *environment + name.size();
    if (value != "0" && value != "1")
      base::die("NOPAL_MAPPED is \"%.60s\", but it must be 0, for threads, or 1, for processes",
                value.data());
    return value == "0";
  }
  return false;
}

bool addresses_are_fixed() noexcept {
  const long kind = raw(SYS_personality, 0xffffffff);
  char setting = '2';
  const long file = raw(SYS_open, "/proc/sys/kernel/randomize_va_space", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    raw(SYS_read, file, &setting, 1);
    raw(SYS_close, file);
  }
  return setting == '0' || (kind >= 0 && (kind & ADDR_NO_RANDOMIZE) != 0);
}

// Why memory cannot be shared here; null: it can.
const char* obstacle() noexcept {
  int* thread_id = nullptr;
  if (addresses_are_fixed())
    return "addresses are not randomised (setarch -R, or gdb: set disable-randomization off), so "
           "calls of programs that it executes could not be told from its own";
  if (getauxval(AT_BASE) == 0 && getauxval(AT_PHDR) < (std::uintptr_t{1} << 32))
    return "it is linked statically with fixed addresses; link it with -static-pie";
  if (raw(SYS_prctl, PR_GET_TID_ADDRESS, &thread_id) != 0)
    return "the kernel has no PR_GET_TID_ADDRESS (CONFIG_CHECKPOINT_RESTORE)";
  return nullptr;
}

void run_on_threads(const char* what, int error) noexcept {
  base::say("nopal::mapped is off, and the program runs on threads as with nopal::nopal: the "
            "system refuses %s (%s)",
            what, std::strerror(error));
}

void start() noexcept {
  if (const char* const what = open_memory()) {
    const int error = errno;
    close_memory();
    return run_on_threads(what, error);
  }
  open_processes();
  code found;
  if (!find_code(found)) {
    close_memory();
    return run_on_threads("to list its mappings, or there are too many", ENOMEM);
  }
  open_actions(on_trap, on_notice);
  if (const int error = install_filter({found.text, found.count})) {
    close_actions();
    close_memory();
    return run_on_threads("filters of system calls (seccomp)", error);
  }
  for (unsigned i = 0; i < found.library_count; ++i)
    rewrite_futexes(found.library[i].from, found.library[i].to);
  convert_memory();
  open_break();
  base::shared = &kSharing;
}

} // namespace

bool on() noexcept { return base::shared != nullptr; }

bool map_again(std::uintptr_t shared, std::uintptr_t at, std::size_t bytes,
               bool populate) noexcept {
  const long mapped =
      map_part(shared, at, bytes, PROT_READ | PROT_WRITE, populate ? MAP_POPULATE : 0);
  if (mapped < 0)
    errno = static_cast<int>(-mapped);
  return mapped >= 0;
}

bool install_guard(std::uintptr_t at, std::size_t bytes) noexcept {
  return raw(SYS_madvise, at, bytes, install_guard_advice) == 0;
}

range view_range() noexcept { return {layout::view_end - layout::view_room, layout::view_end}; }

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped

extern "C" {

void nopal_mapped_start(int, char**, char** environment) {
  using namespace nopal;
  if (mapped::is_switched_off(environment))
    return;
  if (&__asan_init != nullptr || &__tsan_init != nullptr)
    base::die("nopal::mapped does not work with AddressSanitizer and ThreadSanitizer, which keep "
              "what they know in memory of one process; link nopal::nopal, or set NOPAL_MAPPED=0");
  if (const char* const why = mapped::obstacle())
    base::say("nopal::mapped is off, and the program runs on threads as with nopal::nopal: %s",
              why);
  else
    mapped::start();
}

// Only executables have such an array; the linker refuses it in a shared library.
[[gnu::section(".preinit_array"),
  gnu::used]] static void (*nopal_mapped_first)(int, char**, char**) = nopal_mapped_start;

} // extern "C"
