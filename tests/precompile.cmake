# SPDX-License-Identifier: MIT
# precompile(result file folder command...): precompiles the library's and the standard's headers
# that the file includes, in the folder. The result is the options with which the command then
# compiles the file, in a fraction of the time.
function(precompile result file folder)
  file(STRINGS ${file} includes REGEX "^#include (<|\"nopal/)")
  list(JOIN includes "\n" text)
  file(WRITE ${folder}/first.h "${text}\n")
  set(ending gch)
  if("${ARGN}" MATCHES "clang")
    set(ending pch)
  endif()
  execute_process(COMMAND ${ARGN} -x c++-header first.h -o first.h.${ending}
    WORKING_DIRECTORY ${folder} COMMAND_ERROR_IS_FATAL ANY)
  set(${result} -include ${folder}/first.h PARENT_SCOPE)
endfunction()
