# SPDX-License-Identifier: MIT
# Two versions of Nopal in one process, each with a library that uses it: shared or static, linked
# or loaded with dlopen in each mode. Once all of Nopal had one name in both, and such programs
# ended by SIGSEGV.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
if(NOT SHARED)
  message("-- skipped: this build has no libnopal.so (NOPAL_BUILD_SHARED)")
  return()
endif()

set(programs ${CMAKE_CURRENT_LIST_DIR}/versions)
string(REGEX MATCH "^([0-9]+)[.]([0-9]+)" found ${VERSION})
set(major ${CMAKE_MATCH_1})
set(minor ${CMAKE_MATCH_2})
math(EXPR next "${minor} + 1")

# replace(file text by): in the copy of the sources.
function(replace file text by)
  file(READ ${SCRATCH_DIR}/source/${file} before)
  string(REPLACE "${text}" "${by}" after "${before}")
  if(before STREQUAL after)
    message(FATAL_ERROR "${file} has no \"${text}\"")
  endif()
  file(WRITE ${SCRATCH_DIR}/source/${file} "${after}")
endfunction()

# The next version, of the same sources. The first one is the build that runs this test.
file(COPY ${SOURCE_DIR}/nopal ${SOURCE_DIR}/cmake ${SOURCE_DIR}/CMakeLists.txt
  ${SOURCE_DIR}/tools DESTINATION ${SCRATCH_DIR}/source)
replace(CMakeLists.txt "VERSION ${VERSION}" "VERSION ${major}.${next}.0")
replace(nopal/config.h "VERSION_MINOR ${minor}" "VERSION_MINOR ${next}")
run(COMMAND ${CMAKE_COMMAND} -S source -B next -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG" -DNOPAL_BUILD_SHARED=ON
  -DNOPAL_BUILD_TESTS=OFF -DNOPAL_BUILD_BENCH=OFF -DNOPAL_BUILD_EXAMPLES=OFF)
run(COMMAND ${CMAKE_COMMAND} --build next --target nopal --target nopal_shared --parallel)
set(root_1 ${SOURCE_DIR})
set(root_2 ${SCRATCH_DIR}/source)
set(libraries_1 ${BINARY_DIR}/nopal)
set(libraries_2 ${SCRATCH_DIR}/next/nopal)

set(compile ${COMPILER} -std=c++20 -O2 -pthread)
# user(name version kind): the library lib<name>.so, with this version of Nopal. Static ones show
# what a project's own flags show, which hide nothing.
function(user name version kind)
  set(nopal ${libraries_${version}}/libnopal.a)
  set(shared "")
  if(kind STREQUAL "shared")
    set(nopal -L${libraries_${version}} -lnopal -Wl,-rpath,${libraries_${version}})
    set(shared -DNOPAL_SHARED=1)
  endif()
  string(REGEX REPLACE "_.*" "" prefix ${name})
  run(COMMAND ${compile} -fPIC -shared ${shared} -I${root_${version}}
    "-DLIBRARY(function)=${prefix}_##function" ${programs}/library.cc ${nopal} -o lib${name}.so)
endfunction()

run(COMMAND ${compile} -DLOADED ${programs}/program.cc -o loads -ldl)
foreach(pair shared_1/shared_2 static_1/static_2 static_1/shared_2 shared_1/static_2
    static_1/static_1 shared_1/shared_1)
  string(REGEX MATCH "^(.*)_(.)/(.*)_(.)$" found ${pair})
  set(kinds ${CMAKE_MATCH_1} ${CMAKE_MATCH_3})
  set(versions ${CMAKE_MATCH_2} ${CMAKE_MATCH_4})
  string(REPLACE "/" "_" name ${pair})
  foreach(which one two)
    list(POP_FRONT kinds kind)
    list(POP_FRONT versions version)
    user(${which}_${name} ${version} ${kind})
  endforeach()
  run(COMMAND ${compile} ${programs}/program.cc -L. -lone_${name} -ltwo_${name}
    -Wl,-rpath,${SCRATCH_DIR} -o linked_${name})
  foreach(times RANGE 1 3)
    run(COMMAND ./linked_${name})
    foreach(mode local global deepbind)
      run(COMMAND ./loads ${mode} ./libone_${name}.so ./libtwo_${name}.so)
    endforeach()
  endforeach()
endforeach()

# Both in one executable file.
set(names one two)
set(numbers 1 2)
foreach(which version IN ZIP_LISTS names numbers)
  run(COMMAND ${compile} -c -I${root_${version}} "-DLIBRARY(function)=${which}_##function"
    ${programs}/library.cc -o ${which}.o)
endforeach()
run(COMMAND ${compile} ${programs}/program.cc one.o two.o ${libraries_1}/libnopal.a
  ${libraries_2}/libnopal.a -o both)
foreach(times RANGE 1 3)
  run(COMMAND ./both)
endforeach()
