# SPDX-License-Identifier: MIT
# Programs on several processes: one library for each MPI that is found, and one without.
#
#   nopal::process_local      processes that are forked from one, nothing else needed
#   nopal::process            the best that there is
set(process_core addresses.cc ends.cc guard.cc heap.cc local.cc options.cc runtime.cc session.cc
  statistics.cc watch.cc)

# nopal_add_process_library(name source...): the library with these sources of process/ besides.
function(nopal_add_process_library name)
  set(sources ${process_core} ${ARGN})
  list(TRANSFORM sources PREPEND process/)
  add_library(nopal_${name} STATIC ${sources})
  add_library(nopal::${name} ALIAS nopal_${name})
  nopal_library_options(nopal_${name})
  target_link_libraries(nopal_${name} PUBLIC nopal)
  set_target_properties(nopal_${name} PROPERTIES EXPORT_NAME ${name})
endfunction()

nopal_add_process_library(process_local local_only.cc)
add_library(nopal::process ALIAS nopal_process_local)
