# SPDX-License-Identifier: MIT
# The study `algorithms`: loops, sorts, scans, a reduction of maps, the standard's algorithms and
# flat forks, of Nopal and of others. IPS4o and parlaylib are given by path, as in peers.cmake; they
# have headers alone.

# The same inner loop takes up to 1.3 times as long where it lies across two lines of the cache, and
# any change of a header moves it.
set(bench_aligned -falign-loops=64 -falign-functions=64)

# bench_algorithm(problem runtime DEFINITION [LIBRARY]): adds it to a runtime that is built.
function(bench_algorithm problem runtime definition)
  set(target ${problem}-${runtime})
  add_executable(${target} algorithms/${problem}.cc)
  target_compile_definitions(${target} PRIVATE BENCH_RUNTIME="${runtime}" ${definition})
  target_compile_options(${target} PRIVATE ${bench_flags} ${bench_aligned}
    $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>) # as cmake/tests.cmake says
  target_link_libraries(${target} PRIVATE bench_harness nopal_warnings ${ARGN})
  bench_also(${runtime} ${problem})
  set(programs_json "${programs_json}" PARENT_SCOPE)
endfunction()

bench_algorithm(sorting serial BENCH_SERIAL)
if(TARGET nopal)
  foreach(problem IN ITEMS loops sorting scans words flat)
    bench_algorithm(${problem} nopal BENCH_NOPAL nopal::nopal)
  endforeach()
endif()
if(TARGET nopal_std_par)
  bench_algorithm(std_par nopal BENCH_NOPAL nopal::std_par)
endif()
if(TARGET fib-tbb)
  foreach(problem IN ITEMS loops sorting scans words flat std_par)
    bench_algorithm(${problem} tbb BENCH_TBB TBB::tbb)
  endforeach()
endif()

function(bench_algorithm_openmp runtime compiler)
  set(programs "")
  foreach(problem IN ITEMS words flat)
    bench_foreign_program(${problem}-${runtime} ${compiler} algorithms/${problem}.cc
      OPTIONS "-DBENCH_RUNTIME=\"${runtime}\"" -fopenmp ${bench_aligned})
    bench_also(${runtime} ${problem})
  endforeach()
  add_custom_target(bench_algorithms_${runtime} ALL DEPENDS ${programs})
  set(programs_json "${programs_json}" PARENT_SCOPE)
endfunction()
if(TARGET bench_openmp-gcc)
  bench_algorithm_openmp(openmp-gcc ${NOPAL_BENCH_GCC})
endif()
if(TARGET bench_openmp-llvm)
  bench_algorithm_openmp(openmp-llvm ${NOPAL_BENCH_CLANG})
endif()

# bench_sorting_peer(name header flags...): the sort of a library that has headers alone.
function(bench_sorting_peer peer header)
  string(TOUPPER ${peer} upper)
  set(variable NOPAL_PEER_${upper})
  set(${variable} "" CACHE PATH "where ${peer} is; empty: not measured")
  set(peer_dir "${${variable}}")
  if(NOT peer_dir)
    bench_missing(${peer} "it is given by path, -D${variable}=dir")
    set(programs_json "${programs_json}" PARENT_SCOPE)
    return()
  endif()
  if(NOT EXISTS ${peer_dir}/include/${header} OR NOT NOPAL_BENCH_GCC)
    message(FATAL_ERROR "${variable} is ${peer_dir}, but there is no g++, or no "
      "${peer_dir}/include/${header}: it must name a checkout of ${peer}.")
  endif()
  set(programs "")
  bench_foreign_program(sorting-${peer} ${NOPAL_BENCH_GCC} algorithms/sorting.cc
    OPTIONS "-DBENCH_RUNTIME=\"${peer}\"" -DBENCH_${upper} -isystem ${peer_dir}/include -pthread
      -DNDEBUG ${bench_aligned} ${ARGN})
  add_custom_target(bench_${peer} ALL DEPENDS ${programs})
  execute_process(COMMAND ${NOPAL_BENCH_GCC} -dumpfullversion
    OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
  bench_built(${peer} "g++ ${version}" sorting)
  set(programs_json "${programs_json}" PARENT_SCOPE)
endfunction()
# IPS4o takes a queue from oneTBB.
bench_sorting_peer(ips4o ips4o.hpp -mcx16 -Wl,--no-as-needed -latomic -ltbb)
bench_sorting_peer(parlay parlay/primitives.h)
