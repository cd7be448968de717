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

# nopal_test_options(target source library precompiled): how a test's source is compiled. One that
# defines a macro of Nopal's, as the serial elision, cannot have the library's headers precompiled,
# as Clang has them.
function(nopal_test_options target source library precompiled)
  set(macros "")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND EXISTS ${source})
    file(STRINGS ${source} macros REGEX "^#define NOPAL_")
  endif()
  target_compile_definitions(${target} PRIVATE
    NOPAL_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  # Clang warns of what std::stable_sort and std::stable_partition of libstdc++ 12 use.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
  target_link_libraries(${target} PRIVATE
    nopal::${library} GTest::gtest_main nopal_warnings)
  if(precompiled AND NOT macros)
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
      nopal_test_options(${cases} ${folder}/${file} ${library} "${precompiled}")
    endif()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${cases}>)
    set_property(TARGET ${target} APPEND PROPERTY NOPAL_CASES $<TARGET_OBJECTS:${cases}>)
  endforeach()
endfunction()

# nopal_start_object(result source library precompiled): the objects of a source that says no more
# than how its program starts. Many say the same, and are compiled once for all. Else nothing.
function(nopal_start_object result source library precompiled)
  set(${result} "" PARENT_SCOPE)
  file(STRINGS ${source} code REGEX "^[^/]")
  list(LENGTH code lines)
  if(lines GREATER 4 OR NOT code MATCHES "nopal_test::start this_program")
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  string(MD5 name "${code}")
  set(name nopal_test_start_${library}_${name})
  if(NOT TARGET ${name})
    add_library(${name} OBJECT ${source})
    nopal_test_options(${name} ${source} ${library} "${precompiled}")
  endif()
  set(${result} $<TARGET_OBJECTS:${name}> PARENT_SCOPE)
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
  set(start "")
  if(EXISTS ${arg_SOURCE})
    nopal_start_object(start ${arg_SOURCE} ${arg_LIBRARY} "${arg_PRECOMPILED}")
  endif()
  if(start)
    add_executable(${arg_NAME} ${start})
    set_property(TARGET ${arg_NAME} APPEND PROPERTY NOPAL_CASES ${start})
  else()
    add_executable(${arg_NAME} ${arg_SOURCE})
  endif()
  if(TARGET nopal_census)
    target_sources(${arg_NAME} PRIVATE $<TARGET_OBJECTS:nopal_census>)
  endif()
  nopal_test_options(${arg_NAME} "${arg_SOURCE}" ${arg_LIBRARY} "${arg_PRECOMPILED}")
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

# nopal_model_options(target): how a model is compiled. It includes headers of the library, but
# links nothing of it; NOPAL_ATOMICS puts Relacy's atomics in the place of std::atomic.
function(nopal_model_options target)
  target_compile_definitions(${target} PRIVATE
    NOPAL_ATOMICS="tests/model/atomics.h" NOPAL_CHECKS=1)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(${target} SYSTEM PRIVATE ${NOPAL_RELACY_DIR})
  target_link_libraries(${target} PRIVATE Threads::Threads nopal_warnings)
  # Relacy's templates take long to optimise and to describe; a model runs for seconds. Its macro
  # for "here" is called $.
  target_compile_options(${target} PRIVATE -Og -g0
    $<$<CXX_COMPILER_ID:Clang>:-Wno-dollar-in-identifier-extension>)
endfunction()

# nopal_add_model(name source [executions]): a Relacy model, with so many random executions.
function(nopal_add_model name source)
  add_executable(${name} ${source})
  nopal_model_options(${name})
  target_precompile_headers(${name} REUSE_FROM nopal_model_header)
  add_test(NAME ${name} COMMAND ${name} ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS model TIMEOUT ${NOPAL_TEST_TIMEOUT})
endfunction()

# The tests with the label fast: ctest --preset fast. This target builds their programs.
add_custom_target(fast_tests)

# nopal_has_forced_steals(source result): whether another program beside the source has its cases
# with steals forced.
function(nopal_has_forced_steals source result)
  string(REGEX REPLACE "(_alone|_one|_two|_virtual|_forced)?_test[.]cc$" "_forced_test.cc" forced
    ${source})
  set(${result} OFF PARENT_SCOPE)
  if(EXISTS ${forced} AND NOT forced STREQUAL source)
    set(${result} ON PARENT_SCOPE)
  endif()
endfunction()

# nopal_add_test_family(family [VALGRIND] [FAST pattern] [OF_ONE_COMPILER pattern]): every *_test.cc
# of tests/<family>. Those that the first pattern matches are fast tests, unless they are long; a
# second compiler's build has none that the second pattern matches.
function(nopal_add_test_family family)
  cmake_parse_arguments(PARSE_ARGV 1 arg "VALGRIND" "FAST;OF_ONE_COMPILER" "")
  set(valgrind "")
  if(arg_VALGRIND)
    set(valgrind VALGRIND)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${family}/*_test.cc)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM stem)
    nopal_has_forced_steals(${source} forced)
    if(NOPAL_TEST_SECOND_COMPILER AND (forced OR
        (arg_OF_ONE_COMPILER AND stem MATCHES "${arg_OF_ONE_COMPILER}")))
      continue()
    endif()
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
