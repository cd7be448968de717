# SPDX-License-Identifier: MIT
# Programs that a study alone runs: computations of known work and span, and those that leave many
# dead pages. Each is built for the serial elision, for the profile, and for every runtime of ours
# that is built.

# bench_study_programs(runtime BACKEND header [LIBRARIES ...]): adds them to a runtime's problems.
function(bench_study_programs runtime)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "BACKEND" "LIBRARIES")
  set(added known_span suspended deep_leaves alternating lu_tiny chain five_words hundred
    ${strategy_problems})
  if(runtime STREQUAL "serial")
    list(APPEND added side_by_side)
  elseif(runtime STREQUAL "nopal")
    list(APPEND added regions)
  endif()
  string(JSON problems_json GET "${programs_json}" built "${runtime}" problems)
  foreach(problem IN LISTS added)
    set(target ${problem}-${runtime})
    bench_definitions(definitions ${problem} ${runtime} ${arg_BACKEND} OFF)
    add_executable(${target} program.cc)
    target_compile_definitions(${target} PRIVATE ${definitions})
    target_compile_options(${target} PRIVATE ${bench_flags})
    target_link_libraries(${target} PRIVATE bench_harness nopal_warnings
      Threads::Threads ${arg_LIBRARIES})
    string(JSON count LENGTH "${problems_json}")
    string(JSON problems_json SET "${problems_json}" ${count} "\"${problem}\"")
  endforeach()
  string(JSON programs_json SET "${programs_json}" built "${runtime}" problems "${problems_json}")
  set(programs_json "${programs_json}" PARENT_SCOPE)
endfunction()

find_package(Threads REQUIRED)
set(strategy_problems captives arms comparing)
bench_study_programs(serial BACKEND serial)
bench_study_programs(profile BACKEND profile)
foreach(runtime IN LISTS own_runtimes)
  string(REPLACE - _ target ${runtime})
  if(TARGET ${target})
    bench_study_programs(${runtime} BACKEND nopal LIBRARIES nopal::${target})
  endif()
endforeach()

add_executable(known_span_cases known_span_cases.cc)
target_include_directories(known_span_cases PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(known_span_cases
  PRIVATE CLI11::CLI11 nlohmann_json::nlohmann_json nopal_warnings)

# The studies `strategies` and `mapped`: frames on the heap, and what mapping a stolen prefix costs.
if(TARGET nopal)
  set(CMAKE_CXX_VISIBILITY_PRESET hidden) # as the parts of Nopal are that it has as members
  bench_runtime(heap-frames OWN_PROBLEMS BACKEND heap_frames
    PROBLEMS fib fibx nqueens cilksort matmul heat captives LIBRARIES nopal::nopal)
  # The study `nowa`: what is stolen are children.
  bench_runtime(child-stealing BACKEND child_stealing
    PROBLEMS cholesky cilksort fft fib fibx heat integrate knapsack knapsack_swapped lu matmul
      nqueens quicksort rectmul strassen LIBRARIES nopal::nopal)
  # Where stolen continuations run, if frames never move.
  foreach(strategy IN ITEMS one_stack depth_restricted reuse_ancestors)
    string(REPLACE _ - runtime ${strategy})
    set(programs suspended ${strategy_problems})
    bench_runtime(${runtime} BACKEND linear_stacks PROBLEMS ${programs} LIBRARIES nopal::nopal)
    list(TRANSFORM programs APPEND -${runtime})
    foreach(program IN LISTS programs)
      target_compile_definitions(${program} PRIVATE BENCH_STRATEGY=${strategy})
    endforeach()
  endforeach()
  unset(CMAKE_CXX_VISIBILITY_PRESET)
else()
  foreach(runtime IN ITEMS child-stealing heap-frames one-stack depth-restricted reuse-ancestors)
    bench_missing(${runtime} "the library nopal is not built")
  endforeach()
endif()
add_executable(prefixes prefixes.cc)
target_include_directories(prefixes PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_features(prefixes PRIVATE cxx_std_20)
target_compile_options(prefixes PRIVATE ${bench_flags})
target_link_libraries(prefixes PRIVATE nopal_warnings)

if(TARGET nopal_mapped)
  bench_runtime(nopal-mapped BACKEND mapped PROBLEMS ${problems} LIBRARIES nopal::mapped)
  bench_study_programs(nopal-mapped BACKEND mapped LIBRARIES nopal::mapped)
  # Of cilk-m-pact10.
  bench_runtime(nopal-mapped-pages BACKEND mapped_pages PROBLEMS cholesky cilksort fft fib fibx heat
    knapsack lu matmul nqueens rectmul strassen LIBRARIES nopal::mapped)
else()
  bench_missing(nopal-mapped "the library nopal_mapped is not built")
  bench_missing(nopal-mapped-pages "the library nopal_mapped is not built")
endif()

# The studies `idle` and `growth`: programs with libraries whose atomics count. The sources that
# count atomics and calls are not compiled with those atomics themselves.
add_library(bench_counts OBJECT counted/directory.cc counted/calls.cc)
target_include_directories(bench_counts PUBLIC ${PROJECT_SOURCE_DIR})
target_compile_features(bench_counts PUBLIC cxx_std_20)
target_link_options(bench_counts INTERFACE
  -Wl,--wrap=syscall -Wl,--wrap=pthread_mutex_lock)
target_link_libraries(bench_counts PRIVATE nopal_warnings)

function(bench_idle runtime library)
  add_executable(idle-${runtime} idle.cc)
  target_compile_definitions(idle-${runtime} PRIVATE BENCH_RUNTIME="${runtime}")
  target_compile_options(idle-${runtime} PRIVATE ${bench_flags})
  target_link_libraries(idle-${runtime}
    PRIVATE bench_harness bench_counts nopal_warnings ${library})
endfunction()

if(TARGET nopal)
  bench_idle(nopal nopal)
  bench_also(nopal idle)
endif()
foreach(runtime IN ITEMS nopal nopal-nowa nopal-fibril)
  string(REPLACE - _ target ${runtime}_counted)
  if(TARGET ${target})
    bench_runtime(${runtime}-counted BACKEND nopal_counted PROBLEMS fib cholesky lu_tiny
      LIBRARIES ${target} bench_counts)
  else()
    bench_missing(${runtime}-counted "the library ${target} is not built")
  endif()
endforeach()
add_executable(unmapping unmapping.cc)
target_include_directories(unmapping PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_features(unmapping PRIVATE cxx_std_20)
target_compile_options(unmapping PRIVATE ${bench_flags})
target_link_libraries(unmapping PRIVATE Threads::Threads nopal_warnings)
if(TARGET nopal_counted)
  bench_idle(nopal-counted nopal_counted)
  bench_also(nopal-counted idle)
endif()

# The study `scheduling`: fibers, beside Boost.Context's switch and Go's channels.
if(TARGET nopal)
  add_executable(fibers-nopal fibers.cc)
  target_compile_definitions(fibers-nopal PRIVATE BENCH_RUNTIME="nopal")
  target_compile_options(fibers-nopal PRIVATE ${bench_flags})
  target_link_libraries(fibers-nopal PRIVATE bench_harness nopal_warnings nopal::nopal)
  bench_also(nopal fibers)
  add_executable(breakdown-nopal breakdown.cc) # the study `breakdown`
  target_compile_definitions(breakdown-nopal PRIVATE BENCH_RUNTIME="nopal")
  target_compile_options(breakdown-nopal PRIVATE ${bench_flags})
  target_link_libraries(breakdown-nopal PRIVATE bench_harness nopal_warnings nopal::nopal)
  bench_also(nopal breakdown)
  bench_runtime(nopal-ivars BACKEND ivars
    PROBLEMS barnes_hut merge_sort bitonic fib LIBRARIES nopal::nopal)
  bench_runtime(nopal-gang BACKEND gang PROBLEMS raytracer LIBRARIES nopal::nopal)
endif()

find_path(NOPAL_BOOST_DIR boost/context/fiber.hpp)
find_library(NOPAL_BOOST_CONTEXT boost_context)
if(NOPAL_BOOST_DIR AND NOPAL_BOOST_CONTEXT)
  add_executable(fibers-boost fibers_boost.cc)
  target_compile_definitions(fibers-boost PRIVATE BENCH_RUNTIME="boost")
  target_compile_options(fibers-boost PRIVATE ${bench_flags})
  target_include_directories(fibers-boost SYSTEM PRIVATE ${NOPAL_BOOST_DIR})
  target_link_libraries(fibers-boost
    PRIVATE bench_harness nopal_warnings ${NOPAL_BOOST_CONTEXT})
  bench_built(boost "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" fibers)
else()
  bench_missing(boost "Boost.Context was not found (libboost-context-dev)")
endif()

find_program(NOPAL_GO go)
if(NOPAL_GO)
  foreach(problem fibers stopping)
    set(program ${CMAKE_CURRENT_BINARY_DIR}/${problem}-go)
    add_custom_command(OUTPUT ${program}
      COMMAND ${CMAKE_COMMAND} -E env GO111MODULE=off
        ${NOPAL_GO} build -o ${program} ${CMAKE_CURRENT_SOURCE_DIR}/${problem}.go
      DEPENDS ${problem}.go VERBATIM COMMENT "Building ${problem}-go with go")
    add_custom_target(bench_go_${problem} ALL DEPENDS ${program})
  endforeach()
  execute_process(COMMAND ${NOPAL_GO} env GOVERSION
    OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
  bench_built(go "${version}" fibers stopping)
else()
  bench_missing(go "Go was not found (golang-go)")
endif()

# The study `cancellation`: one program, for Nopal, oneTBB and OpenMP.
function(bench_cancelling runtime definition library)
  add_executable(cancelling-${runtime} cancelling.cc)
  target_compile_definitions(cancelling-${runtime} PRIVATE BENCH_RUNTIME="${runtime}" ${definition})
  target_compile_options(cancelling-${runtime} PRIVATE ${bench_flags})
  target_link_libraries(cancelling-${runtime} PRIVATE bench_harness nopal_warnings ${library})
  bench_also(${runtime} cancelling)
  set(programs_json "${programs_json}" PARENT_SCOPE)
endfunction()

function(bench_cancelling_openmp runtime compiler)
  set(programs "")
  bench_foreign_program(cancelling-${runtime} ${compiler} cancelling.cc
    OPTIONS "-DBENCH_RUNTIME=\"${runtime}\"" -fopenmp)
  add_custom_target(bench_cancelling_${runtime} ALL DEPENDS ${programs})
  bench_also(${runtime} cancelling)
  set(programs_json "${programs_json}" PARENT_SCOPE)
endfunction()

if(TARGET nopal)
  bench_cancelling(nopal BENCH_NOPAL nopal::nopal)
  add_executable(stopping-nopal stopping.cc)
  target_compile_definitions(stopping-nopal PRIVATE BENCH_RUNTIME="nopal")
  target_compile_options(stopping-nopal PRIVATE ${bench_flags})
  target_link_libraries(stopping-nopal PRIVATE bench_harness nopal_warnings nopal::nopal)
  bench_also(nopal stopping)
endif()
if(TARGET fib-tbb)
  bench_cancelling(tbb BENCH_TBB TBB::tbb)
endif()
if(TARGET bench_openmp-gcc)
  bench_cancelling_openmp(openmp-gcc ${NOPAL_BENCH_GCC})
endif()
if(TARGET bench_openmp-llvm)
  bench_cancelling_openmp(openmp-llvm ${NOPAL_BENCH_CLANG})
endif()

# The study `io`: clients, and an echo server for each runtime beside them.
function(bench_io runtime)
  add_executable(io-${runtime} io.cc)
  target_compile_definitions(io-${runtime} PRIVATE BENCH_RUNTIME="${runtime}")
  target_compile_options(io-${runtime} PRIVATE ${bench_flags})
  target_link_libraries(io-${runtime} PRIVATE bench_harness nopal_warnings)
endfunction()

if(TARGET nopal)
  add_executable(echo-nopal echo/echo.cc)
  target_compile_options(echo-nopal PRIVATE ${bench_flags})
  target_link_libraries(echo-nopal PRIVATE nopal_warnings nopal::nopal)
  bench_io(nopal)
  add_dependencies(io-nopal echo-nopal)
  bench_also(nopal io)
endif()
if(NOPAL_GO)
  set(program ${CMAKE_CURRENT_BINARY_DIR}/echo-go)
  add_custom_command(OUTPUT ${program}
    COMMAND ${CMAKE_COMMAND} -E env GO111MODULE=off
      ${NOPAL_GO} build -o ${program} ${CMAKE_CURRENT_SOURCE_DIR}/echo/echo.go
    DEPENDS echo/echo.go VERBATIM COMMENT "Building echo-go with go")
  add_custom_target(bench_echo_go DEPENDS ${program})
  bench_io(go)
  add_dependencies(io-go bench_echo_go)
  bench_also(go io)
endif()

option(NOPAL_PEER_TOKIO "build the echo server of Tokio, whose crates cargo fetches" OFF)
find_program(NOPAL_CARGO cargo)
if(NOPAL_PEER_TOKIO AND NOPAL_CARGO)
  set(program ${CMAKE_CURRENT_BINARY_DIR}/echo-tokio)
  add_custom_command(OUTPUT ${program}
    COMMAND ${NOPAL_CARGO} build --quiet --release
      --manifest-path ${CMAKE_CURRENT_SOURCE_DIR}/echo/tokio/Cargo.toml
      --target-dir ${CMAKE_CURRENT_BINARY_DIR}/tokio
    COMMAND ${CMAKE_COMMAND} -E copy tokio/release/echo-tokio ${program}
    DEPENDS echo/tokio/Cargo.toml echo/tokio/src/main.rs VERBATIM
    COMMENT "Building echo-tokio with cargo")
  add_custom_target(bench_echo_tokio DEPENDS ${program})
  bench_io(tokio)
  add_dependencies(io-tokio bench_echo_tokio)
  execute_process(COMMAND ${NOPAL_CARGO} --version
    OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
  bench_built(tokio "${version}" io)
elseif(NOPAL_PEER_TOKIO)
  bench_missing(tokio "cargo was not found (cargo)")
else()
  bench_missing(tokio "configure with -DNOPAL_PEER_TOKIO=ON; cargo fetches its crates")
endif()
