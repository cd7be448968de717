# SPDX-License-Identifier: MIT
# Compiles a program for each public header, and for <execution>, in a language before C++20. It is
# refused with a sentence and one error behind it. nopal.h is for any C++.
#
# cmake -DCOMPILER=path -DROOT=repository -DOUT=directory -P language.cmake
cmake_minimum_required(VERSION 3.25)
set(compile ${COMPILER} -Wall -fsyntax-only -I${ROOT} -I${ROOT}/nopal/pstl/include program.cc)

# The compiler's words, in `words`; whether it failed, in `failed`.
function(compile_header header)
  file(WRITE ${OUT}/program.cc "#include <${header}>\nint main() {}\n")
  execute_process(COMMAND ${compile} ${ARGN} WORKING_DIRECTORY ${OUT} RESULT_VARIABLE failed
    OUTPUT_VARIABLE words ERROR_VARIABLE words)
  return(PROPAGATE words failed)
endfunction()

foreach(standard 98 11 14 17)
  compile_header(nopal/nopal.h -std=c++${standard})
  if(failed)
    message(FATAL_ERROR "nopal.h is refused in C++${standard}:\n${words}")
  endif()
endforeach()

file(GLOB headers RELATIVE ${ROOT} ${ROOT}/nopal/*.h)
# The latter needs C++26 or stdexec.
list(REMOVE_ITEM headers nopal/nopal.h nopal/parallel_scheduler.h)
set(standards 98 11 14 17)
foreach(header IN LISTS headers ITEMS nopal/c/fibril.h execution)
  list(POP_FRONT standards standard) # they take turns
  list(APPEND standards ${standard})
  compile_header(${header} -std=c++${standard})
  string(REGEX MATCHALL "error: " errors "${words}")
  list(LENGTH errors count)
  if(NOT words MATCHES "error: [^\n]*compile with -std=c\\+\\+20 or later" OR count GREATER 2)
    message(FATAL_ERROR "${header} in C++${standard}: ${count} errors\n${words}")
  endif()
endforeach()
