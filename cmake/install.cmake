# SPDX-License-Identifier: MIT
# Installs the libraries, their headers, a CMake package, pkg-config files and documents.
include(CMakePackageConfigHelpers)
get_property(process_libraries GLOBAL PROPERTY nopal_process_libraries)
get_property(NOPAL_PROCESS_MPIS GLOBAL PROPERTY nopal_process_mpis)
list(JOIN NOPAL_PROCESS_MPIS " " NOPAL_PROCESS_MPIS)
set(NOPAL_PROCESS_UCX FALSE)
if(TARGET nopal::ucx)
  set(NOPAL_PROCESS_UCX TRUE)
endif()
set(NOPAL_PC_DEFINITIONS "")
if(NOPAL_CHECKS)
  set(NOPAL_PC_DEFINITIONS " -DNOPAL_CHECKS=1")
endif()
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/nopal-config-version.cmake COMPATIBILITY SameMinorVersion)

# nopal_install_libraries(component libdir set TARGETS library... [OPTIONS EXCLUDE_FROM_ALL]
# [NAMELINK NAMELINK_SKIP]): installs the libraries, and the file <set>_targets.cmake, by which
# CMake finds them.
function(nopal_install_libraries component libdir set)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "TARGETS;OPTIONS;NAMELINK")
  install(TARGETS ${arg_TARGETS} EXPORT ${component}_${set}
    ARCHIVE DESTINATION ${libdir} COMPONENT ${component} ${arg_OPTIONS}
    LIBRARY DESTINATION ${libdir} COMPONENT ${component} ${arg_OPTIONS} ${arg_NAMELINK})
  install(EXPORT ${component}_${set} FILE ${set}_targets.cmake NAMESPACE nopal::
    DESTINATION ${libdir}/cmake/nopal COMPONENT ${component} ${arg_OPTIONS})
endfunction()

# nopal_install_links(component libdir written [EXCLUDE_FROM_ALL]): what -l finds. For -lnopal that
# is the archive, whose headers a program has by default. So libnopal.so lies in a folder of its
# own, which pkg-config names. The archive for C has a second name, since libnopal_c.so is where
# other languages look for it; CMake's FindPkgConfig knows no -l:libnopal_c.a.
function(nopal_install_links component libdir written)
  file(CREATE_LINK libnopal_c.a ${written}/libnopal_c_static.a SYMBOLIC)
  install(FILES ${written}/libnopal_c_static.a DESTINATION ${libdir} COMPONENT ${component} ${ARGN})
  if(NOPAL_BUILD_SHARED)
    file(CREATE_LINK ../libnopal.so.${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
      ${written}/libnopal.so SYMBOLIC)
    install(FILES ${written}/libnopal.so DESTINATION ${libdir}/nopal COMPONENT ${component} ${ARGN})
  endif()
endfunction()

# nopal_install(component libdir docdir [EXCLUDE_FROM_ALL]): installs everything, as a component of
# the installation. Some files name the folder of the libraries, so each component has its own.
function(nopal_install component libdir docdir)
  set(options ${ARGN})
  set(written ${PROJECT_BINARY_DIR}/install/${component})
  file(MAKE_DIRECTORY ${written})
  set(package_dir ${libdir}/cmake/nopal)

  nopal_install_libraries(${component} ${libdir} nopal TARGETS nopal OPTIONS ${options})
  nopal_install_libraries(${component} ${libdir} nopal_c
    TARGETS nopal_c nopal_c_fibril OPTIONS ${options})
  if(NOPAL_BUILD_SHARED)
    nopal_install_libraries(${component} ${libdir} nopal_shared
      TARGETS nopal_shared OPTIONS ${options} NAMELINK NAMELINK_SKIP)
    nopal_install_libraries(${component} ${libdir} nopal_c_shared
      TARGETS nopal_c_shared OPTIONS ${options})
  endif()
  nopal_install_links(${component} ${libdir} ${written} ${options})
  foreach(library IN LISTS process_libraries ITEMS nopal_mapped nopal_std_par)
    get_target_property(name ${library} EXPORT_NAME)
    nopal_install_libraries(${component} ${libdir} nopal_${name}
      TARGETS ${library} OPTIONS ${options})
  endforeach()
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/nopal-config.cmake.in
    ${written}/nopal-config.cmake INSTALL_DESTINATION ${package_dir}
    NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
  install(FILES ${written}/nopal-config.cmake ${PROJECT_BINARY_DIR}/nopal-config-version.cmake
    ${PROJECT_SOURCE_DIR}/cmake/nopal-mpi.cmake
    DESTINATION ${package_dir} COMPONENT ${component} ${options})

  # The .pc files state their prefix relative to their own folder, so an installed tree may be
  # moved, unless the user has named absolute folders.
  set(NOPAL_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  if(NOT IS_ABSOLUTE ${libdir})
    file(RELATIVE_PATH up /prefix/${libdir}/pkgconfig /prefix)
    string(REGEX REPLACE "/$" "" NOPAL_PC_PREFIX "\${pcfiledir}/${up}")
  endif()
  set(NOPAL_PC_LIBDIR "\${prefix}")
  cmake_path(APPEND NOPAL_PC_LIBDIR ${libdir})
  set(NOPAL_PC_INCLUDEDIR "\${prefix}")
  cmake_path(APPEND NOPAL_PC_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR})
  set(names nopal nopal-mapped nopal-c nopal-fibril nopal-std-par)
  if(NOPAL_BUILD_SHARED)
    list(APPEND names nopal_shared nopal-c-shared)
  endif()
  foreach(name IN LISTS names)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${written}/${name}.pc @ONLY)
  endforeach()
  # An MPI and UCX are found by the files that they install.
  set(needs_of_openmpi ", ompi")
  set(needs_of_mpich ", mpich")
  foreach(library IN LISTS process_libraries)
    get_target_property(name ${library} EXPORT_NAME)
    string(REGEX REPLACE "process_?" "" mpi ${name})
    string(REPLACE "_" "-" name nopal-${name})
    set(needs "")
    set(begun_by ", which are forked from one")
    if(mpi)
      set(needs "${needs_of_${mpi}}")
      set(begun_by ", which mpirun.${mpi} begins")
      if(TARGET nopal::ucx)
        string(APPEND needs ", ucx")
      endif()
    endif()
    configure_file(${PROJECT_SOURCE_DIR}/cmake/nopal-process.pc.in ${written}/${name}.pc @ONLY)
    list(APPEND names ${name})
  endforeach()
  list(TRANSFORM names REPLACE ".+" "${written}/\\0.pc")
  install(FILES ${names} DESTINATION ${libdir}/pkgconfig COMPONENT ${component} ${options})

  # Only the headers that a public header reaches are installed.
  set(headers_to ${CMAKE_INSTALL_INCLUDEDIR})
  if(NOT IS_ABSOLUTE ${headers_to})
    set(headers_to "\${CMAKE_INSTALL_PREFIX}/${headers_to}")
  endif()
  set(documents_to ${docdir})
  if(NOT IS_ABSOLUTE ${docdir})
    set(documents_to "\${CMAKE_INSTALL_PREFIX}/${docdir}")
  endif()
  install(CODE "set(SOURCE_DIR \"${PROJECT_SOURCE_DIR}\")
    set(WRITTEN \"${written}\")
    set(HEADERS_DESTINATION \"${headers_to}\")
    set(DOCUMENTS_DESTINATION \"${documents_to}\")" COMPONENT ${component} ${options})
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/public_headers.cmake
    COMPONENT ${component} ${options})
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/documents.cmake COMPONENT ${component} ${options})
endfunction()

nopal_install(nopal ${CMAKE_INSTALL_LIBDIR} ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT nopal)
