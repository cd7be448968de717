# SPDX-License-Identifier: MIT
# Compiles a program of files in C and C++, and runs it with each of some seeds, or without one.
#
# cmake -DSOURCES=list -DC=compiler -DCXX=compiler "-DC_FLAGS=list" "-DCXX_FLAGS=list"
#       -DROOT=repository -DLIBRARIES=list -DDEFINITIONS=list -DOUT=directory -DRUNS=list
#       [-DLAUNCHER=list] [-DLINK_FLAGS=list] [-DCOUNTED=regex] -P run.cmake
#
# Of RUNS each is the program's argument; "plain" is none. Calls of COUNTED, a function of the
# libraries, are calls of another one, which the program defines: the macros NOPAL_WRAPPED and
# NOPAL_REAL are the names of both.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../run.cmake)
set(common -Wall -Wextra -Wpedantic -Wshadow -Werror ${DEFINITIONS} -I${ROOT} -I${ROOT}/nopal/c)
if(COUNTED)
  set(library ${LIBRARIES})
  list(FILTER library INCLUDE REGEX "/libnopal[.]a$")
  execute_process(COMMAND nm ${library} OUTPUT_VARIABLE names ERROR_QUIET)
  string(REGEX MATCH "[ ](${COUNTED})\n" found "${names}")
  list(APPEND LINK_FLAGS -Wl,--wrap=${CMAKE_MATCH_1})
  list(APPEND common "-DNOPAL_WRAPPED=\"__wrap_${CMAKE_MATCH_1}\""
    "-DNOPAL_REAL=\"__real_${CMAKE_MATCH_1}\"")
endif()
set(objects "")
foreach(source IN LISTS SOURCES)
  if(source MATCHES "[.]cc$")
    run(${CXX} -std=c++20 ${CXX_FLAGS} ${common} -c ${ROOT}/tests/c/${source} -o ${source}.o)
  else()
    run(${C} ${C_FLAGS} ${common} -c ${ROOT}/tests/c/${source} -o ${source}.o)
  endif()
  list(APPEND objects ${source}.o)
endforeach()
run(${CXX} ${CXX_FLAGS} ${objects} ${LIBRARIES} ${LINK_FLAGS} -pthread -o program)
foreach(each IN LISTS RUNS)
  if(each STREQUAL "plain")
    set(each "")
  endif()
  run(${LAUNCHER} ./program ${each})
endforeach()
