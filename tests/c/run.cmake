# SPDX-License-Identifier: MIT
# Compiles a program of files in C and C++, and runs it with each of some seeds, or without one.
#
# cmake -DSOURCES=list -DC=compiler -DCXX=compiler "-DC_FLAGS=list" "-DCXX_FLAGS=list"
#       -DROOT=repository -DLIBRARIES=list -DDEFINITIONS=list -DOUT=directory -DRUNS=list
#       [-DLAUNCHER=list] -P run.cmake
#
# Of RUNS each is the program's argument; "plain" is none.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../run.cmake)
set(common -Wall -Wextra -Wpedantic -Wshadow -Werror ${DEFINITIONS} -I${ROOT} -I${ROOT}/nopal/c)
set(objects "")
foreach(source IN LISTS SOURCES)
  if(source MATCHES "[.]cc$")
    run(${CXX} -std=c++20 ${CXX_FLAGS} ${common} -c ${ROOT}/tests/c/${source} -o ${source}.o)
  else()
    run(${C} ${C_FLAGS} ${common} -c ${ROOT}/tests/c/${source} -o ${source}.o)
  endif()
  list(APPEND objects ${source}.o)
endforeach()
run(${CXX} ${CXX_FLAGS} ${objects} ${LIBRARIES} -pthread -o program)
foreach(each IN LISTS RUNS)
  if(each STREQUAL "plain")
    set(each "")
  endif()
  run(${LAUNCHER} ./program ${each})
endforeach()
