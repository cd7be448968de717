# SPDX-License-Identifier: MIT
# Compiles each <header>.cc of this folder with one compiler and one set of flags, links a program
# that calls them all, and runs it. Any warning is an error.
#
# cmake -DCOMPILER=path -DFLAGS=list -DROOT=repository -DDEFINITIONS=list -DLIBRARY=path
#       -DOUT=directory -DRUN=ON|OFF -P compile.cmake
cmake_minimum_required(VERSION 3.25)
list(REMOVE_ITEM DEFINITIONS "")
list(TRANSFORM DEFINITIONS PREPEND -D)
file(MAKE_DIRECTORY ${OUT})

function(run result)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${OUT} RESULT_VARIABLE status
    OUTPUT_VARIABLE words ERROR_VARIABLE words)
  set(${result} ${status} PARENT_SCOPE)
  if(NOT status EQUAL 0)
    string(REPLACE ";" " " line "${ARGN}")
    message(NOTICE "${line}\n${words}")
  endif()
endfunction()

# Clang's objects of -flto need a linker of LLVM's, which not every machine has.
if(COMPILER MATCHES "clang" AND "-flto" IN_LIST FLAGS)
  file(WRITE ${OUT}/probe.cc "int main() { return 0; }\n")
  execute_process(COMMAND ${COMPILER} -flto -fuse-ld=lld probe.cc -o probe WORKING_DIRECTORY ${OUT}
    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    message(STATUS "${COMPILER} links nothing with -flto -fuse-ld=lld here: linked without")
    list(REMOVE_ITEM FLAGS -flto)
  else()
    list(APPEND FLAGS -fuse-ld=lld)
  endif()
endif()
set(warnings -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
set(compile ${COMPILER} ${FLAGS} ${warnings} ${DEFINITIONS} -I${ROOT})
set(compile_alone ${compile})
list(FILTER compile_alone EXCLUDE REGEX "^-fuse-ld=")

file(GLOB sources ${CMAKE_CURRENT_LIST_DIR}/*.cc)
set(objects "")
set(declarations "")
set(calls "")
set(problems "")
foreach(source IN LISTS sources)
  cmake_path(GET source STEM name)
  run(failed ${compile_alone} -c ${source} -o ${name}.o)
  if(failed)
    list(APPEND problems ${name}.h)
  endif()
  list(APPEND objects ${name}.o)
  string(APPEND declarations "bool ${name}_is_right();\n")
  string(APPEND calls "  if (!${name}_is_right()) { std::puts(\"${name}.h: wrong\"); return 1; }\n")
endforeach()
if(problems)
  list(JOIN problems ", " problems)
  message(FATAL_ERROR "${COMPILER} ${FLAGS}: refuses or warns of ${problems}")
endif()

file(WRITE ${OUT}/main.cc
  "#include <cstdio>\n${declarations}int main() {\n${calls}  return 0;\n}\n")
run(failed ${compile} main.cc ${objects} ${LIBRARY} -pthread -o program)
if(failed)
  message(FATAL_ERROR "${COMPILER} ${FLAGS}: the link warns or fails")
endif()
if(RUN)
  run(failed ${OUT}/program)
  if(failed)
    message(FATAL_ERROR "the program failed: ${failed}")
  endif()
endif()
