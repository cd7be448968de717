# SPDX-License-Identifier: MIT
# Runtimes of others, built elsewhere and given by path: -DNOPAL_PEER_<NAME>=dir, where dir holds
# include/ and, but for libfork and Taskflow, lib/. Nothing is fetched. Where the directory also has
# a folder test/ with the C programs of Nowa's or Fibril's authors, these are measured too.
set(own_problems cholesky fft fib heat integrate knapsack lu matmul nqueens quicksort rectmul
  strassen)
foreach(peer nowa fibril lace libfork taskflow)
  string(TOUPPER NOPAL_PEER_${peer} variable)
  set(${variable} "" CACHE PATH "where ${peer} is installed; empty: not measured")
  set(peer_dir "${${variable}}")
  if(NOT peer_dir)
    bench_missing(${peer} "it is given by path, -D${variable}=dir")
    continue()
  endif()
  if(NOT EXISTS ${peer_dir}/include)
    message(FATAL_ERROR "${variable} is ${peer_dir}, but there is no ${peer_dir}/include: "
      "it must name the directory where ${peer} is installed.")
  endif()
  if(NOT NOPAL_BENCH_GCC)
    message(FATAL_ERROR "${variable} is given, but g++, which alone compiles ${peer} rightly, "
      "was not found.")
  endif()
  set(flags -isystem ${peer_dir}/include -pthread)
  set(library "")
  if(peer STREQUAL "lace")
    set(library ${peer_dir}/lib/liblace.a)
  elseif(peer MATCHES "^(nowa|fibril)$")
    set(library ${peer_dir}/lib/libfibril.a)
  endif()
  if(peer STREQUAL "libfork")
    list(APPEND flags -std=c++23 -DNDEBUG -Wno-interference-size)
  endif()
  if(peer MATCHES "^(nowa|fibril|taskflow)$")
    bench_foreign_runtime(${peer} ${NOPAL_BENCH_GCC}
      BACKEND ${peer} PROBLEMS ${problems} chain five_words hundred
      FLAGS ${flags} LIBRARIES ${library})
  else()
    bench_foreign_runtime(${peer} ${NOPAL_BENCH_GCC} OWN_PROBLEMS
      BACKEND ${peer} PROBLEMS fib integrate nqueens FLAGS ${flags} LIBRARIES ${library})
  endif()
  if(NOT peer MATCHES "^(nowa|fibril)$")
    continue()
  endif()
  if(NOT EXISTS ${peer_dir}/test/fib.c)
    bench_missing(${peer}-own "there is no ${peer}'s test/fib.c in -D${variable}=dir")
    continue()
  endif()
  # Once with their runtime, once with Nopal's <fibril.h>.
  foreach(runtime ${peer}-own nopal-c-${peer})
    set(includes -I${peer_dir}/include)
    set(backend ${peer})
    set(libraries ${library})
    if(runtime MATCHES "^nopal")
      set(includes -I${PROJECT_SOURCE_DIR}/nopal/c -I${PROJECT_SOURCE_DIR})
      set(backend nopal)
      set(libraries $<TARGET_FILE:nopal_c> $<TARGET_FILE:nopal>)
    endif()
    set(present "")
    foreach(problem IN LISTS own_problems)
      set(source ${peer_dir}/test/${problem}.c)
      if(NOT EXISTS ${source})
        continue()
      endif()
      list(APPEND present ${problem})
      set(mode "")
      if(problem MATCHES "^(fft|lu|rectmul|strassen)$")
        set(mode -DBENCHMARK) # they verify less then
      endif()
      set(object ${CMAKE_CURRENT_BINARY_DIR}/own_${problem}-${runtime}.o)
      # Loops at lines of the cache: lu's inner loop, which is the same code in both, takes 1.45
      # times as long (Intel) where it lies across two.
      add_custom_command(OUTPUT ${object}
        COMMAND ${NOPAL_BENCH_GCC} -x c -std=gnu11 ${bench_flags} -falign-loops=64 ${mode} -w
          -pthread ${includes} -MD -MF ${object}.d -MT ${object} -c ${source} -o ${object}
        COMMAND objcopy --keep-global-symbol=n --keep-global-symbol=init --keep-global-symbol=prep
          --keep-global-symbol=test --keep-global-symbol=verify ${object} # it has a main of its own
        DEPENDS ${source} DEPFILE ${object}.d VERBATIM)
    endforeach()
    # The last definition counts.
    bench_foreign_runtime(${runtime} ${NOPAL_BENCH_GCC} BACKEND ${backend} PROBLEMS ${present}
      FLAGS ${flags} -UBENCH_PROBLEM -DBENCH_PROBLEM=own_problem "-DBENCH_OWN=\"{problem}\""
        -UBENCH_PROBLEM_HEADER "-DBENCH_PROBLEM_HEADER=\"bench/problems/own.h\""
      LIBRARIES ${CMAKE_CURRENT_BINARY_DIR}/own_{problem}-${runtime}.o ${libraries})
  endforeach()
endforeach()

# OpenCilk's runtime: a checkout of OpenCilk/cheetah, in which its Makefile has filled lib/TARGET/.
# Its ABI is bitcode that is inlined, so Clang compiles the programs.
set(NOPAL_PEER_CHEETAH "" CACHE PATH "a built checkout of OpenCilk/cheetah; empty: not measured")
if(NOT NOPAL_PEER_CHEETAH)
  bench_missing(cheetah "it is given by path, -DNOPAL_PEER_CHEETAH=dir")
  return()
endif()
set(found "")
foreach(file IN ITEMS runtime/frame.h lib/*/libopencilk.a lib/*/libopencilk-abi.bc)
  file(GLOB at ${NOPAL_PEER_CHEETAH}/${file})
  list(LENGTH at count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "NOPAL_PEER_CHEETAH is ${NOPAL_PEER_CHEETAH}, but there is no ${file} "
      "below it: it must name a checkout of OpenCilk/cheetah that is built.")
  endif()
  list(APPEND found ${at})
endforeach()
if(NOT NOPAL_BENCH_CLANG)
  message(FATAL_ERROR "NOPAL_PEER_CHEETAH is given, but clang++-19, which alone compiles it, was "
    "not found.")
endif()
list(GET found 1 library)
list(GET found 2 bitcode)
bench_foreign_runtime(cheetah ${NOPAL_BENCH_CLANG} BACKEND cheetah PROBLEMS ${problems}
  FLAGS -isystem ${NOPAL_PEER_CHEETAH} -DCILK_DEBUG=0 -mllvm -no-stack-slot-sharing
    -Xclang -mlink-builtin-bitcode -Xclang ${bitcode} -pthread
  LIBRARIES ${library})
