# How every target of the project is built: language level, warnings, sanitizers, and one folder's library.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# The build tree has the layout of an installation, so that programs find libraries, modules and headers in either.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

find_program(TESSERA_CCACHE ccache)
if(TESSERA_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${TESSERA_CCACHE}")
endif()

# What every target of ours is compiled with; private, so that users of the library are not bound by it.
add_library(tessera_build_flags INTERFACE)
target_compile_options(tessera_build_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-Wthread-safety>
  # g++ 12 sees overlaps in sums of strings that cannot be (GCC bug 105329).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<BOOL:${TESSERA_WERROR}>:-Werror>)
target_compile_definitions(tessera_build_flags INTERFACE
  TESSERA_VERSION="${PROJECT_VERSION}"
  # Boost 1.74 does not know clang's coroutines by itself.
  $<$<CXX_COMPILER_ID:Clang>:BOOST_ASIO_HAS_CO_AWAIT;BOOST_ASIO_HAS_STD_COROUTINE>)
if(TESSERA_SANITIZE)
  add_compile_definitions(TESSERA_SANITIZED)
  add_compile_options(-fsanitize=${TESSERA_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
    # The driver's C functions are called with our own types for its structs: those of the same layout, not of its names.
    $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>
    # What the sanitizers add to the code makes g++ see uses of values that were never set.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=${TESSERA_SANITIZE})
endif()
# Counters that a fuzzer reads, in all that it may call.
if(TESSERA_BUILD_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# tessera_add_folder(NAME SOURCES ... HEADERS ... LINKS ...): the object library of one folder. Others see its include/
# alone; its src/ cannot be included from outside.
function(tessera_add_folder name)
  cmake_parse_arguments(ARG "" "" "SOURCES;HEADERS;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(tessera_${name} OBJECT ${ARG_SOURCES})
  add_library(tessera::${name} ALIAS tessera_${name})
  target_sources(tessera_${name} PUBLIC FILE_SET HEADERS
    BASE_DIRS "${CMAKE_CURRENT_SOURCE_DIR}/include" FILES ${ARG_HEADERS})
  target_include_directories(tessera_${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/src")
  target_link_libraries(tessera_${name} PUBLIC ${ARG_LINKS} PRIVATE tessera_build_flags ${ARG_PRIVATE_LINKS})
  set_target_properties(tessera_${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
endfunction()

# tessera_add_test(NAME SOURCES ... LINKS ... LABELS ...): a GoogleTest program; each of its tests is one of CTest's.
function(tessera_add_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} tessera_build_flags GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE TESSERA_TESTS_DIR="${PROJECT_SOURCE_DIR}/tests")
  # What is tested is optimised, the tests need not be: that halves the time to compile them. With lines, but not each
  # variable, for debuggers it is a tenth less again.
  if(NOT TESSERA_SANITIZE)
    target_compile_options(${name} PRIVATE -O0 -g1)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 300)
endfunction()
