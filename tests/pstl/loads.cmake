# SPDX-License-Identifier: MIT
# PROGRAM runs, with its forks on Nopal, and neither loads nor names oneTBB.
cmake_policy(VERSION 3.25)
execute_process(COMMAND ${CMAKE_COMMAND} -E env NOPAL_NUM_WORKERS=2 NOPAL_STATS=1 ${PROGRAM}
  OUTPUT_VARIABLE output ERROR_VARIABLE counters RESULT_VARIABLE result)
if(result OR NOT output STREQUAL "sum 499999500000, sorted\n")
  message(FATAL_ERROR "${PROGRAM} ended with ${result} and printed \"${output}\"${counters}")
endif()
if(NOT counters MATCHES "2 workers, ")
  message(FATAL_ERROR "nothing ran on Nopal: ${counters}")
endif()
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${PROGRAM} RESOLVED_DEPENDENCIES_VAR loaded
  UNRESOLVED_DEPENDENCIES_VAR not_found)
execute_process(COMMAND ${NM} -C ${PROGRAM} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if("${loaded};${not_found};${symbols}" MATCHES "libtbb|tbb::")
  message(FATAL_ERROR "${PROGRAM} has something of oneTBB")
endif()
