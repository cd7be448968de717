# SPDX-License-Identifier: MIT
# Tests the crate, in a copy, since cargo writes beside its sources. Nothing is fetched.
cmake_policy(VERSION 3.25)
file(REMOVE_RECURSE ${SCRATCH_DIR}/crate)
file(COPY ${SOURCE_DIR}/bindings/rust/ DESTINATION ${SCRATCH_DIR}/crate
  PATTERN beside_rayon EXCLUDE PATTERN target EXCLUDE)
cmake_path(GET LIBRARY PARENT_PATH folder)
set(ENV{LIBNOPAL_DIR} ${folder})
set(ENV{LD_LIBRARY_PATH} ${folder})
set(ENV{CARGO_TARGET_DIR} ${SCRATCH_DIR}/target)
set(ENV{RUST_BACKTRACE} 0)
execute_process(COMMAND ${CARGO} test --offline WORKING_DIRECTORY ${SCRATCH_DIR}/crate
  RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "cargo test: ${failed}")
endif()
