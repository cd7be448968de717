# SPDX-License-Identifier: MIT
# Which compilers and flags the matrix has.

# Whether a compiler links a program with these flags; if it does not, the summary says so.
function(matrix_links compiler result)
  set(${result} OFF PARENT_SCOPE)
  if(NOT compiler IN_LIST compilers)
    return()
  endif()
  set(probe ${CMAKE_CURRENT_BINARY_DIR}/probe)
  file(WRITE ${probe}.cc "int main() { return 0; }\n")
  execute_process(COMMAND ${NOPAL_MATRIX_${compiler}} ${ARGN} ${probe}.cc -o ${probe}
    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    nopal_summary(matrix "${NOPAL_MATRIX_${compiler}} does not link with ${ARGN}: left out")
  else()
    set(${result} ON PARENT_SCOPE)
  endif()
endfunction()

foreach(compiler GCC CLANG)
  # The standard run takes both ends; its builds have the usual level, and the cross product below
  # has the rest.
  if(compiler STREQUAL "GCC")
    matrix_test(GCC O0 FLAGS -O0)
  else()
    matrix_test(CLANG O0 LONG FLAGS -O0)
  endif()
  matrix_test(${compiler} O2 LONG FLAGS -O2)
  # Clang 19 warns of what it has itself made of the newest processors' features.
  matrix_test(${compiler} native FLAGS -O3 -march=native
    $<$<STREQUAL:${compiler},CLANG>:-Wno-invalid-feature-combination>)
  matrix_test(${compiler} stack_protector LONG FLAGS -O2 -fstack-protector-strong)
  matrix_test(${compiler} coverage LONG FLAGS -O1 --coverage)
endforeach()
# Clang's own calls of the C++ library do not link with this.
matrix_test(GCC instrumented LONG FLAGS -O0 -finstrument-functions)
# The one way known to make GCC address a realigned frame through the stack pointer.
matrix_test(GCC accumulate REFUSED "nopal: a function with a scope addresses"
  FLAGS -O2 -maccumulate-outgoing-args)

# Flags whose effect one fork, one steal and one exception show, and flags that are refused.
foreach(compiler GCC CLANG)
  matrix_test(${compiler} no_exceptions SMALL REFUSED "cannot be used in a file .* -fno-exceptions"
    FLAGS -O1 -fno-exceptions -Wfatal-errors)
  matrix_test(${compiler} split_stack SMALL REFUSED "nopal: .* was compiled with -fsplit-stack"
    FLAGS -O1 ELSEWHERE -fsplit-stack)
  matrix_test(${compiler} large_code_model SMALL FLAGS -O1 -mcmodel=large)
endforeach()
# Loads and stores count as what may throw, and what is around them moves.
matrix_test(GCC non_call_exceptions SMALL FLAGS -O2 -fnon-call-exceptions)
# Calls of the sanitizer, which no stub may have before its statement.
matrix_test(GCC traced SMALL FLAGS -O1 -fsanitize-coverage=trace-pc -DCALLS_AT_EACH_BLOCK)
matrix_test(GCC m32 SMALL REFUSED "Nopal runs on x86-64 Linux" FLAGS -m32)
matrix_test(CLANG safe_stack SMALL REFUSED "cannot be used with -fsanitize=safe-stack"
  FLAGS -O1 -fsanitize=safe-stack -Wfatal-errors)
if(EXISTS /usr/lib/llvm-19/include/c++/v1/version)
  matrix_test(CLANG libcxx SMALL REFUSED "cannot be used with -stdlib=libc.."
    FLAGS -O1 -stdlib=libc++ -Wfatal-errors)
endif()
matrix_test(CLANG safe_stack_elsewhere SMALL
  REFUSED "nopal: .* was compiled with -fsanitize=safe-stack"
  FLAGS -O1 ELSEWHERE -fsanitize=safe-stack)
foreach(sanitizer memory hwaddress)
  matrix_test(CLANG ${sanitizer}_sanitizer SMALL REFUSED "cannot be used with -fsanitize=memory or"
    FLAGS -O1 -fsanitize=${sanitizer} -Wfatal-errors)
endforeach()
matrix_test(CLANG load_hardening SMALL REFUSED "cannot be used in a file .* -mspeculative-load"
  FLAGS -O1 -mspeculative-load-hardening -Wfatal-errors)
set(cfi -flto -fvisibility=hidden -fsanitize=cfi -fuse-ld=lld)
matrix_links(CLANG has_cfi ${cfi})
if(has_cfi)
  matrix_test(CLANG cfi SMALL FLAGS -O1 ${cfi})
endif()

# The library is compiled by other compilers and with other flags than its callers.
# The rest is long. That compilers mix, tests/plugin shows in the standard run: there each compiler
# builds a library around the other one's Nopal.
if(NOT NOPAL_BUILD_LONG_TESTS)
  return()
endif()
matrix_library(GCC gcc_O0 LONG FLAGS -O0)
matrix_library(GCC gcc_O3_lto LONG FLAGS -O3 -flto)
matrix_library(CLANG clang_O3 LONG FLAGS -O3)
matrix_library(GCC gcc_non_call LONG FLAGS -O2 -fnon-call-exceptions)
matrix_test(CLANG library_gcc_O0 LONG LIBRARY gcc_O0 FLAGS -O2)
matrix_test(GCC library_clang_O3 LONG LIBRARY clang_O3 FLAGS -O2)
matrix_test(GCC library_lto LONG LIBRARY gcc_O3_lto FLAGS -O3 -flto)
matrix_test(GCC library_lto_non_call LONG LIBRARY gcc_O3_lto FLAGS -O2 -flto -fnon-call-exceptions)
foreach(level -Og -O2 -O3)
  matrix_test(GCC library_non_call${level} LONG LIBRARY gcc_non_call
    FLAGS ${level} -fnon-call-exceptions)
endforeach()

# The cross product: level x vector registers x one more thing.
set(level_names O0 O1 Os O2 O3)
set(vectors_baseline "")
set(vectors_avx2 -mavx2)
set(vectors_avx512 -mavx512f -mprefer-vector-width=512)
set(extra_plain "")
set(extra_frame_pointer -fno-omit-frame-pointer)
set(extra_no_frame_pointer -fomit-frame-pointer)
set(extra_no_plt -fPIC -fno-plt)
set(extra_no_pie -fno-pie -no-pie)
set(extra_static_pie -fPIE -static-pie)
set(extra_fast_math -ffast-math)
set(extra_stack_protector -fstack-protector-all)
set(extra_clash -fstack-clash-protection)
set(extra_cet -fcf-protection=full)
set(extra_fortify -D_FORTIFY_SOURCE=2)
set(extra_lto -flto)
set(extra_names plain frame_pointer no_frame_pointer no_plt no_pie static_pie fast_math
  stack_protector clash cet fortify lto)
foreach(compiler IN LISTS compilers)
  foreach(extra IN LISTS extra_names)
    matrix_links(${compiler} links ${extra_${extra}})
    if(NOT links)
      continue()
    endif()
    foreach(level IN LISTS level_names)
      if(extra STREQUAL "fortify" AND level STREQUAL "O0")
        continue() # the C library warns that it needs optimisation
      endif()
      foreach(vectors baseline avx2 avx512)
        matrix_test(${compiler} ${level}_${vectors}_${extra} LONG
          FLAGS -${level} ${vectors_${vectors}} ${extra_${extra}})
      endforeach()
    endforeach()
  endforeach()
endforeach()

# One more flag at a time, each of which changes what is around a call or a frame.
set(GCC_flags -fstack-check -mindirect-branch=thunk -mfunction-return=thunk -fharden-compares
  -fharden-conditional-branches -fprofile-generate -fwhole-program -fipa-pta -mstackrealign
  -mpreferred-stack-boundary=5 -fno-asynchronous-unwind-tables -mtune=intel
  -Og -fno-ipa-ra -fgcse-las -mfentry)
set(CLANG_flags -fsanitize=kcfi -fsanitize=function -fsanitize=leak -fxray-instrument -mretpoline
  -mlvi-hardening -fprofile-instr-generate -Oz -mstackrealign)
set(both_flags -pg -ftrapv -fno-rtti -mno-red-zone -D_FORTIFY_SOURCE=3 -fzero-call-used-regs=all
  -mharden-sls=all -fpatchable-function-entry=16,2 -ftrivial-auto-var-init=pattern
  -mcmodel=medium -fno-strict-aliasing)
foreach(compiler GCC CLANG)
  foreach(flag IN LISTS ${compiler}_flags both_flags)
    set(beside "")
    if(flag MATCHES "thunk")
      set(beside -fcf-protection=none) # GCC has one or the other
    elseif(flag STREQUAL "-mfentry")
      set(beside -pg)
    endif()
    string(MAKE_C_IDENTIFIER small${flag} name)
    matrix_test(${compiler} ${name} SMALL LONG FLAGS -O2 ${flag} ${beside})
  endforeach()
  matrix_test(${compiler} small_static SMALL LONG FLAGS -O2 -static)
endforeach()
foreach(flag -O3 -flto -fipa-pta -ftrapv -fgcse-las -fdelete-dead-exceptions -fno-strict-aliasing
    -finstrument-functions)
  string(MAKE_C_IDENTIFIER small_non_call${flag} name)
  matrix_test(GCC ${name} SMALL LONG FLAGS -O2 ${flag} -fnon-call-exceptions)
endforeach()
if(has_cfi)
  matrix_test(CLANG small_thin_lto SMALL LONG FLAGS -O2 -flto=thin -fuse-ld=lld)
  matrix_test(CLANG small_folded SMALL LONG
    FLAGS -O2 -ffunction-sections -fuse-ld=lld -Wl,--icf=all)
endif()

# The oldest compilers that are supported, and one in between. Each compiles the library too.
set(other_GCC_11 g++-11)
set(other_CLANG_14 clang++-14)
set(other_CLANG_16 clang++-16)
foreach(id GCC_11 CLANG_14 CLANG_16)
  string(TOLOWER ${id} name)
  find_program(NOPAL_MATRIX_${id} NAMES ${other_${id}})
  if(NOPAL_MATRIX_${id})
    list(APPEND compilers ${id})
    matrix_library(${id} ${name} LONG FLAGS -O2)
    foreach(level O0 O2 O3)
      matrix_test(${id} ${level} LONG LIBRARY ${name} FLAGS -${level})
    endforeach()
    matrix_test(${id} avx2 LONG LIBRARY ${name} FLAGS -O3 ${vectors_avx2})
  else()
    add_test(NAME matrix.${name}.missing
      COMMAND ${CMAKE_COMMAND} -E echo "matrix: skipped, ${other_${id}} is not installed")
    set_tests_properties(matrix.${name}.missing PROPERTIES LABELS "matrix;long"
      SKIP_REGULAR_EXPRESSION "matrix: skipped")
  endif()
endforeach()
