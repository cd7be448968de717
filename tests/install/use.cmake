# SPDX-License-Identifier: MIT
# Takes the library into use by one WAY (cmake, components, pkgconfig, subdirectory, package) and
# runs a consumer. Called by ctest; every step that fails ends the script.
cmake_policy(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
set(expected "fib\\(20\\) = 6765 with [1-9][0-9]* workers")
set(prefix ${SCRATCH_DIR}/prefix)
set(build ${SCRATCH_DIR}/build)

function(run_consumer program)
  run(COMMAND ${program} OUTPUT output)
  if(NOT output MATCHES "^${expected}\n$")
    message(FATAL_ERROR "${program} printed \"${output}\", not \"${expected}\"")
  endif()
  message(STATUS "${program}: ${output}")
endfunction()

function(run_fibril program)
  run(COMMAND ${program} OUTPUT output)
  if(NOT output STREQUAL "fib(20) = 6765 with 2 workers\n")
    message(FATAL_ERROR "the program in C printed \"${output}\"")
  endif()
  message(STATUS "${program}: ${output}")
endfunction()

# A program whose processes are forked loads nothing of MPI or UCX.
function(run_processes program)
  run(COMMAND ${CMAKE_COMMAND} -E env NOPAL_PROCESSES=2 ${program} OUTPUT output)
  if(NOT output STREQUAL "fib(20) = 6765 with 2 processes\n")
    message(FATAL_ERROR "the program on processes printed \"${output}\"")
  endif()
  file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${program} RESOLVED_DEPENDENCIES_VAR loaded
    UNRESOLVED_DEPENDENCIES_VAR not_found)
  list(FILTER loaded EXCLUDE
    REGEX "/(libstdc\\+\\+|libm|libgcc_s|libc|ld-linux-x86-64)\\.so[.0-9]*$")
  if(loaded OR not_found)
    message(FATAL_ERROR "${program} loads ${loaded} ${not_found}")
  endif()
endfunction()

function(install_moved)
  # Installed to one place and moved to another: nothing may remember the first.
  run(COMMAND ${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${SCRATCH_DIR}/first)
  file(RENAME ${SCRATCH_DIR}/first ${prefix})
endfunction()

# Only headers that users can reach are installed: a header is public, directly in nopal/ or nopal/c/, or
# another header includes it. And each header that another one includes is installed.
function(check_headers)
  file(GLOB_RECURSE headers RELATIVE ${prefix}/include ${prefix}/include/nopal/*.h)
  set(named "")
  foreach(header IN LISTS headers)
    file(STRINGS ${prefix}/include/${header} lines REGEX "^#.*\"nopal/[^\"]+\\.h\"")
    foreach(line IN LISTS lines)
      string(REGEX MATCH "nopal/[^\"]+" other "${line}")
      if(NOT other IN_LIST headers)
        message(FATAL_ERROR "${header} includes ${other}, which is not installed")
      endif()
      list(APPEND named ${other})
    endforeach()
  endforeach()
  list(FILTER headers EXCLUDE REGEX "^nopal/(c/)?[^/]+$")
  list(LENGTH headers count)
  list(REMOVE_ITEM headers ${named})
  if(headers OR count EQUAL 0)
    message(FATAL_ERROR "of ${count} headers below nopal/ no installed one includes: ${headers}")
  endif()
  set(nopal ${prefix}/include/nopal)
  file(GLOB internal ${nopal}/process/launch/*.h ${nopal}/base/thread.h)
  if(internal)
    message(FATAL_ERROR "users reach none of these, and they are installed: ${internal}")
  endif()
  message(STATUS "${count} headers below nopal/ are installed")
endfunction()

function(configure source)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FAILS" "OPTIONS")
  file(REMOVE_RECURSE ${build})
  run(FAILS "${arg_FAILS}" COMMAND ${CMAKE_COMMAND} -S ${source} -B ${build} -G ${GENERATOR}
    -D CMAKE_CXX_COMPILER=${COMPILER} ${arg_OPTIONS})
endfunction()

function(use_cmake)
  install_moved()
  check_headers()
  configure(${CMAKE_CURRENT_LIST_DIR}/found
    OPTIONS -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_BUILD_TYPE=Release)
  run(COMMAND ${CMAKE_COMMAND} --build ${build})
  run_consumer(${build}/consumer)
  run_processes(${build}/processes)
  run_fibril(${build}/fibril)
  if(SHARED)
    configure(${CMAKE_CURRENT_LIST_DIR}/found
      OPTIONS -D CMAKE_PREFIX_PATH=${prefix} "-D COMPONENTS=nopal,shared")
    run(COMMAND ${CMAKE_COMMAND} --build ${build} --target consumer)
    run_consumer(${build}/consumer)
    file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${build}/consumer RESOLVED_DEPENDENCIES_VAR loaded)
    if(NOT loaded MATCHES "/libnopal\\.so\\.")
      message(FATAL_ERROR "the program loads ${loaded}, and no libnopal.so")
    endif()
  endif()
endfunction()

# A component that was asked for and is missing is named.
function(use_components)
  install_moved()
  set(found ${CMAKE_CURRENT_LIST_DIR}/found)
  set(here -D CMAKE_PREFIX_PATH=${prefix})
  configure(${found} OPTIONS ${here} "-D COMPONENTS=nopal,process")
  configure(${found} OPTIONS ${here} "-D COMPONENTS=split"
    FAILS "no component split; it has nopal, shared, mapped, c, process, process_openmpi and")
  configure(${found} OPTIONS ${here} "-D COMPONENTS=process,another"
    FAILS "Nopal has no component another")
  if(NOT SHARED)
    configure(${found} OPTIONS ${here} "-D COMPONENTS=shared"
      FAILS "component shared cannot be used: Nopal was built without it")
  endif()
  if(NOT MPI)
    configure(${found} OPTIONS ${here} "-D COMPONENTS=process_openmpi"
      FAILS "component process_openmpi cannot be used: Nopal was built and installed without it")
    return()
  endif()
  configure(${found} OPTIONS ${here} "-D COMPONENTS=process_openmpi")
  # As on a machine without that MPI. All but the component for it is there.
  list(APPEND here -D NOPAL_openmpi_COMPILER=)
  configure(${found} OPTIONS ${here} "-D COMPONENTS=process_openmpi"
    FAILS "component process_openmpi cannot be used: mpicxx.openmpi was not found \\(libopenmpi")
  configure(${found} OPTIONS ${here})
  run(COMMAND ${CMAKE_COMMAND} --build ${build})
  run_processes(${build}/processes)
endfunction()

# The program is named by the module.
function(compile_by_pkgconfig module source)
  run(COMMAND ${PKG_CONFIG} --cflags --libs ${module} OUTPUT flags)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(COMMAND ${COMPILER} -std=c++20 -O2 ${CMAKE_CURRENT_LIST_DIR}/${source}.cc
    -o ${SCRATCH_DIR}/${module} ${flags})
endfunction()

function(use_pkgconfig)
  find_program(PKG_CONFIG NAMES pkg-config)
  if(NOT PKG_CONFIG)
    message(STATUS "skipped: pkg-config is not installed")
    return()
  endif()
  install_moved()
  set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
  compile_by_pkgconfig(nopal consumer)
  run_consumer(${SCRATCH_DIR}/nopal)
  find_program(C_COMPILER NAMES cc gcc)
  if(C_COMPILER)
    run(COMMAND ${PKG_CONFIG} --cflags --libs nopal-fibril OUTPUT flags)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    run(COMMAND ${C_COMPILER} -O2 ${CMAKE_CURRENT_LIST_DIR}/fibril.c
      -o ${SCRATCH_DIR}/nopal-fibril ${flags})
    run_fibril(${SCRATCH_DIR}/nopal-fibril)
  endif()
  compile_by_pkgconfig(nopal-process processes)
  run_processes(${SCRATCH_DIR}/nopal-process)
  if(MPI AND NOT EXISTS ${prefix}/${LIBDIR}/pkgconfig/nopal-process-openmpi.pc)
    message(FATAL_ERROR "the library for Open MPI has no file for pkg-config")
  endif()
  set(ENV{OMPI_ALLOW_RUN_AS_ROOT} 1)
  set(ENV{OMPI_ALLOW_RUN_AS_ROOT_CONFIRM} 1)
  set(ENV{OMPI_MCA_rmaps_base_oversubscribe} 1)
  foreach(mpi openmpi mpich)
    find_program(LAUNCHER_${mpi} NAMES mpirun.${mpi})
    if(NOT EXISTS ${prefix}/${LIBDIR}/pkgconfig/nopal-process-${mpi}.pc OR NOT LAUNCHER_${mpi})
      continue()
    endif()
    compile_by_pkgconfig(nopal-process-${mpi} processes)
    run(COMMAND ${LAUNCHER_${mpi}} -n 2 ${SCRATCH_DIR}/nopal-process-${mpi} OUTPUT output)
    if(NOT output STREQUAL "fib(20) = 6765 with 2 processes\n")
      message(FATAL_ERROR "the program that mpirun.${mpi} begins printed \"${output}\"")
    endif()
    message(STATUS "nopal-process-${mpi}: ${output}")
  endforeach()
endfunction()

# A project that names no build type holds Nopal in a subdirectory, with spaces in its path. Nopal
# is optimised all the same, what nothing links is not built, and nothing of Nopal is installed.
# Nopal has RTTI although the project has none.
function(use_subdirectory)
  file(CREATE_LINK ${SOURCE_DIR} ${SCRATCH_DIR}/nopal SYMBOLIC)
  configure(${CMAKE_CURRENT_LIST_DIR}/embedded
    OPTIONS -D NOPAL_SOURCE_DIR=${SCRATCH_DIR}/nopal -D CMAKE_EXPORT_COMPILE_COMMANDS=ON
    -D CMAKE_CXX_FLAGS=-fno-rtti)
  run(COMMAND ${CMAKE_COMMAND} --build ${build} --parallel 2)
  run_consumer(${build}/consumer)
  file(GLOB_RECURSE archives RELATIVE ${build} ${build}/*.a)
  if(NOT archives STREQUAL "nopal/nopal/libnopal.a")
    message(FATAL_ERROR "built were ${archives}, and not nopal/nopal/libnopal.a alone")
  endif()
  file(STRINGS ${build}/compile_commands.json compiled REGEX "\"command\": .*/nopal/[^ ]*\\.cc")
  list(FILTER compiled EXCLUDE REGEX "/consumer\\.cc") # the checkout may be called nopal
  list(FILTER compiled EXCLUDE REGEX " -O2 ")
  if(compiled)
    message(FATAL_ERROR "compiled without -O2: ${compiled}")
  endif()
  run(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${prefix})
  file(GLOB_RECURSE installed ${prefix}/*)
  if(NOT installed STREQUAL "${prefix}/bin/consumer")
    message(FATAL_ERROR "installed were ${installed}, and not bin/consumer alone")
  endif()
  configure(${CMAKE_CURRENT_LIST_DIR}/embedded OPTIONS -D NOPAL_SOURCE_DIR=${SCRATCH_DIR}/nopal
    -D CMAKE_EXPORT_COMPILE_COMMANDS=ON -D CMAKE_CXX_FLAGS=-O3)
  file(STRINGS ${build}/compile_commands.json compiled REGEX " -O2 ")
  if(compiled)
    message(FATAL_ERROR "the project asks for -O3, and -O2 is what compiled ${compiled}")
  endif()
endfunction()

# package_has(what text regex...): each must match the text.
function(package_has what text)
  foreach(regex IN LISTS ARGN)
    if(NOT text MATCHES "${regex}")
      message(FATAL_ERROR "the package's ${what} have nothing that matches ${regex}:\n${text}")
    endif()
  endforeach()
endfunction()

function(use_package)
  find_program(DPKG_DEB NAMES dpkg-deb)
  if(NOT DPKG_DEB)
    message(STATUS "skipped: dpkg-deb is not installed")
    return()
  endif()
  file(READ ${BINARY_DIR}/CPackConfig.cmake config)
  if(NOT config MATCHES "\\(CPACK_PACKAGE_DIRECTORY \"${BINARY_DIR}\"\\)")
    message(FATAL_ERROR "cpack does not write to the build folder: ${config}")
  endif()
  run(COMMAND ${CMAKE_CPACK_COMMAND} -G DEB --config ${BINARY_DIR}/CPackConfig.cmake
    -B ${SCRATCH_DIR})
  file(GLOB package ${SCRATCH_DIR}/libnopal-dev_${VERSION}_amd64.deb)
  run(COMMAND ${DPKG_DEB} -I ${package} OUTPUT control)
  package_has("fields" "${control}" "\n Depends: libc6-dev, libstdc" "\n Section: libdevel"
    "\n Maintainer: [^\n]+ <[^\n@]+@[^\n@]+>" "\n Description: [^\n]+\n [^\n]+")
  if(control MATCHES "Maintainer: [^\n]*localhost")
    message(FATAL_ERROR "nobody maintains the package: ${control}")
  endif()
  run(COMMAND ${DPKG_DEB} -c ${package} OUTPUT files)
  set(libdir lib)
  if(ARCHITECTURE)
    set(libdir lib/${ARCHITECTURE})
  endif()
  package_has("files" "${files}" "\\./usr/include/nopal/fork\\.h" "\\./usr/${libdir}/libnopal\\.a"
    "\\./usr/${libdir}/libnopal_process_local\\.a" "\\./usr/${libdir}/libnopal_mapped\\.a"
    "\\./usr/${libdir}/libnopal_c\\.a" "\\./usr/include/nopal/c/fibril\\.h"
    "\\./usr/${libdir}/cmake/nopal/nopal-config"
    "\\./usr/${libdir}/pkgconfig/nopal\\.pc" "\\./usr/share/doc/libnopal-dev/copyright"
    "\\./usr/share/doc/libnopal-dev/README\\.md" "\\./usr/share/doc/libnopal-dev/changelog\\.gz")
  file(SIZE ${package} size)
  if(size GREATER 2000000)
    message(FATAL_ERROR "the package has ${size} bytes: debug information was left in it")
  endif()
  run(COMMAND ${DPKG_DEB} -x ${package} ${SCRATCH_DIR}/root)
  configure(${CMAKE_CURRENT_LIST_DIR}/found
    OPTIONS -D CMAKE_PREFIX_PATH=${SCRATCH_DIR}/root/usr -D CMAKE_BUILD_TYPE=Release)
  run(COMMAND ${CMAKE_COMMAND} --build ${build})
  run_consumer(${build}/consumer)
endfunction()

cmake_language(CALL use_${WAY})
