# SPDX-License-Identifier: MIT
# Programs on several processes: one library for each MPI that is found, and one without.
#
#   nopal::process_openmpi    processes that Open MPI begins, on one machine or many
#   nopal::process_mpich      the same with MPICH
#   nopal::process_local      processes that are forked from one, nothing else needed
#   nopal::process            the first of these that there is
#
# The libraries with MPI use UCX where it is found.
set(process_core addresses.cc ends.cc guard.cc heap.cc isolation.cc local.cc options.cc runtime.cc
  session.cc statistics.cc watch.cc)

# nopal_add_process_library(name source...): the library with these sources of process/ besides.
function(nopal_add_process_library name)
  set(sources ${process_core} ${ARGN})
  list(TRANSFORM sources PREPEND process/)
  add_library(nopal_${name} STATIC ${sources})
  add_library(nopal::${name} ALIAS nopal_${name})
  nopal_library_options(nopal_${name})
  target_link_libraries(nopal_${name} PUBLIC nopal)
  set_target_properties(nopal_${name} PROPERTIES EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY nopal_process_libraries nopal_${name})
  set_property(GLOBAL APPEND PROPERTY nopal_process_sources ${sources})
endfunction()

# Where UCX is, in NOPAL_UCX_INCLUDE and NOPAL_UCX_LIBRARIES; the latter is empty without it.
find_path(NOPAL_UCX_INCLUDE ucp/api/ucp.h)
set(NOPAL_UCX_LIBRARIES "")
foreach(name ucp ucs)
  find_library(NOPAL_UCX_${name} ${name})
  list(APPEND NOPAL_UCX_LIBRARIES ${NOPAL_UCX_${name}})
endforeach()
if(NOPAL_UCX_INCLUDE AND NOPAL_UCX_ucp AND NOPAL_UCX_ucs)
  set(process_engine ucx.cc ucx_answers.cc)
  nopal_summary(ucx "${NOPAL_UCX_ucp}")
else()
  set(process_engine without_ucx.cc)
  set(NOPAL_UCX_LIBRARIES "")
  nopal_summary(ucx "not found; processes reach each other by MPI alone (libucx-dev)")
endif()

# nopal_add_mpi_library(mpi package compiler question...): for an MPI whose compiler answers
# the questions with the options that it compiles and links with.
function(nopal_add_mpi_library mpi package compiler)
  find_program(NOPAL_${mpi}_COMPILER ${compiler})
  set(options "")
  foreach(question IN LISTS ARGN)
    if(NOPAL_${mpi}_COMPILER)
      execute_process(COMMAND ${NOPAL_${mpi}_COMPILER} ${question}
        OUTPUT_VARIABLE answer ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
      string(APPEND options " ${answer}")
    endif()
  endforeach()
  string(REGEX MATCHALL "-I[^ ]+" includes "${options}")
  string(REGEX MATCHALL "-L[^ ]+" folders "${options}")
  list(TRANSFORM includes REPLACE "^-I" "")
  list(TRANSFORM folders REPLACE "^-L" "")
  find_library(NOPAL_${mpi}_LIBRARY NAMES ${mpi} mpi HINTS ${folders} NO_DEFAULT_PATH)
  if(NOT NOPAL_${mpi}_COMPILER OR NOT includes OR NOT NOPAL_${mpi}_LIBRARY)
    nopal_summary(${mpi} "not found; the library for its processes is left out (${package})")
    return()
  endif()
  nopal_add_process_library(process_${mpi} beginning.cc handover.cc mpi.cc
    mpi_launch.cc mpi_messages.cc ring.cc ${process_engine})
  target_include_directories(nopal_process_${mpi} SYSTEM PRIVATE ${includes})
  target_link_libraries(nopal_process_${mpi} PRIVATE ${NOPAL_${mpi}_LIBRARY})
  # Without the bindings for C++, which MPI has given up and which warn.
  target_compile_definitions(nopal_process_${mpi} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  if(NOPAL_UCX_LIBRARIES)
    target_include_directories(nopal_process_${mpi} SYSTEM PRIVATE ${NOPAL_UCX_INCLUDE})
    target_link_libraries(nopal_process_${mpi} PRIVATE ${NOPAL_UCX_LIBRARIES})
  endif()
  nopal_summary(${mpi} "${NOPAL_${mpi}_LIBRARY}")
endfunction()

nopal_add_mpi_library(openmpi "libopenmpi-dev, openmpi-bin" mpicxx.openmpi
  --showme:compile --showme:link)
nopal_add_mpi_library(mpich "libmpich-dev, mpich" mpicxx.mpich -show)
# handover.cc is there for its test.
nopal_add_process_library(process_local handover.cc local_only.cc)

# The sources that none of these libraries has here.
file(GLOB process_left_out RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS process/*.cc)
get_property(process_sources GLOBAL PROPERTY nopal_process_sources)
list(REMOVE_ITEM process_left_out ${process_sources})
list(TRANSFORM process_left_out PREPEND nopal/)
set_property(GLOBAL PROPERTY nopal_process_left_out ${process_left_out})

get_property(process_libraries GLOBAL PROPERTY nopal_process_libraries)
list(GET process_libraries 0 best)
add_library(nopal::process ALIAS ${best})
