# SPDX-License-Identifier: MIT
# cpack writes one Debian package, libnopal-dev, into the build folder. It holds all that is
# installed, the libraries in the folder of their architecture and without debug information.
if(NOPAL_SANITIZE)
  nopal_summary(package "none: a sanitizer's build is not packaged")
  return()
endif()
set(libdir lib)
if(CMAKE_LIBRARY_ARCHITECTURE)
  set(libdir lib/${CMAKE_LIBRARY_ARCHITECTURE})
endif()
set(docdir share/doc/libnopal-dev)
nopal_install(debian ${libdir} ${docdir} EXCLUDE_FROM_ALL)

# The maintainer is named by the variables of Debian's own tools. If they are not set, it is the
# author of the last commit or, without git, the user on this machine.
set(maintainer "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
if(NOT maintainer MATCHES "^.+ <.+@.+>$")
  find_program(NOPAL_GIT git)
  set(maintainer "")
  if(NOPAL_GIT)
    execute_process(COMMAND ${NOPAL_GIT} -C ${PROJECT_SOURCE_DIR} log -1 "--format=%an <%ae>"
      OUTPUT_VARIABLE maintainer ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
endif()
if(NOT maintainer)
  cmake_host_system_information(RESULT host QUERY FQDN)
  execute_process(COMMAND id -un OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(maintainer "The Nopal authors <${user}@${host}>")
endif()

string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/install/debian/changelog @ONLY CONTENT
"libnopal-dev (@PROJECT_VERSION@) unstable; urgency=medium

  * Made by cpack from the sources of Nopal.

 -- @maintainer@  @now@
")
file(ARCHIVE_CREATE OUTPUT ${PROJECT_BINARY_DIR}/install/debian/changelog.gz
  PATHS ${PROJECT_BINARY_DIR}/install/debian/changelog FORMAT raw COMPRESSION GZip
  COMPRESSION_LEVEL 9)
install(FILES ${PROJECT_BINARY_DIR}/install/debian/changelog.gz
  DESTINATION ${docdir} COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
  DESTINATION ${docdir} RENAME copyright COMPONENT debian EXCLUDE_FROM_ALL)
# gdb's script stays: programs that have debug information need it to show a stolen frame's callers.
install(CODE "
  set(installed \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${libdir}\")
  file(GLOB libraries
    \"\${installed}/libnopal*.a\" \"\${installed}/libnopal*.so.${PROJECT_VERSION}\")
  execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-debug --enable-deterministic-archives
    --keep-section=.debug_gdb_scripts \${libraries} COMMAND_ERROR_IS_FATAL ANY)"
  COMPONENT debian EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};nopal;debian;/")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES OFF) # it concerns programs, and the package has none
set(CPACK_PACKAGE_NAME libnopal-dev)
set(CPACK_PACKAGE_CONTACT "${maintainer}")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
  GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(library libstdc++-12-dev)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  string(REGEX MATCH "^[0-9]+" major ${CMAKE_CXX_COMPILER_VERSION})
  set(library libstdc++-${major}-dev)
endif()
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6-dev, ${library} | libstdc++-dev")
set(suggested pkg-config cmake)
get_property(mpis GLOBAL PROPERTY nopal_process_mpis)
foreach(mpi IN LISTS mpis)
  list(APPEND suggested lib${mpi}-dev)
endforeach()
if(mpis AND TARGET nopal::ucx)
  list(APPEND suggested libucx-dev)
endif()
list(JOIN suggested ", " CPACK_DEBIAN_PACKAGE_SUGGESTS)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "fork-join parallelism for C++20 (development files)")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Nopal runs C++20 fork-join programs on every core: mark what may run in
parallel, and a fork that no thief takes costs about as much as the function
call it stands for.
.
This package contains the libraries, headers, and what CMake and pkg-config
need to find them: nopal, and nopal-process for programs on several
processes.")
include(CPack)
