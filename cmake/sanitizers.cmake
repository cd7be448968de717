# SPDX-License-Identifier: MIT
# Applies NOPAL_SANITIZE to everything built here; sets NOPAL_TEST_LAUNCHER where tests need one.
set(NOPAL_TEST_LAUNCHER "")
if(NOT NOPAL_SANITIZE)
  return()
endif()
if(NOT NOPAL_SANITIZE MATCHES "^(address|undefined|thread)$")
  message(FATAL_ERROR
    "NOPAL_SANITIZE is \"${NOPAL_SANITIZE}\", but must be address, undefined, thread or empty.")
endif()

set(flags -fsanitize=${NOPAL_SANITIZE} -fno-omit-frame-pointer)
if(NOPAL_SANITIZE STREQUAL "undefined")
  list(APPEND flags -fno-sanitize-recover=all)
endif()
if(NOPAL_SANITIZE STREQUAL "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND flags -Wno-maybe-uninitialized) # GCC 12 says that of std::regex, falsely
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${flags}>")
add_link_options(-fsanitize=${NOPAL_SANITIZE})

# If the kernel randomises addresses by 32 bits, ThreadSanitizer of GCC 12 cannot always place its
# shadow. Programs then need setarch -R, which some containers forbid. Whether they do is tried.
if(NOPAL_SANITIZE STREQUAL "thread" AND NOT DEFINED CACHE{NOPAL_TSAN_NEEDS})
  set(probe ${PROJECT_BINARY_DIR}/tsan_probe)
  file(WRITE ${probe}.cc "int main() { return 0; }\n")
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} -fsanitize=thread ${probe}.cc -o ${probe}
    RESULT_VARIABLE failed OUTPUT_VARIABLE words ERROR_VARIABLE words)
  if(failed)
    message(FATAL_ERROR "${CMAKE_CXX_COMPILER} cannot build with -fsanitize=thread: ${words}")
  endif()
  set(failures 0)
  foreach(attempt RANGE 1 20) # each start has other addresses: one that works proves nothing
    execute_process(COMMAND ${probe} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed)
      math(EXPR failures "${failures} + 1")
    endif()
  endforeach()
  if(failures EQUAL 0)
    set(NOPAL_TSAN_NEEDS nothing CACHE INTERNAL "what a thread-sanitized program needs to start")
  else()
    execute_process(COMMAND setarch -R ${probe} RESULT_VARIABLE failed ERROR_VARIABLE words)
    if(failed)
      message(FATAL_ERROR "programs built with -fsanitize=thread do not start here, with or "
        "without setarch -R: allow personality(2), or set vm.mmap_rnd_bits to 28. ${words}")
    endif()
    set(NOPAL_TSAN_NEEDS setarch CACHE INTERNAL "what a thread-sanitized program needs to start")
  endif()
endif()
if(NOPAL_SANITIZE STREQUAL "thread" AND NOPAL_TSAN_NEEDS STREQUAL "setarch")
  set(NOPAL_TEST_LAUNCHER setarch -R)
endif()
