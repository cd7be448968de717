# SPDX-License-Identifier: MIT
# Installs the library, its headers, a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/nopal)

install(TARGETS nopal EXPORT nopal_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(NOPAL_BUILD_SHARED)
  install(TARGETS nopal_shared EXPORT nopal_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/nopal DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN *.h)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(EXPORT nopal_targets NAMESPACE nopal:: DESTINATION ${package_dir})

# The component `process`: the libraries that were built, of which the first is nopal::process.
get_property(process_libraries GLOBAL PROPERTY nopal_process_libraries)
install(TARGETS ${process_libraries} EXPORT nopal_process_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT nopal_process_targets NAMESPACE nopal:: DESTINATION ${package_dir})
list(GET process_libraries 0 NOPAL_BEST_PROCESS_LIBRARY)
get_target_property(NOPAL_BEST_PROCESS_LIBRARY ${NOPAL_BEST_PROCESS_LIBRARY} EXPORT_NAME)

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/nopal-config.cmake.in ${PROJECT_BINARY_DIR}/nopal-config.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/nopal-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/nopal-config.cmake ${PROJECT_BINARY_DIR}/nopal-config-version.cmake
  DESTINATION ${package_dir})

# The .pc file finds its prefix from where it lies, so an installed tree may be moved.
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH NOPAL_PC_TO_PREFIX /prefix/${pkgconfig_dir} /prefix)
string(REGEX REPLACE "/$" "" NOPAL_PC_TO_PREFIX "${NOPAL_PC_TO_PREFIX}")
set(NOPAL_PC_DEFINITIONS "")
if(NOPAL_CHECKS)
  set(NOPAL_PC_DEFINITIONS " -DNOPAL_CHECKS=1")
endif()
# By its whole name: -lnopal is libnopal.so where that is installed too.
set(NOPAL_PC_NAME nopal)
set(NOPAL_PC_LIBRARY :libnopal.a)
configure_file(${PROJECT_SOURCE_DIR}/cmake/nopal.pc.in ${PROJECT_BINARY_DIR}/nopal.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/nopal.pc DESTINATION ${pkgconfig_dir})
if(NOPAL_BUILD_SHARED)
  set(NOPAL_PC_NAME nopal_shared)
  set(NOPAL_PC_LIBRARY nopal)
  string(APPEND NOPAL_PC_DEFINITIONS " -DNOPAL_SHARED=1")
  configure_file(
    ${PROJECT_SOURCE_DIR}/cmake/nopal.pc.in ${PROJECT_BINARY_DIR}/nopal_shared.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/nopal_shared.pc DESTINATION ${pkgconfig_dir})
endif()
