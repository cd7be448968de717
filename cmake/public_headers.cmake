# SPDX-License-Identifier: MIT
# Installs the headers that a public one reaches. Run at installation, with SOURCE_DIR and
# HEADERS_DESTINATION set.
#
# The public headers are those directly in nopal/ and in nopal/c/, and what nopal/pstl/include, a
# folder for compilers' search, has. What they include is read from
# the text: an #include, or a macro of config.h that names a header. Both branches of an #if count.
cmake_policy(VERSION 3.25)
file(GLOB todo RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/nopal/*.h ${SOURCE_DIR}/nopal/c/*.h
  ${SOURCE_DIR}/nopal/pstl/include/*)
set(reached ${todo})
while(todo)
  list(POP_FRONT todo header)
  file(STRINGS ${SOURCE_DIR}/${header} lines
    REGEX "^#[ \t]*(include|define[ \t]+NOPAL_[A-Z_]+_HEADER)[ \t]+\"nopal/")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[^\"]*\"([^\"]+)\".*" "\\1" included "${line}")
    if(NOT included IN_LIST reached)
      list(APPEND reached ${included})
      list(APPEND todo ${included})
    endif()
  endforeach()
endwhile()
foreach(header IN LISTS reached)
  cmake_path(GET header PARENT_PATH folder)
  file(INSTALL DESTINATION ${HEADERS_DESTINATION}/${folder} TYPE FILE
    FILES ${SOURCE_DIR}/${header})
endforeach()
