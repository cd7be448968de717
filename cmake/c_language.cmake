# SPDX-License-Identifier: MIT
# The tests and examples in C: where a C compiler is found, that of the kind which compiles C++, the
# language is enabled and nopal_c_language gives targets the dialect and warnings. The libraries are
# C++ alone.
include(CheckLanguage)
if(NOT DEFINED CMAKE_C_COMPILER)
  string(REPLACE "clang++" "clang" compiler "${CMAKE_CXX_COMPILER}")
  string(REPLACE "g++" "gcc" compiler "${compiler}")
  string(REGEX REPLACE "/c\\+\\+$" "/cc" compiler "${compiler}")
  if(EXISTS "${compiler}" AND NOT compiler STREQUAL CMAKE_CXX_COMPILER)
    set(CMAKE_C_COMPILER "${compiler}")
  endif()
endif()
check_language(C)
if(CMAKE_C_COMPILER)
  enable_language(C)
endif()

# nopal_c_language(target): strict C11, with all warnings.
function(nopal_c_language target)
  set_target_properties(${target} PROPERTIES
    C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF LINKER_LANGUAGE CXX)
  target_compile_definitions(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE>)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:C>:-pedantic;-Wall;-Wextra;$<$<BOOL:${NOPAL_WERROR}>:-Werror>>)
endfunction()
