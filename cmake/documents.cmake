# SPDX-License-Identifier: MIT
# Installs the documents and the examples. Run at installation, after the headers were installed,
# with SOURCE_DIR, WRITTEN (a folder), HEADERS_DESTINATION and DOCUMENTS_DESTINATION set.
#
# A link to what is installed leads there, a header's to where it lies. Of any other, which leads
# somewhere in the sources, the text stays.
cmake_policy(VERSION 3.25)
file(GLOB pages RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/README.md ${SOURCE_DIR}/SECURITY.md
  ${SOURCE_DIR}/docs/*.md)
file(GLOB examples RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/examples/*.cc ${SOURCE_DIR}/examples/*.c
  ${SOURCE_DIR}/examples/shared/*)
file(STRINGS ${SOURCE_DIR}/README.md pictures REGEX "^!\\[.*[)]$")
list(TRANSFORM pictures REPLACE "^.*[(](.*)[)]$" "\\1")

# The path of what a link leads to, from the folder of its page; empty: it is not installed.
function(installed_path folder target result)
  set(${result} "" PARENT_SCOPE)
  string(REGEX MATCH "^([^#]*)(.*)$" parts "${target}")
  cmake_path(APPEND folder "${CMAKE_MATCH_1}" OUTPUT_VARIABLE path)
  set(anchor "${CMAKE_MATCH_2}")
  cmake_path(NORMAL_PATH path)
  if("${path}" IN_LIST pages OR "${path}" IN_LIST examples OR "${path}" IN_LIST pictures OR
      path MATCHES "^examples/?$")
    set(${result} "${target}" PARENT_SCOPE)
  elseif(path MATCHES "[.]h$" AND EXISTS "$ENV{DESTDIR}${HEADERS_DESTINATION}/${path}")
    cmake_path(SET from NORMALIZE "${DOCUMENTS_DESTINATION}/${folder}")
    set(header "${HEADERS_DESTINATION}/${path}")
    cmake_path(RELATIVE_PATH header BASE_DIRECTORY "${from}")
    set(${result} "${header}${anchor}" PARENT_SCOPE)
  endif()
endfunction()

# The text is looked through from its end, so that what stands behind a link does not move.
function(write_page page)
  file(READ ${SOURCE_DIR}/${page} text)
  cmake_path(GET page PARENT_PATH folder)
  set(done "")
  while(TRUE)
    string(FIND "${text}" "](" at REVERSE)
    if(at EQUAL -1)
      break()
    endif()
    string(SUBSTRING "${text}" ${at} -1 rest)
    string(SUBSTRING "${text}" 0 ${at} text)
    set(done "${rest}${done}")
    if(NOT rest MATCHES "^..([A-Za-z0-9_./#-]+)[)]")
      continue() # code, or a page of the web
    endif()
    set(target "${CMAKE_MATCH_1}")
    string(REGEX REPLACE "#.*" "" path "${target}")
    if(NOT EXISTS "${SOURCE_DIR}/${folder}/${path}")
      continue() # code
    endif()
    string(LENGTH "](${target})" length)
    string(SUBSTRING "${done}" ${length} -1 done)
    installed_path("${folder}" "${target}" path)
    if(path)
      set(done "](${path})${done}")
    else()
      string(FIND "${text}" "[" open REVERSE)
      math(EXPR after "${open} + 1")
      string(SUBSTRING "${text}" ${after} -1 words)
      string(SUBSTRING "${text}" 0 ${open} text)
      set(done "${words}${done}")
    endif()
  endwhile()
  file(WRITE ${WRITTEN}/${page} "${text}${done}")
endfunction()

foreach(page IN LISTS pages)
  write_page(${page})
  cmake_path(GET page PARENT_PATH folder)
  cmake_path(APPEND DOCUMENTS_DESTINATION ${folder} OUTPUT_VARIABLE to)
  file(INSTALL DESTINATION ${to} TYPE FILE FILES ${WRITTEN}/${page})
endforeach()
foreach(file IN LISTS examples pictures)
  cmake_path(GET file PARENT_PATH folder)
  file(INSTALL DESTINATION ${DOCUMENTS_DESTINATION}/${folder} TYPE FILE FILES ${SOURCE_DIR}/${file})
endforeach()
file(INSTALL DESTINATION ${DOCUMENTS_DESTINATION}/examples TYPE FILE
  FILES ${SOURCE_DIR}/examples/installed.cmake RENAME CMakeLists.txt)
