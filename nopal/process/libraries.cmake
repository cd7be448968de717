# SPDX-License-Identifier: MIT
# Programs on several processes: a library without MPI, and one for each MPI that is found.
#
#   nopal::process            processes that are forked from one, nothing else needed
#   nopal::process_openmpi    processes that Open MPI begins, on one machine or many
#   nopal::process_mpich      the same with MPICH
#
# The libraries with MPI use UCX where it is found. The first is process_local in this build.
include(${PROJECT_SOURCE_DIR}/cmake/nopal-mpi.cmake)

# nopal_process_objects(name source...): sources of process/ that several libraries have. They are
# compiled once.
function(nopal_process_objects name)
  list(TRANSFORM ARGN PREPEND process/ OUTPUT_VARIABLE sources)
  add_library(nopal_${name} OBJECT EXCLUDE_FROM_ALL ${sources})
  nopal_library_options(nopal_${name})
  target_link_libraries(nopal_${name} PRIVATE $<BUILD_INTERFACE:nopal>)
  set_property(GLOBAL APPEND PROPERTY nopal_process_objects nopal_${name})
  set_property(GLOBAL APPEND PROPERTY nopal_process_sources ${sources})
endfunction()

# nopal_add_process_library(name OBJECTS name... SOURCES source...): the library of these objects
# and of these sources of process/. Where nothing installs it, it is built only if something links
# it.
function(nopal_add_process_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OBJECTS;SOURCES")
  list(TRANSFORM arg_SOURCES PREPEND process/)
  list(TRANSFORM arg_OBJECTS REPLACE "(.+)" "$<TARGET_OBJECTS:nopal_\\1>")
  add_library(nopal_${name} STATIC ${arg_SOURCES} ${arg_OBJECTS})
  add_library(nopal::${name} ALIAS nopal_${name})
  nopal_library_options(nopal_${name})
  target_link_libraries(nopal_${name} PUBLIC $<BUILD_INTERFACE:nopal>) # nopal-config.cmake has it
  if(NOT NOPAL_INSTALL)
    set_target_properties(nopal_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  set_property(GLOBAL APPEND PROPERTY nopal_process_libraries nopal_${name})
  set_property(GLOBAL APPEND PROPERTY nopal_process_sources ${arg_SOURCES})
endfunction()

# What passes requests between machines and the ring are in the library without MPI for their tests.
nopal_process_objects(process_common launch/handshake.cc launch/interfaces.cc launch/local.cc
  launch/needs.cc launch/neighbours.cc launch/ring.cc launch/watch.cc options.cc run/ends.cc
  run/forked.cc run/guard.cc run/heap.cc run/libraries.cc run/runtime.cc run/statistics.cc
  session.cc transport/adapters.cc transport/requests.cc transport/sealed.cc
  transport/secret.cc transport/shared_memory.cc transport/steal_service.cc
  transport/tcp_answers.cc transport/tcp_messages.cc transport/tcp_places.cc)
if(NOPAL_CHECKS)
  target_sources(nopal_process_common PRIVATE ${PROJECT_SOURCE_DIR}/tools/isolation.cc)
endif()
nopal_add_process_library(process_local OBJECTS process_common SOURCES launch/local_only.cc)
set_target_properties(nopal_process_local PROPERTIES EXPORT_NAME process)
add_library(nopal::process ALIAS nopal_process_local)

nopal_find_ucx()
if(TARGET nopal::ucx)
  set(process_engine transport/ucx.cc transport/ucx_answers.cc)
  nopal_summary(ucx "${NOPAL_UCX_ucp}")
else()
  set(process_engine transport/without_ucx.cc)
  nopal_summary(ucx "${nopal_ucx_MISSING}; processes of MPI reach each other by MPI alone")
endif()

set(process_mpis "")
foreach(mpi openmpi mpich)
  nopal_find_mpi(${mpi})
  if(NOT TARGET nopal::${mpi})
    nopal_summary(${mpi} "${nopal_${mpi}_MISSING}; nopal::process_${mpi} is left out")
    continue()
  endif()
  if(NOT process_mpis)
    nopal_process_objects(process_launched launch/addresses.cc launch/agreement.cc
      launch/beginning.cc ${process_engine})
  endif()
  nopal_add_process_library(process_${mpi} OBJECTS process_common process_launched
    SOURCES launch/mpi_launch.cc transport/mpi_messages.cc)
  target_link_libraries(nopal_process_${mpi} PRIVATE nopal::${mpi})
  if(TARGET nopal::ucx)
    target_link_libraries(nopal_process_launched PRIVATE nopal::ucx)
    target_link_libraries(nopal_process_${mpi} PRIVATE nopal::ucx)
  endif()
  set_target_properties(nopal_process_${mpi} PROPERTIES EXPORT_NAME process_${mpi})
  nopal_summary(${mpi} "${NOPAL_${mpi}_LIBRARY}")
  list(APPEND process_mpis ${mpi})
endforeach()
set_property(GLOBAL PROPERTY nopal_process_mpis ${process_mpis})

# The sources that none of these libraries has here.
file(GLOB_RECURSE process_left_out CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
  process/*.cc)
get_property(process_sources GLOBAL PROPERTY nopal_process_sources)
list(REMOVE_ITEM process_left_out ${process_sources})
list(TRANSFORM process_left_out PREPEND nopal/)
set_property(GLOBAL PROPERTY nopal_process_left_out ${process_left_out})
