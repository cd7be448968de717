# SPDX-License-Identifier: MIT
# What the tests of installing share: steps that must succeed, or must fail with a sentence.
file(REMOVE_RECURSE ${SCRATCH_DIR})
file(MAKE_DIRECTORY ${SCRATCH_DIR})

# run([OUTPUT variable] [FAILS sentence] COMMAND word...): what the command prints is put into the
# variable. It must succeed, or fail and say what matches the sentence.
function(run)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUTPUT;FAILS" "COMMAND")
  execute_process(COMMAND ${arg_COMMAND} WORKING_DIRECTORY ${SCRATCH_DIR}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  list(JOIN arg_COMMAND " " command)
  # CMake breaks the lines of its errors.
  string(REGEX REPLACE "[ \n]+" " " said "${output}${errors}")
  if(arg_FAILS AND (result EQUAL 0 OR NOT said MATCHES "${arg_FAILS}"))
    message(FATAL_ERROR "${command}\nended with ${result} and did not fail with "
      "\"${arg_FAILS}\"\n${output}${errors}")
  elseif(NOT arg_FAILS AND NOT result EQUAL 0)
    message(FATAL_ERROR "${command}\nended with ${result}\n${output}${errors}")
  endif()
  if(arg_OUTPUT)
    set(${arg_OUTPUT} "${output}${errors}" PARENT_SCOPE)
  endif()
endfunction()
