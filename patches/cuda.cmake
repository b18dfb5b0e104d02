# The build for GPUs: the CUDA language, and darknet_cuda, the libraries that Darknet's code calls.
# The toolkit is nvcc's; cuDNN and NCCL are looked for in it and where CMake looks, or given by -DDDP_CUDNN_ROOT= and
# -DDDP_NCCL_ROOT= (folders with include/ and lib/, as in NVIDIA's Python packages).
set(DDP_CUDNN_ROOT "" CACHE PATH "A folder with cuDNN's include and lib")
set(DDP_NCCL_ROOT "" CACHE PATH "A folder with NCCL's include and lib")

set(CMAKE_CUDA_ARCHITECTURES OFF) # each target names its own
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
enable_language(CUDA)
find_package(CUDAToolkit 11 REQUIRED)

# ddp_find_cuda_library(NAME ROOT HEADER LIBRARY...): DDP_NAME_INCLUDE and DDP_NAME_LIBRARY.
function(ddp_find_cuda_library name root header)
  find_path(DDP_${name}_INCLUDE ${header} HINTS ${root} ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include REQUIRED)
  find_library(DDP_${name}_LIBRARY NAMES ${ARGN} HINTS ${root} ${CUDAToolkit_LIBRARY_DIR} PATH_SUFFIXES lib lib64 REQUIRED)
  message(STATUS "${name}: ${DDP_${name}_LIBRARY}")
endfunction()

ddp_find_cuda_library(CUDNN "${DDP_CUDNN_ROOT}" cudnn.h cudnn libcudnn.so.9 libcudnn.so.8)
ddp_find_cuda_library(NCCL "${DDP_NCCL_ROOT}" nccl.h nccl libnccl.so.2)

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
if(DDP_CUDA_ARCHITECTURES)
  set(ddp_cuda_architectures ${DDP_CUDA_ARCHITECTURES})
endif()
message(STATUS "CUDA ${CMAKE_CUDA_COMPILER_VERSION} for ${ddp_cuda_architectures}")

# GPU and CUDNN change the structs of darknet.h: whatever includes it must have them.
add_library(darknet_cuda INTERFACE)
target_compile_definitions(darknet_cuda INTERFACE GPU CUDNN)
target_include_directories(darknet_cuda SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS} ${DDP_CUDNN_INCLUDE})
target_link_libraries(darknet_cuda INTERFACE CUDA::cudart CUDA::cublas CUDA::curand ${DDP_CUDNN_LIBRARY} stdc++)
