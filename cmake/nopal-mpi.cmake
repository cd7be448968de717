# SPDX-License-Identifier: MIT
# Finds MPI and UCX, which programs on several processes link with. The build uses this file, and
# find_package(nopal) does.

# nopal_find_mpi(mpi): Open MPI (openmpi) or MPICH (mpich), as Debian names them. If it is found,
# the target nopal::<mpi> is defined; else nopal_<mpi>_MISSING says what is missing.
function(nopal_find_mpi mpi)
  set(questions_for_openmpi --showme:compile --showme:link)
  set(questions_for_mpich -show)
  set(packages_of_openmpi "libopenmpi-dev, openmpi-bin")
  set(packages_of_mpich "libmpich-dev, mpich")
  set(nopal_${mpi}_MISSING "" PARENT_SCOPE)
  if(TARGET nopal::${mpi})
    return()
  endif()
  find_program(NOPAL_${mpi}_COMPILER mpicxx.${mpi})
  mark_as_advanced(NOPAL_${mpi}_COMPILER)
  set(options "")
  if(NOPAL_${mpi}_COMPILER)
    foreach(question IN LISTS questions_for_${mpi})
      execute_process(COMMAND ${NOPAL_${mpi}_COMPILER} ${question}
        OUTPUT_VARIABLE answer ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
      string(APPEND options " ${answer}")
    endforeach()
  endif()
  string(REGEX MATCHALL "-I[^ ]+" includes "${options}")
  string(REGEX MATCHALL "-L[^ ]+" folders "${options}")
  list(TRANSFORM includes REPLACE "^-I" "")
  list(TRANSFORM folders REPLACE "^-L" "")
  find_library(NOPAL_${mpi}_LIBRARY NAMES ${mpi} mpi HINTS ${folders} NO_DEFAULT_PATH)
  mark_as_advanced(NOPAL_${mpi}_LIBRARY)
  if(NOT NOPAL_${mpi}_COMPILER OR NOT includes OR NOT NOPAL_${mpi}_LIBRARY)
    set(nopal_${mpi}_MISSING "mpicxx.${mpi} was not found (${packages_of_${mpi}})" PARENT_SCOPE)
    return()
  endif()
  add_library(nopal::${mpi} INTERFACE IMPORTED GLOBAL)
  set_target_properties(nopal::${mpi} PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${includes}"
    INTERFACE_LINK_LIBRARIES "${NOPAL_${mpi}_LIBRARY}"
    # Without the bindings for C++, which MPI has given up and which warn.
    INTERFACE_COMPILE_DEFINITIONS "OMPI_SKIP_MPICXX;MPICH_SKIP_MPICXX")
endfunction()

# nopal_find_ucx(): the same for UCX, with the target nopal::ucx or nopal_ucx_MISSING.
function(nopal_find_ucx)
  set(nopal_ucx_MISSING "" PARENT_SCOPE)
  if(TARGET nopal::ucx)
    return()
  endif()
  find_path(NOPAL_UCX_INCLUDE ucp/api/ucp.h)
  find_library(NOPAL_UCX_ucp ucp)
  find_library(NOPAL_UCX_ucs ucs)
  mark_as_advanced(NOPAL_UCX_INCLUDE NOPAL_UCX_ucp NOPAL_UCX_ucs)
  if(NOT NOPAL_UCX_INCLUDE OR NOT NOPAL_UCX_ucp OR NOT NOPAL_UCX_ucs)
    set(nopal_ucx_MISSING "UCX was not found (libucx-dev)" PARENT_SCOPE)
    return()
  endif()
  add_library(nopal::ucx INTERFACE IMPORTED GLOBAL)
  set_target_properties(nopal::ucx PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${NOPAL_UCX_INCLUDE}"
    INTERFACE_LINK_LIBRARIES "${NOPAL_UCX_ucp};${NOPAL_UCX_ucs}")
endfunction()
