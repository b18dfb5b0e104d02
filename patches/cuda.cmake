# The build for GPUs: the CUDA language, and darknet_cuda, the libraries that Darknet's code calls.
# The toolkit is nvcc's; cuDNN and NCCL are looked for in it and where CMake looks, or given by -DDDP_CUDNN_ROOT= and
# -DDDP_NCCL_ROOT= (folders with include/ and lib/, as in NVIDIA's Python packages).
set(DDP_CUDNN_ROOT "" CACHE PATH "A folder with cuDNN's include and lib")
set(DDP_NCCL_ROOT "" CACHE PATH "A folder with NCCL's include and lib")

set(CMAKE_CUDA_ARCHITECTURES OFF) # each target names its own
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(FATAL_ERROR "DDP_CUDA=ON needs NVIDIA's CUDA Toolkit, 11 to 13, and no working nvcc was found. Put its folder on PATH "
    "or give it with -DCMAKE_CUDA_COMPILER=/usr/local/cuda/bin/nvcc. Without DDP_CUDA the build is for CPUs.")
endif()
enable_language(CUDA)
find_package(CUDAToolkit)
if(NOT CUDAToolkit_FOUND OR CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 11)
  message(FATAL_ERROR "DDP_CUDA=ON needs NVIDIA's CUDA Toolkit, 11 to 13, with its libraries. ${CMAKE_CUDA_COMPILER} is of "
    "version ${CMAKE_CUDA_COMPILER_VERSION}; another can be given with -DCMAKE_CUDA_COMPILER=")
endif()

# ddp_find_cuda_library(NAME ROOT WORDS HEADER LIBRARY...): DDP_NAME_INCLUDE and DDP_NAME_LIBRARY.
function(ddp_find_cuda_library name root words header)
  if(root AND NOT EXISTS ${root}/include/${header})
    message(FATAL_ERROR "-DDDP_${name}_ROOT=${root}: there is no include/${header} in it")
  endif()
  find_path(DDP_${name}_INCLUDE ${header} HINTS ${root} ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
  find_library(DDP_${name}_LIBRARY NAMES ${ARGN} HINTS ${root} ${CUDAToolkit_LIBRARY_DIR} PATH_SUFFIXES lib lib64)
  foreach(part INCLUDE LIBRARY)
    if(NOT DDP_${name}_${part})
      list(GET ARGN 0 library)
      string(REPLACE INCLUDE ${header} missing ${part})
      string(REPLACE LIBRARY lib${library}.so missing ${missing})
      message(FATAL_ERROR "DDP_CUDA=ON needs ${words}, and ${missing} was not found. The folder that has its include/ and "
        "lib/ can be given with -DDDP_${name}_ROOT=")
    endif()
  endforeach()
  message(STATUS "${name}: ${DDP_${name}_LIBRARY}")
endfunction()

# ddp_check_cuda_header(WORDS HEADER PREFIX LEAST): the version in a header, MAJOR.MINOR by its macros PREFIX_MAJOR and
# PREFIX_MINOR, is LEAST or newer.
function(ddp_check_cuda_header words header prefix least)
  foreach(part MAJOR MINOR)
    file(STRINGS ${header} line REGEX "^#define +${prefix}_${part} +[0-9]+" LIMIT_COUNT 1)
    string(REGEX MATCH "[0-9]+$" ${part} "${line}")
  endforeach()
  if("${MAJOR}.${MINOR}" VERSION_LESS ${least})
    message(FATAL_ERROR "DDP_CUDA=ON needs ${words}, and ${header} is of version ${MAJOR}.${MINOR}")
  endif()
endfunction()

ddp_find_cuda_library(CUDNN "${DDP_CUDNN_ROOT}" "cuDNN 8 or 9" cudnn_version.h cudnn libcudnn.so.9 libcudnn.so.8)
ddp_check_cuda_header("cuDNN 8 or 9" ${DDP_CUDNN_INCLUDE}/cudnn_version.h CUDNN 8)
ddp_find_cuda_library(NCCL "${DDP_NCCL_ROOT}" "NCCL 2.18 or newer" nccl.h nccl libnccl.so.2)
ddp_check_cuda_header("NCCL 2.18 or newer" ${DDP_NCCL_INCLUDE}/nccl.h NCCL 2.18)

# Code for each generation, and of the newest the PTX that later ones can use.
set(ddp_cuda_architectures 75-real 80-real)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 11.1)
  list(APPEND ddp_cuda_architectures 86-real)
endif()
if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 11.8)
  list(APPEND ddp_cuda_architectures 89-real 90-real)
endif()
if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
  list(APPEND ddp_cuda_architectures 100-real)
endif()
list(POP_BACK ddp_cuda_architectures newest)
string(REPLACE "-real" "" newest ${newest})
list(APPEND ddp_cuda_architectures ${newest})
foreach(wanted IN LISTS DDP_CUDA_ARCHITECTURES)
  if(NOT wanted MATCHES "^([0-9]+[af]?(-real|-virtual)?|native)$")
    message(FATAL_ERROR "DDP_CUDA_ARCHITECTURES wants compute capabilities without the point, such as 90 or 80;90, or native; "
      "not ${wanted}")
  endif()
endforeach()
if(DDP_CUDA_ARCHITECTURES)
  set(ddp_cuda_architectures ${DDP_CUDA_ARCHITECTURES})
endif()
message(STATUS "CUDA ${CMAKE_CUDA_COMPILER_VERSION} for ${ddp_cuda_architectures}")

# GPU and CUDNN change the structs of darknet.h: whatever includes it must have them.
add_library(darknet_cuda INTERFACE)
target_compile_definitions(darknet_cuda INTERFACE GPU CUDNN)
target_include_directories(darknet_cuda SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS} ${DDP_CUDNN_INCLUDE})
target_link_libraries(darknet_cuda INTERFACE CUDA::cudart CUDA::cublas CUDA::curand ${DDP_CUDNN_LIBRARY} stdc++)
