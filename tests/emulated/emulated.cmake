# An emulated device for tests of the GPU path where there is no GPU (emulated.h): Darknet's GPU code and ours, compiled by
# gcc and g++ against the headers of include/, and run on the CPU. darknet-emulated is the whole program made so.
# A build for GPUs has the real thing, and sanitizers do not follow fibers: both go without.
include(CheckLanguage)
check_language(CXX)
if(DDP_CUDA OR DDP_SANITIZE OR NOT CMAKE_CXX_COMPILER)
  return()
endif()
enable_language(CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(Python3 COMPONENTS Interpreter REQUIRED)

set(emulated_dir ${CMAKE_CURRENT_LIST_DIR})

add_library(emulated_flags INTERFACE)
target_compile_options(emulated_flags INTERFACE -O2 -g -Wall -Wextra -Wshadow
  $<$<BOOL:${DDP_WERROR}>:-Werror>)

# What a program includes and links in place of CUDA.
file(GLOB sources CONFIGURE_DEPENDS ${emulated_dir}/*.cpp)
list(FILTER sources EXCLUDE REGEX "/test_[^/]*$")
add_library(emulated_cuda STATIC ${sources})
target_compile_definitions(emulated_cuda PRIVATE _GNU_SOURCE)
target_compile_options(emulated_cuda PRIVATE -U_FORTIFY_SOURCE) # which takes jumps between stacks for mistakes
target_include_directories(emulated_cuda SYSTEM PUBLIC ${emulated_dir}/include)
target_link_libraries(emulated_cuda PRIVATE emulated_flags PUBLIC Threads::Threads rt)
# Products need vectors.
set_source_files_properties(${emulated_dir}/gemm.cpp ${emulated_dir}/convolve.cpp PROPERTIES COMPILE_OPTIONS "-O3;-ffast-math")

# emulated_kernels(OUT FILE.cu...): the C++ files that translate makes of them.
function(emulated_kernels out)
  set(made)
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME_WE)
    set(target ${CMAKE_CURRENT_BINARY_DIR}/kernels/${name}.cpp)
    add_custom_command(OUTPUT ${target} DEPENDS ${file} ${emulated_dir}/translate VERBATIM
      COMMAND ${Python3_EXECUTABLE} ${emulated_dir}/translate ${file} ${target})
    list(APPEND made ${target})
  endforeach()
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/kernels)
  set(${out} ${made} PARENT_SCOPE)
endfunction()

# ---- Darknet ----
set(darknet_src ${PROJECT_BINARY_DIR}/darknet-src)
add_library(darknet_emulated_flags INTERFACE)
target_compile_definitions(darknet_emulated_flags INTERFACE GPU CUDNN)
target_include_directories(darknet_emulated_flags SYSTEM INTERFACE ${darknet_src}/include ${darknet_src}/src)
target_compile_options(darknet_emulated_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-O2>)
target_link_libraries(darknet_emulated_flags INTERFACE emulated_cuda)

ddp_makefile_sources(sources OBJ src c)
ddp_makefile_sources(kernels "OBJ\\+" src cu)
emulated_kernels(kernels ${kernels})
add_library(darknet_core_emulated STATIC ${sources} ${kernels})
target_link_libraries(darknet_core_emulated PRIVATE darknet_flags PUBLIC darknet_emulated_flags)
set_source_files_properties(${darknet_src}/src/gemm.c PROPERTIES COMPILE_OPTIONS "${OpenMP_C_FLAGS}")

ddp_makefile_sources(sources EXECOBJA examples c)
add_library(darknet_examples_emulated OBJECT ${sources})
target_link_libraries(darknet_examples_emulated PRIVATE darknet_flags darknet_emulated_flags)
set_source_files_properties(${darknet_src}/examples/darknet.c PROPERTIES COMPILE_DEFINITIONS main=darknet_main)

# ---- our layers, and the program ----
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/darknet-ddp/*/*.c)
list(FILTER sources EXCLUDE REGEX "/no_gpu\\.c$")
if(NOT DDP_WITH_MPI)
  list(FILTER sources EXCLUDE REGEX "/comm/mpi[^/]*\\.c$")
endif()
file(GLOB kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/darknet-ddp/*/*.cu)
emulated_kernels(kernels ${kernels})
set_source_files_properties(${kernels} PROPERTIES COMPILE_OPTIONS -w)
set(mains ${sources})
list(FILTER mains INCLUDE REGEX "/cli/")
list(FILTER sources EXCLUDE REGEX "/cli/")

add_library(ddp_emulated STATIC ${sources} ${kernels})
target_compile_definitions(ddp_emulated PUBLIC DDP_WITH_CUDA)
target_link_libraries(ddp_emulated PUBLIC darknet_core_emulated ddp_flags
  PRIVATE $<$<BOOL:${DDP_WITH_MPI}>:MPI::MPI_C>)

add_executable(darknet-emulated ${mains} $<TARGET_OBJECTS:darknet_examples_emulated>)
target_link_options(darknet-emulated PRIVATE $<$<NOT:$<CONFIG:Debug>>:-Ofast>)
target_link_libraries(darknet-emulated PRIVATE ddp_emulated)
set_target_properties(darknet-emulated PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} LINKER_LANGUAGE CXX)

# ---- tests: emulated.NAME, some once for each order ----
set(emulated_orders eager compute-late streams-late random:1 random:2)

# emulated_test(NAME TIMEOUT COMMAND...): emulated.NAME.ORDER for each order.
function(emulated_test name timeout)
  foreach(order IN LISTS emulated_orders)
    string(REPLACE ":" "-" suffix ${order})
    ddp_add_test(emulated.${name}.${suffix} emulated ${timeout} ${ARGN})
    set_property(TEST emulated.${name}.${suffix} APPEND PROPERTY ENVIRONMENT EMULATED_ORDER=${order})
  endforeach()
endfunction()

emulated_kernels(test_device ${emulated_dir}/test_device.cu)
add_executable(emulated_device ${test_device})
target_include_directories(emulated_device SYSTEM PRIVATE ${CMOCKA_INCLUDE})
target_link_libraries(emulated_device PRIVATE emulated_cuda emulated_flags ${CMOCKA})
emulated_test(device 20 $<TARGET_FILE:emulated_device>)
ddp_add_test(emulated.device.mprotect emulated 20 $<TARGET_FILE:emulated_device>)
set_property(TEST emulated.device.mprotect APPEND PROPERTY ENVIRONMENT EMULATED_GUARD=mprotect)

add_executable(emulated_libraries ${emulated_dir}/test_libraries.cpp)
target_include_directories(emulated_libraries SYSTEM PRIVATE ${CMOCKA_INCLUDE})
target_link_libraries(emulated_libraries PRIVATE emulated_cuda emulated_flags ${CMOCKA})
emulated_test(libraries 20 $<TARGET_FILE:emulated_libraries>)

add_executable(emulated_nccl ${emulated_dir}/test_nccl.c)
target_link_libraries(emulated_nccl PRIVATE emulated_cuda ddp_flags)
set_target_properties(emulated_nccl PROPERTIES LINKER_LANGUAGE CXX)
emulated_test(nccl 60 $<TARGET_FILE:emulated_nccl>)
ddp_add_test(emulated.nccl.mprotect emulated 60 $<TARGET_FILE:emulated_nccl>)
set_property(TEST emulated.nccl.mprotect APPEND PROPERTY ENVIRONMENT EMULATED_GUARD=mprotect)
ddp_add_test(emulated.nccl.broken emulated 20 $<TARGET_FILE:emulated_nccl> broken)
set_property(TEST emulated.nccl.broken APPEND PROPERTY ENVIRONMENT
  EMULATED_FAIL=ncclAllReduce/async:3,ncclAllReduce:5)
