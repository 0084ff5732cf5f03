# The test binaries and how ctest calls them.
#
#   tests/<module>/**/*_test.cpp  -> oncepay_tests          units and engine, linked with the modules
#   tests/process/**/*_test.cpp   -> oncepay_process_tests  the real binary, over sockets
#   tests/fault/**/*_test.cpp     -> oncepay_fault_tests    processes and servers that die, see scripts/faults
#
# ctest sees one test per file, named after it. tests/support/*.cpp goes into each of the three; its main refuses a
# filter that matches no case, so that a renamed file cannot pass by running nothing. The database comes from
# TEST_DATABASE_URL in the environment: scripts/test sets it.
find_package(doctest 2.4 REQUIRED)

file(GLOB_RECURSE support_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/support/*.cpp")
file(GLOB_RECURSE all_test_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/*_test.cpp")
set(all_test_names "")

add_library(oncepay_test_support OBJECT EXCLUDE_FROM_ALL ${support_sources})
target_include_directories(oncepay_test_support PUBLIC "${CMAKE_SOURCE_DIR}/tests")
target_link_libraries(oncepay_test_support PRIVATE oncepay_options PUBLIC ${modules} doctest::doctest
  nlohmann_json::nlohmann_json pqxx)
# doctest's macros are not written for all of our warnings.
target_compile_options(oncepay_test_support PUBLIC -Wno-old-style-cast -Wno-duplicated-branches)

# The field of the fault tests: gates, nemeses, customers, the checker.
file(GLOB fault_support_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/fault/*.cpp")
list(FILTER fault_support_sources EXCLUDE REGEX "_test\\.cpp$")
add_library(oncepay_fault_support OBJECT EXCLUDE_FROM_ALL ${fault_support_sources})
target_link_libraries(oncepay_fault_support PRIVATE oncepay_options oncepay_test_support)

# add_test_binary(NAME LABEL TIMEOUT seconds SOURCES file...)
function(add_test_binary name label)
  cmake_parse_arguments(binary "" "TIMEOUT" "SOURCES" ${ARGN})
  if(NOT binary_SOURCES)
    return()
  endif()
  add_executable(${name} ${binary_SOURCES})
  target_link_libraries(${name} PRIVATE oncepay_options oncepay_test_support)
  if(with_lto)
    target_link_options(${name} PRIVATE -fno-lto)
  endif()
  foreach(source IN LISTS binary_SOURCES)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${CMAKE_SOURCE_DIR}/tests" OUTPUT_VARIABLE test_name)
    string(REGEX REPLACE "_test\\.cpp$" "" test_name "${test_name}")
    add_test(NAME ${test_name}
      COMMAND ${name} --source-file=*/tests/${test_name}_test.cpp --no-intro --minimal=false
      WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
    set(environment "TEST_SCRIPTS=${CMAKE_SOURCE_DIR}/scripts")
    if(TARGET oncepay)
      list(APPEND environment "TEST_ONCEPAY_BINARY=$<TARGET_FILE:oncepay>"
        "TEST_ONCEPAY_NAIVE_BINARY=$<TARGET_FILE:oncepay_naive>")
    endif()
    set_tests_properties(${test_name} PROPERTIES
      LABELS ${label} TIMEOUT ${binary_TIMEOUT} ENVIRONMENT "${environment}")
    list(APPEND all_test_names ${test_name})
  endforeach()
  if(TARGET oncepay)
    add_dependencies(${name} oncepay)
  endif()
  set(all_test_names "${all_test_names}" PARENT_SCOPE)
endfunction()

set(process_sources ${all_test_sources})
list(FILTER process_sources INCLUDE REGEX "/tests/process/")
set(fault_sources ${all_test_sources})
list(FILTER fault_sources INCLUDE REGEX "/tests/fault/")
set(unit_sources ${all_test_sources})
list(FILTER unit_sources EXCLUDE REGEX "/tests/(process|fault|fuzz|bench|support)/")

add_test_binary(oncepay_tests unit TIMEOUT 180 SOURCES ${unit_sources})
add_test_binary(oncepay_process_tests process TIMEOUT 240 SOURCES ${process_sources})
add_test_binary(oncepay_fault_tests fault TIMEOUT 300 SOURCES ${fault_sources})
target_link_libraries(oncepay_fault_tests PRIVATE oncepay_fault_support)

# What is promised of a key holds in both layouts of the table: these run again on keys in periods.
foreach(name IN ITEMS once/engine once/engine_property once/lane process/answers_table process/concurrency
    process/crash process/expiry process/in_progress process/key_state process/replay process/books_under_load)
  get_test_property(${name} ENVIRONMENT environment)
  get_test_property(${name} LABELS label)
  set(binary oncepay_tests)
  if(name MATCHES "^process/")
    set(binary oncepay_process_tests)
  endif()
  add_test(NAME periods/${name}
    COMMAND ${binary} --source-file=*/tests/${name}_test.cpp --no-intro --minimal=false
    WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  set_tests_properties(periods/${name} PROPERTIES
    LABELS "${label};periods" TIMEOUT 240 ENVIRONMENT "${environment};TEST_KEY_LAYOUT=periods")
  list(APPEND all_test_names periods/${name})
endforeach()

# Measures times, so nothing runs beside it.
set_tests_properties(fault/overload PROPERTIES RUN_SERIAL ON)

# The product with another engine, which is wrong on purpose: what the checker is tested with. The linker takes the
# engine that stands first, and service/once keeps the rest.
add_executable(oncepay_naive EXCLUDE_FROM_ALL "${CMAKE_SOURCE_DIR}/service/main.cpp"
  "${CMAKE_SOURCE_DIR}/tests/fault/naive/engine.cpp")
target_link_libraries(oncepay_naive PRIVATE oncepay_options ${modules})
if(with_lto)
  target_link_options(oncepay_naive PRIVATE -fno-lto)
endif()
add_dependencies(oncepay_fault_tests oncepay_naive)

# tests/fuzz/<name>_fuzz.cpp, over tests/fuzz/corpus/<name>/. With clang and ONCEPAY_FUZZ libFuzzer makes up inputs
# (scripts/fuzz); otherwise ctest runs the target over its corpus.
set(fuzz_libraries ${modules})
if(ONCEPAY_FUZZ)
  # What reads a client's bytes, and only that: clang 14 cannot read libpqxx's headers as gcc has configured them.
  file(GLOB fuzzed_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/service/http/edge/*.cpp"
    "${CMAKE_SOURCE_DIR}/service/http/json_*.cpp" "${CMAKE_SOURCE_DIR}/service/http/canonical_json.cpp"
    "${CMAKE_SOURCE_DIR}/service/http/message.cpp" "${CMAKE_SOURCE_DIR}/service/once/key.cpp"
    "${CMAKE_SOURCE_DIR}/service/runtime/*.cpp")
  add_library(oncepay_fuzzed STATIC ${fuzzed_sources})
  add_dependencies(oncepay_fuzzed version_info)
  target_include_directories(oncepay_fuzzed PUBLIC "${CMAKE_SOURCE_DIR}/service" "${generated}")
  target_link_libraries(oncepay_fuzzed PUBLIC Threads::Threads fmt::fmt spdlog::spdlog prometheus-cpp::core
    nlohmann_json::nlohmann_json OpenSSL::SSL OpenSSL::Crypto)
  set(fuzz_libraries oncepay_fuzzed)
endif()
file(GLOB fuzz_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/fuzz/*_fuzz.cpp")
foreach(source IN LISTS fuzz_sources)
  cmake_path(GET source STEM target)
  string(REGEX REPLACE "_fuzz$" "" name "${target}")
  add_executable(${target} ${source})
  target_include_directories(${target} PRIVATE "${CMAKE_SOURCE_DIR}/tests")
  target_link_libraries(${target} PRIVATE oncepay_options ${fuzz_libraries})
  if(with_lto)
    target_link_options(${target} PRIVATE -fno-lto)
  endif()
  if(ONCEPAY_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${target} PRIVATE "${CMAKE_SOURCE_DIR}/tests/fuzz/replay_main.cpp")
    add_test(NAME fuzz/${name} COMMAND ${target} "${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name}")
    set_tests_properties(fuzz/${name} PROPERTIES LABELS fuzz TIMEOUT 60)
    list(APPEND all_test_names fuzz/${name})
  endif()
endforeach()

# After a whole run each statement below sql/ must have been executed at least once. DEPENDS only orders.
if(all_test_names)
  add_test(NAME sql_coverage COMMAND "${CMAKE_SOURCE_DIR}/scripts/sql-coverage")
  set_tests_properties(sql_coverage PROPERTIES DEPENDS "${all_test_names}" RUN_SERIAL ON TIMEOUT 60
    SKIP_RETURN_CODE 77 LABELS coverage)
endif()
