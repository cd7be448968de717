# SPDX-License-Identifier: MIT
# nopal_warnings: the warnings that all of our own C++ must compile without.
add_library(nopal_warnings INTERFACE)
set(warnings -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
if(NOPAL_WERROR)
  list(APPEND warnings -Werror)
endif()
target_compile_options(nopal_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")
