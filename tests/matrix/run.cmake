# SPDX-License-Identifier: MIT
# Compiles the programs of the matrix with one compiler and one set of flags, and runs them.
#
# cmake -DCOMPILER=path -DFLAGS=list -DROOT=repository -DDEFINITIONS=list -DLIBRARY=path
#       -DSEEDS=number -DOUT=directory [-DSMALL=ON] [-DELSEWHERE=list]
#       [-DONLY_LIBRARY=ON] -P run.cmake
#
# With SMALL it compiles and runs small.cc instead; with ELSEWHERE the program has another file,
# compiled with these flags, as it is linked; with ONLY_LIBRARY it compiles libnopal.a into OUT,
# with -DARCHIVER=path.
cmake_minimum_required(VERSION 3.25)
foreach(name COMPILER ROOT OUT)
  if(NOT DEFINED ${name})
    message(FATAL_ERROR "run.cmake: -D${name}=... is missing")
  endif()
endforeach()

include(${CMAKE_CURRENT_LIST_DIR}/../run.cmake)
set(compile ${COMPILER} -std=c++20 ${FLAGS} ${DEFINITIONS} -I${ROOT})

if(ONLY_LIBRARY)
  file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/nopal/*.cc ${ROOT}/nopal/*.S)
  list(FILTER sources EXCLUDE REGEX "process/[a-z]+/(mpi|ucx)[a-z_]*\\.cc$") # others' headers
  set(objects "")
  foreach(source IN LISTS sources)
    string(REPLACE "/" "_" object ${source}.o)
    run(${compile} -c ${ROOT}/${source} -o ${object})
    list(APPEND objects ${object})
  endforeach()
  file(REMOVE ${OUT}/libnopal.a)
  run(${ARCHIVER} rcs libnopal.a ${objects})
  return()
endif()

# One translation unit: half the time, and what is not marked noinline may be inlined.
file(GLOB sources ${CMAKE_CURRENT_LIST_DIR}/matrix_*.cc)
if(SMALL)
  set(sources ${CMAKE_CURRENT_LIST_DIR}/small.cc)
endif()
list(TRANSFORM sources REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE includes)
string(CONCAT text ${includes})
file(WRITE ${OUT}/matrix.cc "${text}")
set(warnings -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Wno-psabi)
set(files matrix.cc)
if(ELSEWHERE)
  file(WRITE ${OUT}/elsewhere.cc
    "int elsewhere(int n) { volatile char bytes[100]; bytes[n] = 1; return bytes[n]; }\n")
  run(${compile} ${ELSEWHERE} -c elsewhere.cc)
  run(${compile} ${warnings} -c matrix.cc)
  set(files matrix.o elsewhere.o)
endif()
run(${compile} ${ELSEWHERE} ${warnings} ${files} ${LIBRARY} -pthread -o matrix)
execute_process(COMMAND ${OUT}/matrix ${SEEDS} RESULT_VARIABLE result)
if(result EQUAL 77)
  message(STATUS "matrix: skipped")
elseif(NOT result EQUAL 0)
  message(FATAL_ERROR "matrix: failed (${result})")
endif()
