# SPDX-License-Identifier: MIT
# Configures the project where something is missing: the configuration succeeds and names the
# missing package, or fails if a part that needs it was asked for by name. WAY: packages, programs,
# modules, libraries, places (read-only, with spaces, for an ordinary user), build_types (what these
# compile). With EACH, each thing is missing alone; without, one configuration misses many.
cmake_policy(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
set(source ${SOURCE_DIR})
set(build ${SCRATCH_DIR}/build)
set(as_user "") # a command that runs the configuration as another user

# configure([SAYS regex...] [FAILS sentence] [HIDDEN] [WITH option...]): by a preset, but not in the
# source tree. What the compiler is, CMake need not find out each time.
function(configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "FAILS" "SAYS;WITH")
  file(REMOVE ${build}/CMakeCache.txt)
  run(OUTPUT said FAILS "${arg_FAILS}" COMMAND ${as_user} ${CMAKE_COMMAND} -S ${source}
    --preset release -B ${build} -D CMAKE_CXX_COMPILER=${COMPILER}
    -D NOPAL_BUILD_LONG_TESTS=OFF ${arg_WITH})
  if(said MATCHES "CMake (Deprecation )?Warning")
    message(FATAL_ERROR "with ${arg_WITH} CMake warned:\n${said}")
  endif()
  foreach(regex IN LISTS arg_SAYS)
    if(NOT said MATCHES "\n--   [^\n]*${regex}")
      message(FATAL_ERROR "with ${arg_WITH} the summary does not say ${regex}:\n${said}")
    endif()
  endforeach()
  list(JOIN arg_WITH " " with)
  message(STATUS "configured: ${with}")
endfunction()

# without([PROGRAM pattern] [WITH option...] [SAYS regex...]): something is missing. A group of
# these ends with configure_without(), which configures once for all, unless EACH is set. No regex
# has a semicolon.
set(hidden "")
set(options "")
set(sentences "")
function(without)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "PROGRAM" "WITH;SAYS")
  list(APPEND hidden ${arg_PROGRAM})
  list(APPEND options ${arg_WITH})
  list(APPEND sentences ${arg_SAYS})
  if(EACH)
    configure_without()
  endif()
  return(PROPAGATE hidden options sentences)
endfunction()

function(configure_without)
  if(hidden OR options)
    foreach(pattern IN LISTS hidden)
      file(GLOB programs ${links}/${pattern})
      foreach(link IN LISTS programs)
        file(RENAME ${link} ${link}.hidden)
      endforeach()
    endforeach()
    message(STATUS "without ${hidden}")
    configure(WITH ${alone} ${options} SAYS ${sentences})
    foreach(pattern IN LISTS hidden)
      file(GLOB programs ${links}/${pattern}.hidden)
      foreach(link IN LISTS programs)
        string(REGEX REPLACE "[.]hidden$" "" program ${link})
        file(RENAME ${link} ${program})
      endforeach()
    endforeach()
  endif()
  set(hidden "")
  set(options "")
  set(sentences "")
  return(PROPAGATE hidden options sentences)
endfunction()

function(missing_packages)
  set(without_CLI11 -D CMAKE_DISABLE_FIND_PACKAGE_CLI11=ON)
  without(WITH ${without_CLI11}
    SAYS "benchmarks +left out: [^\n]*libcli11-dev")
  without(WITH -D CMAKE_DISABLE_FIND_PACKAGE_GTest=ON SAYS "tests +left out: [^\n]*libgtest-dev")
  configure_without()
  without(WITH -D CMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON
    SAYS "benchmarks +left out: [^\n]*nlohmann-json3-dev")
  configure_without()
  without(WITH -D CMAKE_DISABLE_FIND_PACKAGE_benchmark=ON SAYS "fork_cost: [^\n]*libbenchmark-dev")
  without(WITH -D CMAKE_DISABLE_FIND_PACKAGE_TBB=ON SAYS "without tbb: [^\n]*libtbb-dev")
  configure_without()
  # What is asked for by name is an error.
  configure(WITH ${without_CLI11} -D NOPAL_BUILD_BENCH=ON
    FAILS "NOPAL_BUILD_BENCH is ON, but not found: CLI11 \\(Debian's libcli11-dev\\)")
  configure(WITH ${without_CLI11} -D NOPAL_BUILD_EXAMPLES=ON)
  configure(WITH -D CMAKE_DISABLE_FIND_PACKAGE_GTest=ON -D NOPAL_BUILD_TESTS=ON
    FAILS "NOPAL_BUILD_TESTS is ON, but GoogleTest was not found \\(Debian's libgtest-dev\\)")
  configure(WITH ${without_CLI11} -D NOPAL_PEER_LACE=${SCRATCH_DIR}
    FAILS "NOPAL_PEER_LACE is .* but the benchmarks are not built")
  configure(WITH -D NOPAL_PEER_ITOYORI=${SCRATCH_DIR} -D NOPAL_BUILD_BENCH=OFF
    FAILS "NOPAL_PEER_ITOYORI is .* but the benchmarks are not built")
  configure(WITH -D NOPAL_PEER_CHEETAH=${SCRATCH_DIR} -D NOPAL_BUILD_BENCH=ON
    FAILS "NOPAL_PEER_CHEETAH is .* but there is no runtime/frame.h below it")
  configure(WITH -D NOPAL_BUILD_TESTS=maybe
    FAILS "NOPAL_BUILD_TESTS is \"maybe\", but must be ON, OFF or AUTO")
endfunction()

# Programs are found in a folder of links alone, and the links to one program are not there.
function(missing_programs)
  execute_process(COMMAND mktemp -d OUTPUT_VARIABLE links OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY) # make cannot lie in a path with spaces
  string(REPLACE ":" ";" folders "$ENV{PATH}")
  foreach(folder IN LISTS folders)
    file(GLOB programs RELATIVE ${folder} ${folder}/[A-Za-z0-9]*)
    foreach(program IN LISTS programs)
      if(NOT EXISTS ${links}/${program} AND NOT IS_DIRECTORY ${folder}/${program})
        file(CREATE_LINK ${folder}/${program} ${links}/${program} SYMBOLIC)
      endif()
    endforeach()
  endforeach()
  set(ENV{PATH} ${links})
  set(alone "-D CMAKE_IGNORE_PATH=/bin\\;/sbin\\;/usr/bin\\;/usr/sbin\\;/usr/local/bin")

  without(PROGRAM "*pkg*conf*" SAYS "interop +pkg-config was not found")
  without(PROGRAM git)
  without(PROGRAM gdb SAYS "gdb +not found. .*\\(gdb\\)")
  without(PROGRAM valgrind SAYS "valgrind +not found. .*\\(valgrind\\)")
  without(PROGRAM "clang*" WITH -D NOPAL_BUILD_LONG_TESTS=ON
    SAYS "headers +clang\\+\\+-19 was not found" "\\(clang-format-19\\)"
    "without openmp-llvm: [^\n]*clang-19" "matrix +[^\n]*g\\+\\+ only")
  without(PROGRAM bash SAYS "examples +bash was not found")
  without(PROGRAM "mpi*" SAYS "openmpi +[^\n]*libopenmpi-dev" "mpich +[^\n]*libmpich-dev")
  without(PROGRAM go SAYS "without go: [^\n]*golang-go")
  if(EACH)
    unset(ENV{CMAKE_GENERATOR})
    without(PROGRAM "ninja*")
  endif()
  configure_without()
  without(PROGRAM python3 SAYS "python +not found. tests written in it .*\\(python3\\)")
  without(PROGRAM "mpi[re]*"
    SAYS "openmpi +mpirun.openmpi was not found[^\n]*openmpi-bin" "mpich +[^\n]*\\(mpich\\)")
  if(EXISTS ${links}/ninja)
    set(ENV{CMAKE_GENERATOR} Ninja)
    without(PROGRAM "*make")
  endif()
  configure_without()
  file(REMOVE_RECURSE ${links})
endfunction()

# Libraries that pkg-config finds: without all, and without those of the longest names.
function(missing_modules)
  find_program(pkg_config pkg-config)
  if(NOT pkg_config)
    message(STATUS "skipped: pkg-config is not installed")
    return()
  endif()
  set(ENV{PKG_CONFIG_LIBDIR} ${SCRATCH_DIR})
  set(packages libxml2-dev libexpat1-dev libpcre2-dev libsqlite3-dev liblua5.4-dev libgsl-dev
    zlib1g-dev libopenblas-dev)
  list(TRANSFORM packages PREPEND "interop +[^\n]* was not found; [^\n]*" OUTPUT_VARIABLE said)
  configure(SAYS ${said})
endfunction()

function(missing_libraries)
  set(says_NOPAL_UCX_INCLUDE "ucx +[^\n]*libucx-dev")
  set(says_NOPAL_UCX_ucs "ucx +[^\n]*libucx-dev")
  set(says_NOPAL_openmpi_LIBRARY "openmpi +[^\n]*libopenmpi-dev")
  set(says_NOPAL_mpich_LIBRARY "mpich +[^\n]*libmpich-dev")
  set(says_NOPAL_RELACY_DIR "relacy +[^\n]*relacy-dev")
  set(says_NOPAL_BENCH_LIBOMP "without openmp-llvm: [^\n]*libomp-19-dev")
  set(says_NOPAL_BOOST_DIR "without boost: [^\n]*libboost-context-dev")
  foreach(variable NOPAL_UCX_INCLUDE NOPAL_openmpi_LIBRARY NOPAL_mpich_LIBRARY NOPAL_RELACY_DIR
      NOPAL_BENCH_LIBOMP NOPAL_BOOST_DIR)
    without(WITH -D ${variable}= SAYS "${says_${variable}}")
  endforeach()
  configure_without()
  without(WITH -D NOPAL_UCX_ucs= SAYS "${says_NOPAL_UCX_ucs}")
  configure_without()
endfunction()

# A copy of the sources that nobody may write, in a path with spaces and what else a list or a
# pattern would stumble over, for a user without a home.
function(missing_places)
  execute_process(COMMAND mktemp -d OUTPUT_VARIABLE place OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  file(COPY ${SOURCE_DIR}/ DESTINATION "${place}/a (copy)+" PATTERN build EXCLUDE
    PATTERN .git EXCLUDE PATTERN __pycache__ EXCLUDE PATTERN results EXCLUDE)
  file(MAKE_DIRECTORY "${place}/to build")
  execute_process(COMMAND chmod -R a=rX,u+rX "${place}/a (copy)+" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND chmod a+rwx ${place} "${place}/to build" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(user EQUAL 0)
    set(as_user setpriv --reuid=65534 --regid=65534 --clear-groups)
  endif()
  set(source "${place}/a (copy)+")
  set(build "${place}/to build")
  set(ENV{HOME} /nonexistent)
  unset(ENV{CMAKE_CXX_COMPILER_LAUNCHER}) # it may keep files of its own
  configure()
  execute_process(COMMAND find "${source}" -newer "${place}/to build/CMakeFiles/cmake.check_cache"
    OUTPUT_VARIABLE written)
  execute_process(COMMAND chmod -R u+w ${place})
  file(REMOVE_RECURSE ${place})
  if(written)
    message(FATAL_ERROR "the configuration wrote ${written}")
  endif()
endfunction()

# Compilers warn of other things at other levels; the presets' -Werror makes an error of that.
function(missing_build_types)
  set(types Release)
  set(targets nopal_common)
  if(EACH)
    set(types Release MinSizeRel)
    set(targets all)
  endif()
  # The libraries that studies build beside it are targets of the same project.
  foreach(type IN LISTS types)
    configure(WITH -D CMAKE_BUILD_TYPE=${type} -D NOPAL_BUILD_TESTS=OFF -D NOPAL_BUILD_BENCH=OFF
      -D NOPAL_BUILD_EXAMPLES=OFF -D NOPAL_BASELINES=ON)
    run(COMMAND ${CMAKE_COMMAND} --build ${build} --parallel 2 --target ${targets})
  endforeach()
endfunction()

cmake_language(CALL missing_${WAY})
