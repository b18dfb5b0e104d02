# gpu.NAME: what needs a GPU, in a build for GPUs; skipped where there is none. scripts/test-gpu runs the same at full
# size, with PyTorch and NVIDIA's tools beside it. emulated.NAME: the same on tests/emulated's device.

# ddp_gpu_compare(NAME LIBRARY...): the program NAME, which trains on a GPU and on the CPU.
function(ddp_gpu_compare name)
  add_executable(${name} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/compare.c ${CMAKE_CURRENT_SOURCE_DIR}/gpu/snapshot.c
    ${CMAKE_CURRENT_SOURCE_DIR}/parity/model.c)
  target_link_libraries(${name} PRIVATE ${ARGN} ddp_flags)
  target_link_options(${name} PRIVATE -Wl,--wrap=rand_normal)
endfunction()

if(DDP_CUDA)
  ddp_gpu_compare(gpu_compare ddp_glue darknet_core)
endif()

# ddp_gpu_sums(NAME LIBRARY...): the program NAME, which checks sums of a GPU's memory over ranks.
function(ddp_gpu_sums name)
  add_executable(${name} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/sums.c)
  target_link_libraries(${name} PRIVATE ${ARGN} ddp_flags)
endfunction()

if(DDP_CUDA AND DDP_WITH_MPI)
  ddp_gpu_sums(gpu_sums ddp_comm)
elseif(TARGET ddp_emulated AND DDP_WITH_MPI)
  ddp_gpu_sums(emulated_sums ddp_emulated)
  set_target_properties(emulated_sums PROPERTIES LINKER_LANGUAGE CXX)
  foreach(n IN ITEMS 1 2 3)
    foreach(kind IN ITEMS "mpi ordered" "nccl any" "nccl ordered")
      separate_arguments(arguments UNIX_COMMAND ${kind})
      string(REPLACE " " "-" name ${kind})
      emulated_test(sums.${name}.n${n} 60 ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${n}
        $<TARGET_FILE:emulated_sums> ${arguments})
    endforeach()
  endforeach()
endif()
