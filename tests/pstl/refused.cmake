# SPDX-License-Identifier: MIT
# What <execution> says where it cannot be used: C++17, another libstdc++, another backend.
cmake_policy(VERSION 3.25)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/refused/program.cc "#include <execution>\n")

# refuses(regex flag...): the compiler, with these flags, says what matches.
function(refuses regex)
  execute_process(COMMAND ${COMPILER} ${ARGN} -fsyntax-only -I${SOURCE_DIR}
      -I${SOURCE_DIR}/nopal/pstl/include ${CMAKE_CURRENT_BINARY_DIR}/refused/program.cc
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(regex STREQUAL "" AND result)
    message(FATAL_ERROR "with ${ARGN} it does not compile: ${output}")
  elseif(NOT regex STREQUAL "" AND (NOT result OR NOT output MATCHES "${regex}"))
    message(FATAL_ERROR "with ${ARGN} there is no \"${regex}\": ${output}")
  endif()
endfunction()

refuses("" -std=c++20)
refuses("compile with -std=c\\+\\+20" -std=c++17)
# The library's own macro, which one of its headers defines, is changed behind that header.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/refused/later.h
  "#include <cstddef>\n#undef _GLIBCXX_RELEASE\n#define _GLIBCXX_RELEASE 15\n")
refuses("libstdc\\+\\+ of GCC 11 to 14" -std=c++20 -include
  ${CMAKE_CURRENT_BINARY_DIR}/refused/later.h)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/refused/none.h
  "#include <cstddef>\n#undef _GLIBCXX_RELEASE\n")
refuses("needs the standard library of GCC" -std=c++20 -include
  ${CMAKE_CURRENT_BINARY_DIR}/refused/none.h)
refuses("another parallel backend" -std=c++20 -D_PSTL_PARALLEL_BACKEND_H)
