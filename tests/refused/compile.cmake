# SPDX-License-Identifier: MIT
# Compiles one case of a FILE of this folder; it must fail with the message that the file states.
# Where the file states "MESSAGE | NAME", the first line must match MESSAGE, and NAME must come
# after it. The case "accepted" comes before the others, which use the headers that it precompiles
# in the folder OUT. Called by ctest.
include(${CMAKE_CURRENT_LIST_DIR}/../precompile.cmake)
set(file ${CMAKE_CURRENT_LIST_DIR}/${FILE})
file(STRINGS ${file} line REGEX "^// ${CASE}: ")
string(REGEX REPLACE "^// ${CASE}: " "" message "${line}")
string(TOUPPER ${CASE} macro)
set(ENV{LC_ALL} C) # plain quotation marks
set(compile ${COMPILER} -std=c++20 -I${ROOT})
set(headers -include ${OUT}/first.h)
if(CASE STREQUAL "accepted")
  file(MAKE_DIRECTORY ${OUT})
  precompile(headers ${file} ${OUT} ${compile})
elseif(CASE MATCHES "serial")
  set(headers "") # for these the headers are others
endif()
execute_process(COMMAND ${compile} ${headers} -fsyntax-only -D${macro}=1 ${file}
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(CASE STREQUAL "accepted")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "what must compile does not:\n${output}")
  endif()
elseif(result EQUAL 0)
  message(FATAL_ERROR "${CASE} compiles")
elseif(message STREQUAL "")
  message(FATAL_ERROR "${file} does not say what the compiler must say of ${CASE}")
elseif(message MATCHES "^(.*) [|] (.*)$")
  set(line "${CMAKE_MATCH_1}")
  set(name "${CMAKE_MATCH_2}")
  string(REGEX MATCH "[^\n]*error: [^\n]*" first "${output}")
  if(NOT first MATCHES "${line}")
    message(FATAL_ERROR "the first line of ${CASE} is not '${line}':\n${output}")
  elseif(NOT output MATCHES "[^a-z_]${name}[^a-z_]")
    message(FATAL_ERROR "the compiler does not name ${name}:\n${output}")
  endif()
else()
  string(FIND "${output}" "${message}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${CASE} fails for another reason than '${message}':\n${output}")
  endif()
endif()
