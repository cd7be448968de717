# SPDX-License-Identifier: MIT
# The parts that can be built besides the library: tests, benchmarks, examples. Each needs packages
# that not every machine has. ON: the part is built, and a missing package is an error. OFF: it is
# not built. AUTO, the default in Nopal's own checkout: it is built if all that it needs is found;
# else the summary says what is missing.

# nopal_part(variable what): declares the part's option.
function(nopal_part variable what)
  set(default OFF)
  if(PROJECT_IS_TOP_LEVEL)
    set(default AUTO)
  endif()
  set(${variable} ${default} CACHE STRING "build ${what}: ON, OFF, or AUTO, where it can be")
  string(TOUPPER "${${variable}}" value)
  if(NOT value MATCHES "^(AUTO|ON|OFF|TRUE|FALSE|YES|NO|Y|N|1|0)$")
    message(FATAL_ERROR "${variable} is \"${${variable}}\", but must be ON, OFF or AUTO.")
  endif()
endfunction()

# nopal_leave_out(variable part missing packages): the part cannot be built. `missing` is a clause
# that says why, `packages` are Debian's that would help.
function(nopal_leave_out variable part missing packages)
  string(TOUPPER "${${variable}}" value)
  if(NOT value STREQUAL "AUTO")
    message(FATAL_ERROR "${variable} is ${${variable}}, but ${missing} (Debian's ${packages}); "
      "with ${variable}=AUTO the ${part} are left out where something is missing.")
  endif()
  nopal_summary(${part} "left out: ${missing} (${packages})")
endfunction()

# nopal_add_part(variable part folder): adds the part's folder, or a line of the summary that says
# why not.
function(nopal_add_part variable part folder)
  if(NOT ${variable})
    nopal_summary(${part} "not built: ${variable} is ${${variable}}")
    return()
  endif()
  add_subdirectory(${folder})
endfunction()

# An option that asks for some of the benchmarks is an error where the benchmarks are not built.
function(nopal_refuse_what_is_not_built)
  if(TARGET bench_harness)
    return()
  endif()
  get_cmake_property(variables VARIABLES)
  list(FILTER variables INCLUDE REGEX "^NOPAL_(PEER_.*|BENCH_STUDIES)$")
  foreach(variable IN LISTS variables)
    if(${variable})
      message(FATAL_ERROR "${variable} is ${${variable}}, but the benchmarks are not built: "
        "NOPAL_BUILD_BENCH is ${NOPAL_BUILD_BENCH}, and they need CLI11 and nlohmann-json "
        "(Debian's libcli11-dev, nlohmann-json3-dev).")
    endif()
  endforeach()
endfunction()
