# SPDX-License-Identifier: MIT
# Takes the library into use by one WAY (cmake, pkgconfig, subdirectory, package) and runs a
# consumer. Called by ctest; every step that fails ends the script.
set(expected "fib\\(20\\) = 6765 with [1-9][0-9]* workers")
set(prefix ${SCRATCH_DIR}/prefix)
file(REMOVE_RECURSE ${SCRATCH_DIR})
file(MAKE_DIRECTORY ${SCRATCH_DIR})

function(run)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUTPUT" "COMMAND")
  execute_process(COMMAND ${arg_COMMAND} WORKING_DIRECTORY ${SCRATCH_DIR}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT result EQUAL 0)
    list(JOIN arg_COMMAND " " command)
    message(FATAL_ERROR "${command}\nended with ${result}\n${output}${errors}")
  endif()
  if(arg_OUTPUT)
    set(${arg_OUTPUT} "${output}" PARENT_SCOPE)
  endif()
endfunction()

function(run_consumer program)
  run(COMMAND ${program} OUTPUT output)
  if(NOT output MATCHES "^${expected}\n$")
    message(FATAL_ERROR "${program} printed \"${output}\", not \"${expected}\"")
  endif()
  message(STATUS "${program}: ${output}")
endfunction()

function(install_moved)
  # Installed to one place and moved to another: nothing may remember the first.
  run(COMMAND ${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${SCRATCH_DIR}/first)
  file(RENAME ${SCRATCH_DIR}/first ${prefix})
endfunction()

function(configure_and_build source)
  run(COMMAND ${CMAKE_COMMAND} -S ${source} -B ${SCRATCH_DIR}/build -G ${GENERATOR}
    -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_BUILD_TYPE=Release ${ARGN})
  run(COMMAND ${CMAKE_COMMAND} --build ${SCRATCH_DIR}/build)
endfunction()

function(use_cmake)
  install_moved()
  configure_and_build(${CMAKE_CURRENT_LIST_DIR}/found -D CMAKE_PREFIX_PATH=${prefix})
  run_consumer(${SCRATCH_DIR}/build/consumer)
  set(ENV{NOPAL_PROCESSES} 2)
  run(COMMAND ${SCRATCH_DIR}/build/processes OUTPUT output)
  if(NOT output STREQUAL "fib(20) = 6765 with 2 processes\n")
    message(FATAL_ERROR "the program on processes printed \"${output}\"")
  endif()
endfunction()

function(use_pkgconfig)
  find_program(PKG_CONFIG NAMES pkg-config)
  if(NOT PKG_CONFIG)
    message(STATUS "skipped: pkg-config is not installed")
    return()
  endif()
  install_moved()
  set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
  run(COMMAND ${PKG_CONFIG} --cflags --libs nopal OUTPUT flags)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(COMMAND ${COMPILER} -std=c++20 -O2 ${CMAKE_CURRENT_LIST_DIR}/consumer.cc
    -o ${SCRATCH_DIR}/consumer ${flags})
  run_consumer(${SCRATCH_DIR}/consumer)
endfunction()

function(use_subdirectory)
  configure_and_build(${CMAKE_CURRENT_LIST_DIR}/embedded -D NOPAL_SOURCE_DIR=${SOURCE_DIR})
  run_consumer(${SCRATCH_DIR}/build/consumer)
endfunction()

function(use_package)
  find_program(DPKG_DEB NAMES dpkg-deb)
  if(NOT DPKG_DEB)
    message(STATUS "skipped: dpkg-deb is not installed")
    return()
  endif()
  run(COMMAND ${CMAKE_CPACK_COMMAND} -G DEB --config ${BINARY_DIR}/CPackConfig.cmake
    -B ${SCRATCH_DIR})
  file(GLOB package ${SCRATCH_DIR}/libnopal-dev_${VERSION}_*.deb)
  run(COMMAND ${DPKG_DEB} -x ${package} ${SCRATCH_DIR}/root)
  configure_and_build(
    ${CMAKE_CURRENT_LIST_DIR}/found -D CMAKE_PREFIX_PATH=${SCRATCH_DIR}/root/usr)
  run_consumer(${SCRATCH_DIR}/build/consumer)
endfunction()

cmake_language(CALL use_${WAY})
