# SPDX-License-Identifier: MIT
# The public board of runtimes (tzcnt/runtime-benchmarks): its four programs that fork and join, for
# each runtime that is found, and ours for the same four problems. -DNOPAL_PEER_BOARD=dir names a
# checkout of it. All are compiled by the project's compiler, with the board's own flags and the
# allocator that it would choose. oneTBB is that of the system; the others are given by path.
set(board_problems fib skynet nqueens matmul)
set(board_runtimes tbb libfork taskflow toomanycooks)
set(NOPAL_PEER_BOARD "" CACHE PATH "a checkout of tzcnt/runtime-benchmarks; empty: not measured")
set(NOPAL_PEER_TOOMANYCOOKS "" CACHE PATH "where TooManyCooks is; empty: not measured")
if(NOT NOPAL_PEER_BOARD)
  foreach(runtime IN LISTS board_runtimes)
    bench_missing(board-${runtime} "the board is given by path, -DNOPAL_PEER_BOARD=dir")
  endforeach()
  return()
endif()
if(NOT EXISTS ${NOPAL_PEER_BOARD}/cpp/2common/matmul.hpp)
  message(FATAL_ERROR "NOPAL_PEER_BOARD is ${NOPAL_PEER_BOARD}, but there is no "
    "cpp/2common/matmul.hpp below it: it must name a checkout of tzcnt/runtime-benchmarks.")
endif()

set(board_flags -O3 -march=native -DNDEBUG)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Clang 19 warns of what it has itself made of the newest processors' features.
  list(APPEND board_flags -Wno-invalid-feature-combination)
endif()
find_library(NOPAL_BOARD_MALLOC NAMES tcmalloc mimalloc jemalloc
  DOC "the allocator of the board's programs")
set(board_libraries pthread)
if(NOPAL_BOARD_MALLOC)
  set(board_libraries ${NOPAL_BOARD_MALLOC} pthread)
else()
  nopal_summary(bench "the board's programs use the C library's allocator: none of tcmalloc, "
    "mimalloc and jemalloc was found (libgoogle-perftools-dev)")
endif()
# The board's: loops of nqueens are sensitive to where they lie.
set(flags_of_nqueens -falign-loops=64)

# What adapts a program of the board: what it is given, and what it prints.
set(definitions_of_fib BENCH_BOARD_N=39 BENCH_BOARD_ARGUMENT="39" BENCH_BOARD_RESULT="63245986")
set(definitions_of_skynet BENCH_BOARD_N=100000000)
set(definitions_of_nqueens BENCH_BOARD_N=14 BENCH_BOARD_RESULT="365596")
set(definitions_of_matmul BENCH_BOARD_N=2048 BENCH_BOARD_ARGUMENT="2048")

# bench_board(runtime FOLDER name [FLAGS ...] [LIBRARIES ...]): the four programs in that folder.
function(bench_board runtime)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER" "FLAGS;LIBRARIES")
  foreach(problem IN LISTS board_problems)
    set(source ${NOPAL_PEER_BOARD}/cpp/${arg_FOLDER}/${problem}.cpp)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/board_${problem}-${runtime}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 ${board_flags} -w -pthread ${flags_of_${problem}}
        -I${NOPAL_PEER_BOARD}/cpp/2common ${arg_FLAGS} -c ${source} -o ${object}
      COMMAND objcopy --redefine-sym main=board_main ${object}
      DEPENDS ${source} VERBATIM COMMENT "Building ${problem} of the board for ${arg_FOLDER}")
    set(target board_${problem}-board-${runtime})
    add_executable(${target} board.cc ${object})
    target_compile_definitions(${target} PRIVATE BENCH_BOARD_PROBLEM="board_${problem}"
      BENCH_RUNTIME="board-${runtime}" ${definitions_of_${problem}})
    target_link_libraries(${target} PRIVATE bench_harness nopal_warnings ${arg_LIBRARIES}
      ${board_libraries})
  endforeach()
  list(TRANSFORM board_problems PREPEND board_ OUTPUT_VARIABLE names)
  bench_built(board-${runtime} "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" ${names})
  set(programs_json "${programs_json}" PARENT_SCOPE)
endfunction()

find_package(TBB QUIET)
if(TBB_FOUND)
  bench_board(tbb FOLDER tbb LIBRARIES TBB::tbb)
else()
  bench_missing(board-tbb "oneTBB was not found (libtbb-dev)")
endif()
# libfork and TooManyCooks are faster if they can ask hwloc for the processors.
find_library(NOPAL_BOARD_HWLOC NAMES hwloc)
set(flags_of_libfork -std=c++23)
set(flags_of_toomanycooks -DTMC_PRIORITY_COUNT=1 -DTMC_TRIVIAL_TASK)
set(flags_of_taskflow "")
if(NOPAL_BOARD_HWLOC)
  list(APPEND flags_of_libfork -DLF_USE_HWLOC)
  list(APPEND flags_of_toomanycooks -DTMC_USE_HWLOC)
endif()
set(folder_of_libfork libfork)
set(folder_of_toomanycooks TooManyCooks)
set(folder_of_taskflow taskflow)
foreach(runtime IN ITEMS libfork taskflow toomanycooks)
  string(TOUPPER NOPAL_PEER_${runtime} variable)
  if(NOT ${variable})
    bench_missing(board-${runtime} "it is given by path, -D${variable}=dir")
    continue()
  endif()
  if(NOT EXISTS ${${variable}}/include)
    message(FATAL_ERROR "${variable} is ${${variable}}, but there is no ${${variable}}/include: "
      "it must name the directory where ${runtime} is installed.")
  endif()
  if(runtime STREQUAL "toomanycooks" AND NOT NOPAL_BOARD_HWLOC)
    bench_missing(board-${runtime} "hwloc was not found (libhwloc-dev)")
    continue()
  endif()
  set(libraries "")
  if(NOPAL_BOARD_HWLOC AND NOT runtime STREQUAL "taskflow")
    set(libraries ${NOPAL_BOARD_HWLOC})
  endif()
  bench_board(${runtime} FOLDER ${folder_of_${runtime}}
    FLAGS -isystem ${${variable}}/include ${flags_of_${runtime}} LIBRARIES ${libraries})
endforeach()

# Ours, and the elision of ours.
foreach(runtime IN ITEMS serial nopal)
  if(runtime STREQUAL "nopal" AND NOT TARGET nopal)
    continue()
  endif()
  foreach(problem IN LISTS board_problems)
    set(target board_${problem}-${runtime})
    bench_definitions(definitions board_${problem} ${runtime} ${runtime} OFF)
    add_executable(${target} program.cc)
    target_compile_definitions(${target} PRIVATE ${definitions})
    target_compile_options(${target} PRIVATE -g1 ${board_flags} ${flags_of_${problem}})
    target_link_libraries(${target} PRIVATE bench_harness nopal_warnings
      $<$<STREQUAL:${runtime},nopal>:nopal::nopal> ${board_libraries})
    bench_also(${runtime} board_${problem})
  endforeach()
endforeach()
