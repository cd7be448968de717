# SPDX-License-Identifier: MIT
# Compiles two files for different kinds of Nopal and links them into one program. Called by ctest.
file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT})
list(REMOVE_ITEM DEFINITIONS "")
list(TRANSFORM DEFINITIONS PREPEND -D)
# Nothing is inlined: every instantiation is a function that a linker may merge with its namesakes.
set(compile ${COMPILER} -std=c++20 -O1 -fno-inline -I${ROOT} ${DEFINITIONS})

function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${OUT}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " words)
    message(FATAL_ERROR "failed (${result}): ${words}\n${output}")
  endif()
endfunction()

function(must_not_link what)
  execute_process(COMMAND ${compile} ${ARGN} -pthread -o refused
    WORKING_DIRECTORY ${OUT} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result EQUAL 0)
    message(FATAL_ERROR "${what} links")
  elseif(NOT output MATCHES "undefined (reference|symbol)|multiple definition|duplicate symbol")
    message(FATAL_ERROR "${what} fails for another reason:\n${output}")
  endif()
endfunction()

set(source ${CMAKE_CURRENT_LIST_DIR})
if(MIXTURE MATCHES "^(serial|parallel)_first$")
  run(${compile} -DNOPAL_SERIAL=1 -DPART=serial_part -c ${source}/part.cc -o serial.o)
  run(${compile} -DPART=parallel_part -c ${source}/part.cc -o parallel.o)
  run(${compile} -c ${source}/main.cc -o main.o)
  # Of functions with one name a linker keeps the first.
  set(objects serial.o parallel.o)
  if(MIXTURE STREQUAL "parallel_first")
    set(objects parallel.o serial.o)
  endif()
  run(${compile} main.o ${objects} ${NOPAL} -pthread -o mixed)
  run(${OUT}/mixed)
else()
  run(${compile} -DPART=parallel_part -c ${source}/part.cc -o parallel.o)
  foreach(calls forks invokes reduces locks blocks asks affine)
    run(${compile} "-DNOPAL_BASELINE=\"bench/baseline/nowa.h\"" -DCALLS_${calls}
      -c ${source}/other.cc -o ${calls}.o)
    set(linked ${calls}.o parallel.o ${NOPAL})
    if(MIXTURE STREQUAL "both_libraries")
      list(APPEND linked ${NOWA})
    endif()
    must_not_link("a program with one file for other parts that ${calls}" ${linked})
  endforeach()
endif()
