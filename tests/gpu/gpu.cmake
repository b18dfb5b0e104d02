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
