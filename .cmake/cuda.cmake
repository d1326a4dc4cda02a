# libshoal_cuda.so: the kernels of ops/cuda/*.cu and compress/codecs/*.cu behind one C table. It is
# loaded at run time, so the program itself needs neither toolkit nor driver. nvcc is called
# directly: CMake 3.25 knows no CUDA C++20 and would force one host standard on both languages.
set(SHOAL_HAVE_CUDA OFF)
if(SHOAL_CUDA STREQUAL OFF)
  return()
endif()

find_program(NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin)
if(NVCC)
  file(REAL_PATH ${NVCC} nvcc_path)
  cmake_path(GET nvcc_path PARENT_PATH nvcc_folder)
  find_library(CUBLAS cublas HINTS ${nvcc_folder}/../lib64 ${nvcc_folder}/../lib)
endif()
if(NOT NVCC OR NOT CUBLAS)
  if(SHOAL_CUDA STREQUAL ON)
    message(FATAL_ERROR "SHOAL_CUDA=ON, but nvcc or cuBLAS is not found in PATH or /usr/local/cuda. "
                        "Install the CUDA Toolkit, or configure with -DSHOAL_CUDA=AUTO.")
  endif()
  message(STATUS "CUDA: no toolkit found; CPU only")
  return()
endif()

file(GLOB cuda_sources CONFIGURE_DEPENDS
  ${CMAKE_SOURCE_DIR}/ops/cuda/*.cu ${CMAKE_SOURCE_DIR}/compress/codecs/*.cu)
message(STATUS "CUDA: ${NVCC}")
set(SHOAL_HAVE_CUDA ON)
# The same arithmetic as on the CPU: nothing fused, no flush to zero, correctly rounded division.
# In a file of its own, since tests/device/check.sh builds with the same.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/nvcc_flags.txt library_flags)
list(APPEND library_flags -I${CMAKE_SOURCE_DIR} -ccbin ${CMAKE_CXX_COMPILER})
if(SHOAL_WERROR)
  list(APPEND library_flags -Werror=all-warnings -Xcompiler=-Werror)
endif()
set(ptx_flags ${library_flags})
list(FILTER ptx_flags EXCLUDE REGEX "^-gencode")

file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/cuda)
set(cuda_objects)
set(cuda_ptx)
foreach(source IN LISTS cuda_sources)
  cmake_path(GET source STEM stem)
  set(object ${CMAKE_BINARY_DIR}/cuda/${stem}.o)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${NVCC} ${library_flags} -MD -MF ${object}.d -c ${source}
            -o ${object}
    DEPENDS ${source}
    DEPFILE ${object}.d
    COMMENT "nvcc ${stem}.cu"
    VERBATIM)
  list(APPEND cuda_objects ${object})
  # For the test that reads the PTX and finds no fused multiply-add in it.
  set(ptx ${CMAKE_BINARY_DIR}/cuda/${stem}.ptx)
  add_custom_command(
    OUTPUT ${ptx}
    COMMAND ${NVCC} ${ptx_flags} -arch=compute_80 -ptx ${source} -o ${ptx}
    DEPENDS ${source} ${object}
    COMMENT "nvcc -ptx ${stem}.cu"
    VERBATIM)
  list(APPEND cuda_ptx ${ptx})
endforeach()

# cuBLAS stays a shared library: linked in, it would make ours larger by half a gigabyte.
cmake_path(GET CUBLAS PARENT_PATH cublas_folder)
set(cuda_library ${CMAKE_BINARY_DIR}/libshoal_cuda.so)
add_custom_command(
  OUTPUT ${cuda_library}
  COMMAND ${NVCC} -shared -cudart static -ccbin ${CMAKE_CXX_COMPILER} ${cuda_objects} ${CUBLAS}
          -Xlinker=--no-undefined,--exclude-libs=ALL,-rpath=${cublas_folder} -o ${cuda_library}
  DEPENDS ${cuda_objects}
  COMMENT "libshoal_cuda.so"
  VERBATIM)
add_custom_target(shoal_cuda ALL DEPENDS ${cuda_library} ${cuda_ptx})
