# Flags of the whole tree: language, warnings, arithmetic, sanitizers.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g -fno-omit-frame-pointer")

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# Programs, libshoal_cuda.so and tests find each other beside themselves, wherever the tree lies.
set(CMAKE_BUILD_RPATH "$ORIGIN;$ORIGIN/..")
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

add_library(shoal_flags INTERFACE)
target_compile_options(shoal_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
  # Replicas are equal to the bit on every machine only if nobody fuses a multiply and an add.
  -ffp-contract=off)
if(SHOAL_WERROR)
  target_compile_options(shoal_flags INTERFACE -Werror)
endif()
target_include_directories(shoal_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_include_directories(shoal_flags SYSTEM INTERFACE ${CMAKE_BINARY_DIR}/generated)

if(SHOAL_SANITIZE)
  # Lines are all that a report names, and whole debug information is a third of the build.
  add_compile_options(-fsanitize=${SHOAL_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${SHOAL_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ 12 sees uninitialised members in Catch's and the standard library's own moves here.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()
if(SHOAL_FUZZ)
  # clang 14 can't place the mark of `function` before the parts of a coroutine.
  add_compile_options(-fsanitize=fuzzer-no-link -fno-sanitize=function)
endif()
