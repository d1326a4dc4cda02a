# Fails when a .ptx file below FOLDER fuses, approximates or flushes: replicas on a GPU would then
# differ from those on a CPU. A product or a sum without a rounding is one that may yet be fused.
file(GLOB files ${FOLDER}/*.ptx)
if(NOT files)
  message(FATAL_ERROR "no PTX below ${FOLDER}; build the target shoal_cuda")
endif()
foreach(file IN LISTS files)
  file(STRINGS ${file} found REGEX "[ \t](fma|mad)\\.[a-z.]*f(32|64)|[ \t](mul|add|sub)\\.f(32|64)|\\.approx|div\\.full|\\.ftz")
  if(found)
    list(JOIN found "\n" lines)
    message(FATAL_ERROR "${file}:\n${lines}")
  endif()
endforeach()
