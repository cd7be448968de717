# SPDX-License-Identifier: MIT
# How a test program is declared: nopal_add_test, nopal_add_model and nopal_add_test_family.
include(GoogleTest)

# After this time a test is taken to hang. It is far more than any test takes on a quiet machine,
# since a loaded one may need many times as long, and more than the tests themselves wait for
# anything.
file(READ ${PROJECT_SOURCE_DIR}/tests/patience.h patience)
string(REGEX MATCH "patience{([0-9]+)}" patience "${patience}")
math(EXPR NOPAL_TEST_TIMEOUT "3 * ${CMAKE_MATCH_1}")
math(EXPR NOPAL_LONG_TEST_TIMEOUT "20 * ${CMAKE_MATCH_1}")

find_program(NOPAL_VALGRIND valgrind)
if(NOPAL_SANITIZE)
  set(NOPAL_VALGRIND "")
endif()

# In a check build each test counts its stacks' pages, and so notices if too many are dead.
if(NOPAL_CHECKS)
  add_library(nopal_census OBJECT ${PROJECT_SOURCE_DIR}/tools/census.cc)
  target_link_libraries(nopal_census PRIVATE nopal::nopal nopal_warnings)
endif()

# nopal_test_options(target library precompiled): how a test's sources are compiled.
function(nopal_test_options target library precompiled)
  target_compile_definitions(${target} PRIVATE
    NOPAL_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  # Clang warns of what std::stable_sort and std::stable_partition of libstdc++ 12 use.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
  target_link_libraries(${target} PRIVATE
    nopal::${library} GTest::gtest_main nopal_warnings)
  if(precompiled)
    target_precompile_headers(${target} REUSE_FROM nopal_test_header)
    # A precompiled header no longer counts as the system's, so GCC 12 warns of its std::string.
    target_compile_options(${target} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow>)
  endif()
endfunction()

# nopal_link_cases(target source library precompiled): the program is linked with the *_cases.cc
# that its source's comment names. These are compiled once, however many programs run them, each
# with other workers. The target's property NOPAL_CASES lists them.
function(nopal_link_cases target source library precompiled)
  file(STRINGS ${source} comment REGEX "^// .*[a-z_]+_cases\\.cc")
  string(REGEX MATCHALL "[a-z_]+_cases\\.cc" files "${comment}")
  if(NOT files)
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  cmake_path(GET source PARENT_PATH folder)
  cmake_path(GET folder FILENAME family)
  foreach(file IN LISTS files)
    cmake_path(GET file STEM cases)
    set(cases ${family}_${cases}_${library})
    if(NOT TARGET ${cases})
      add_library(${cases} OBJECT ${folder}/${file})
      nopal_test_options(${cases} ${library} "${precompiled}")
    endif()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${cases}>)
    set_property(TARGET ${target} APPEND PROPERTY NOPAL_CASES $<TARGET_OBJECTS:${cases}>)
  endforeach()
endfunction()

# nopal_add_test(NAME name SOURCE file LIBRARY target [LABELS label...] [VALGRIND] [PRECOMPILED])
# One GoogleTest program; each of its tests becomes one ctest named program.suite.test. A source
# *_long_test.cc is labelled long. With VALGRIND any other program also runs under valgrind, as a
# long test. PRECOMPILED: with GoogleTest's header precompiled, which other flags do not allow.
function(nopal_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "VALGRIND;PRECOMPILED" "NAME;SOURCE;LIBRARY" "LABELS")
  set(labels ${arg_LABELS})
  set(timeout ${NOPAL_TEST_TIMEOUT})
  if(arg_SOURCE MATCHES "_long_test\\.cc$")
    if(NOT NOPAL_BUILD_LONG_TESTS)
      return()
    endif()
    list(APPEND labels long)
    set(timeout ${NOPAL_LONG_TEST_TIMEOUT})
  endif()
  add_executable(${arg_NAME} ${arg_SOURCE})
  if(TARGET nopal_census)
    target_sources(${arg_NAME} PRIVATE $<TARGET_OBJECTS:nopal_census>)
  endif()
  nopal_test_options(${arg_NAME} ${arg_LIBRARY} "${arg_PRECOMPILED}")
  if(EXISTS ${arg_SOURCE})
    nopal_link_cases(${arg_NAME} ${arg_SOURCE} ${arg_LIBRARY} "${arg_PRECOMPILED}")
  endif()
  set_target_properties(${arg_NAME} PROPERTIES CROSSCOMPILING_EMULATOR "${NOPAL_TEST_LAUNCHER}")
  # Other tests take seconds, so ctest begins them first, and these fill the processors to the end.
  gtest_discover_tests(${arg_NAME}
    TEST_PREFIX ${arg_NAME}. DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT ${NOPAL_TEST_TIMEOUT}
    PROPERTIES TIMEOUT ${timeout} COST -1)
  # gtest_discover_tests flattens lists, so a file that ctest reads after that one's sets the
  # labels.
  set(labels_file ${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}_labels.cmake)
  file(CONFIGURE OUTPUT ${labels_file} @ONLY CONTENT [[
if(@arg_NAME@_TESTS)
  set_tests_properties(${@arg_NAME@_TESTS} PROPERTIES LABELS "@labels@")
endif()
]])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels_file})
  # Valgrind rounds to nearest, and keeps denormal numbers, whatever the control words say.
  if(arg_VALGRIND AND NOPAL_VALGRIND AND NOT "long" IN_LIST labels AND
     NOT arg_NAME MATCHES "floating_point")
    add_test(NAME valgrind.${arg_NAME}
      COMMAND ${NOPAL_VALGRIND} --error-exitcode=99 --leak-check=full --fair-sched=yes -q
        --show-leak-kinds=definite --errors-for-leak-kinds=definite # pool threads live to the end
        $<TARGET_FILE:${arg_NAME}> --gtest_filter=-*Death*:*death* --gtest_brief=1)
    list(REMOVE_ITEM labels fast)
    set_tests_properties(valgrind.${arg_NAME} PROPERTIES
      LABELS "${labels};valgrind;long" TIMEOUT ${NOPAL_LONG_TEST_TIMEOUT})
  endif()
endfunction()

# nopal_add_model(name source [executions]): a Relacy model, with so many random executions. It
# includes headers of the library, but links nothing of it; NOPAL_ATOMICS puts Relacy's atomics in
# the place of std::atomic.
function(nopal_add_model name source)
  add_executable(${name} ${source})
  target_compile_definitions(${name} PRIVATE NOPAL_ATOMICS="tests/model/atomics.h")
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(${name} SYSTEM PRIVATE ${NOPAL_RELACY_DIR})
  target_link_libraries(${name} PRIVATE Threads::Threads nopal_warnings)
  # Relacy's macro for "here" is called $.
  target_compile_options(${name} PRIVATE
    $<$<CXX_COMPILER_ID:Clang>:-Wno-dollar-in-identifier-extension>)
  add_test(NAME ${name} COMMAND ${name} ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS model TIMEOUT ${NOPAL_TEST_TIMEOUT})
endfunction()

# The tests with the label fast: ctest --preset fast. This target builds their programs.
add_custom_target(fast_tests)

# nopal_add_test_family(family [VALGRIND] [FAST pattern]): every *_test.cc of tests/<family>. Those
# that the pattern matches are fast tests, unless they are long.
function(nopal_add_test_family family)
  cmake_parse_arguments(PARSE_ARGV 1 arg "VALGRIND" "FAST" "")
  set(valgrind "")
  if(arg_VALGRIND)
    set(valgrind VALGRIND)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${family}/*_test.cc)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM stem)
    set(labels ${family})
    if(DEFINED arg_FAST AND stem MATCHES "${arg_FAST}" AND NOT stem MATCHES "_long_test$")
      list(APPEND labels fast)
    endif()
    nopal_add_test(NAME ${family}_${stem} SOURCE ${source} LIBRARY nopal
      LABELS ${labels} ${valgrind} PRECOMPILED)
    if("fast" IN_LIST labels)
      add_dependencies(fast_tests ${family}_${stem})
    endif()
  endforeach()
endfunction()
