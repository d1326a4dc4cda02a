# shoal_folder(<name> [<library>...]): static target shoal::<name> of all sources below the folder,
# main.cpp left out, linked with the named libraries. A new file needs no line anywhere.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

function(shoal_folder name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  add_library(shoal_${name} STATIC ${sources})
  target_link_libraries(shoal_${name} PUBLIC shoal_flags ${ARGN})
  add_library(shoal::${name} ALIAS shoal_${name})
endfunction()

# shoal_pkg(<target> <module>): imported target PkgConfig::<target>, its headers as SYSTEM.
macro(shoal_pkg target module)
  pkg_check_modules(${target} REQUIRED IMPORTED_TARGET GLOBAL ${module})
endmacro()
