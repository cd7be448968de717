# SPDX-License-Identifier: MIT
# What tests share that compile a program themselves, in the folder OUT: DEFINITIONS as options, and
# run(word...), a command that must succeed.
file(MAKE_DIRECTORY ${OUT})
list(REMOVE_ITEM DEFINITIONS "")
list(TRANSFORM DEFINITIONS PREPEND -D)

function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${OUT} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " words)
    message(FATAL_ERROR "failed (${result}): ${words}")
  endif()
endfunction()
