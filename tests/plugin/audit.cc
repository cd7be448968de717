// SPDX-License-Identifier: MIT
// A library that watches all calls between libraries, as sotruss does: with LD_AUDIT the dynamic
// linker calls these functions, and its own frame lies around each call.
#include <link.h>

#include <cstdint>

extern "C" {

unsigned la_version(unsigned version) { return version; }

unsigned la_objopen(link_map*, Lmid_t, std::uintptr_t*) { return LA_FLG_BINDTO | LA_FLG_BINDFROM; }

Elf64_Addr la_x86_64_gnu_pltenter(Elf64_Sym* symbol, unsigned, std::uintptr_t*, std::uintptr_t*,
                                  La_x86_64_regs*, unsigned*, const char*, long* copied) {
  *copied = 0;
  return symbol->st_value;
}

unsigned la_x86_64_gnu_pltexit(Elf64_Sym*, unsigned, std::uintptr_t*, std::uintptr_t*,
                               const La_x86_64_regs*, La_x86_64_retval*, const char*) {
  return 0;
}
}
