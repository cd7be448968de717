# SPDX-License-Identifier: MIT
# Programs of the study `nodes`: problems written with tasks, on processes, on the threads of one
# process, and in the serial elision.
set(task_problems btc1 btc2 uts task_queens task_fib)

# bench_tasks(runtime BACKEND header PROBLEMS ... [LIBRARIES ...] [LAUNCHER word...]): programs of
# one runtime, new or not; the launcher is what run.py puts before them, `-n` with a number behind.
function(bench_tasks runtime)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "BACKEND" "PROBLEMS;LIBRARIES;LAUNCHER")
  string(JSON problems_json ERROR_VARIABLE unknown GET "${programs_json}" built ${runtime} problems)
  if(unknown)
    bench_built(${runtime} "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
    set(problems_json "[]")
  endif()
  foreach(problem IN LISTS arg_PROBLEMS)
    set(target ${problem}-${runtime})
    if(problem STREQUAL latency)
      add_executable(${target} process/latency.cc)
      target_compile_definitions(${target} PRIVATE "BENCH_RUNTIME=\"${runtime}\"")
    else()
      bench_definitions(definitions ${problem} ${runtime} ${arg_BACKEND} OFF)
      list(TRANSFORM definitions REPLACE "problems/btc[12].h" "problems/btc.h")
      list(TRANSFORM definitions REPLACE "problems/steal_slowly.h" "problems/steal.h")
      add_executable(${target} process/program.cc)
      target_compile_definitions(${target} PRIVATE ${definitions})
    endif()
    target_compile_options(${target} PRIVATE ${bench_flags})
    target_link_libraries(${target} PRIVATE bench_harness nopal_warnings ${arg_LIBRARIES})
    string(JSON count LENGTH "${problems_json}")
    string(JSON problems_json SET "${problems_json}" ${count} "\"${problem}\"")
  endforeach()
  string(JSON programs_json SET "${programs_json}" built ${runtime} problems "${problems_json}")
  if(arg_LAUNCHER)
    list(JOIN arg_LAUNCHER "\", \"" words)
    string(JSON programs_json SET "${programs_json}" built ${runtime} launcher "[\"${words}\"]")
  endif()
  set(programs_json "${programs_json}" PARENT_SCOPE)
endfunction()

bench_tasks(serial_call BACKEND tasks_serial PROBLEMS ${task_problems})
if(TARGET nopal)
  bench_tasks(nopal BACKEND tasks_threads PROBLEMS ${task_problems} LIBRARIES nopal::nopal)
endif()
if(TARGET nopal_process_local)
  bench_tasks(process BACKEND tasks_processes PROBLEMS ${task_problems} steal latency
    LIBRARIES nopal::process_local)
else()
  bench_missing(process "the library nopal::process_local is not built")
endif()

# The queue of uni-address-hpdc15, and iso-address.
set(baseline_of_the uni_address)
set(baseline_of_iso iso_address)
foreach(runtime IN ITEMS the iso)
  set(baseline ${baseline_of_${runtime}})
  if(TARGET nopal_process_${baseline})
    bench_tasks(process-${runtime} BACKEND tasks_processes PROBLEMS btc1 uts steal
      LIBRARIES nopal::process_${baseline})
  else()
    bench_missing(process-${runtime} "baselines are not built (-DNOPAL_BASELINES=ON)")
  endif()
endforeach()

# Whether this machine allows two hosts of its own.
find_program(NOPAL_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(NOPAL_PYTHON NAMES python3)
set(two_hosts ${NOPAL_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/process/two_hosts.py)
set(no_hosts ON)
set(why_not_hosts "python3 was not found (python3)")
if(NOPAL_PYTHON)
  execute_process(COMMAND ${two_hosts} --check OUTPUT_VARIABLE why_not_hosts ERROR_QUIET
    RESULT_VARIABLE no_hosts OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()

# One library for each MPI, where it is found, and the launcher of that MPI.
set(launcher_of_openmpi openmpi-bin) # packages
set(launcher_of_mpich mpich)
foreach(mpi IN ITEMS openmpi mpich)
  find_program(NOPAL_MPIRUN_${mpi} NAMES mpirun.${mpi} mpiexec.${mpi}
    DOC "what begins the benchmarks that use ${mpi}")
  if(NOT TARGET nopal_process_${mpi})
    bench_missing(process-${mpi} "the library nopal::process_${mpi} is not built")
  elseif(NOT NOPAL_MPIRUN_${mpi})
    bench_missing(process-${mpi} "mpirun.${mpi} was not found (${launcher_of_${mpi}})")
  else()
    set(more "")
    set(over_tcp -genv NOPAL_TRANSPORT ucx_messages -genv NOPAL_UCX_TLS tcp,self)
    set(by_messages -genv NOPAL_TRANSPORT mpi_messages -genv UCX_TLS tcp,self)
    if(mpi STREQUAL openmpi)
      set(more --oversubscribe --bind-to none)
      set(over_tcp -x NOPAL_TRANSPORT=ucx_messages -x NOPAL_UCX_TLS=tcp,self)
      set(by_messages -x NOPAL_TRANSPORT=mpi_messages) # Nopal makes it use TCP
    endif()
    bench_tasks(process-${mpi} BACKEND tasks_processes PROBLEMS ${task_problems} steal latency
      LIBRARIES nopal::process_${mpi} LAUNCHER ${NOPAL_MPIRUN_${mpi}} ${more})
    bench_tasks(process-${mpi}-messages BACKEND tasks_processes PROBLEMS uts steal_slowly
      LIBRARIES nopal::process_${mpi} LAUNCHER ${NOPAL_MPIRUN_${mpi}} ${more} ${by_messages})
    if(no_hosts)
      bench_missing(process-${mpi}-hosts "${why_not_hosts}")
    else()
      bench_tasks(process-${mpi}-hosts BACKEND tasks_processes PROBLEMS btc1 task_queens uts
        LIBRARIES nopal::process_${mpi}
        LAUNCHER ${two_hosts} ${mpi} ${NOPAL_MPIRUN_${mpi}} ${more})
    endif()
    if(TARGET nopal::ucx)
      bench_tasks(process-${mpi}-tcp BACKEND tasks_processes PROBLEMS uts steal_slowly latency
        LIBRARIES nopal::process_${mpi} LAUNCHER ${NOPAL_MPIRUN_${mpi}} ${more} ${over_tcp})
    else()
      bench_missing(process-${mpi}-tcp "UCX was not found (libucx-dev)")
    endif()
  endif()
endforeach()

# Itoyori, given by path: -DNOPAL_PEER_ITOYORI=dir, where dir/include has its headers and those that
# they include (lxm_random, unordered_dense). It needs one-sided operations as MPICH has them.
set(NOPAL_PEER_ITOYORI "" CACHE PATH "where Itoyori is; empty: not measured")
find_library(NOPAL_NUMA numa)
if(NOT NOPAL_PEER_ITOYORI)
  bench_missing(itoyori "it is given by path, -DNOPAL_PEER_ITOYORI=dir")
elseif(NOT EXISTS ${NOPAL_PEER_ITOYORI}/include/ityr/ityr.hpp)
  message(FATAL_ERROR "NOPAL_PEER_ITOYORI is ${NOPAL_PEER_ITOYORI}, but there is no "
    "include/ityr/ityr.hpp in it: it must name the directory where Itoyori is.")
elseif(NOT TARGET nopal_process_mpich OR NOT NOPAL_MPIRUN_mpich OR NOT NOPAL_NUMA)
  message(FATAL_ERROR "NOPAL_PEER_ITOYORI is given, but MPICH, its launcher or libnuma was not "
    "found (Debian's libmpich-dev, mpich, libnuma-dev).")
else()
  add_library(bench_itoyori INTERFACE)
  target_include_directories(bench_itoyori SYSTEM INTERFACE ${NOPAL_PEER_ITOYORI}/include)
  target_compile_definitions(bench_itoyori INTERFACE NDEBUG)
  target_compile_options(bench_itoyori INTERFACE -O3 -fno-stack-protector) # as its own build does
  target_link_libraries(bench_itoyori INTERFACE nopal::mpich ${NOPAL_NUMA} rt)
  bench_tasks(itoyori BACKEND tasks_itoyori PROBLEMS btc1 task_fib
    LIBRARIES bench_itoyori LAUNCHER ${NOPAL_MPIRUN_mpich})
endif()
