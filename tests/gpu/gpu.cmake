# What tests/gpu checks: in a build for GPUs gpu.NAME, skipped where there is none; with DDP_EMULATED emulated.NAME, on the
# device of darknet-ddp/emulated. scripts/test-gpu runs all of it on a machine with a GPU, at full size.
#   compare.c   a GPU trains to what the CPU makes of it; layers.py runs it on the networks of cases.py
#   bf16.c      layers in bf16 compute what they compute in floats, where no digit is lost
#   blocks.c    reductions in bf16 have blocks enough for a GPU
#   heads.c     the kernels of [yolo], [region], [detection] and [iseg] make of any truths what the CPU makes of them
#   parity.py   ranks that share a GPU train to what one process makes of it (../parity/parity.c)
#   sums.c      sums of a GPU's memory over ranks; of several hosts with ../preload/host.c, as levels, the program on such
#   compress.h  compression on a GPU: of a parameter as on the host, of a network as its definition (../unit/compressed.h); of
#               each that has code for GPUs the program is algorithms/NAME/tests/gpu/NAME.c
#   lost.c      a sum that never arrives is noticed wherever the program waits for the GPU
#   trace.py    a record of kernels: sums run under backward; trace.c makes it
#   failures.py calls that fail; fail.c makes them do so on a real GPU
#   within.py   runs a check of scripts/test-gpu and leaves nothing of it behind; leftovers.py tests that
#   go          what is carried to a lent GPU with scripts/pack-gpu.py; dry.py, by hand, tries its calls without one
if(DDP_CUDA)
  set(label gpu)
  set(class usual)
  set(program darknet)
  set(libraries ddp_framework darknet_core)
elseif(DDP_EMULATED)
  set(label emulated)
  set(class ci)
  set(program darknet-emulated)
  set(libraries ddp_emulated)
else()
  return()
endif()

add_custom_target(${label}_programs DEPENDS ${program}) # all that the tests of this file run

# What they share, compiled once.
set(helpers gpu/snapshot.c parity/arrays.c parity/model.c parity/options.c parity/rank_sum.c parity/run.c unit/compressed.c unit/compressed_model.c)
list(TRANSFORM helpers PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
add_library(${label}_helpers STATIC ${helpers})
target_link_libraries(${label}_helpers PUBLIC ${libraries} ddp_flags)
target_include_directories(${label}_helpers PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})

# ddp_gpu_program(NAME FILE): the program LABEL_NAME.
function(ddp_gpu_program name file)
  get_filename_component(file ${file} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  add_executable(${label}_${name} ${file})
  target_link_libraries(${label}_${name} PRIVATE ${label}_helpers)
  add_dependencies(${label}_programs ${label}_${name})
  if(label STREQUAL emulated)
    set_target_properties(${label}_${name} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
endfunction()

# ddp_gpu_test(NAME HOW COMMAND...): LABEL.NAME; HOW without a class, "" for nothing else (ddp_add_test).
function(ddp_gpu_test name how)
  ddp_add_test(${label}.${name} ${label} "${class} ${how}" ${ARGN})
  set_property(TEST ${label}.${name} APPEND PROPERTY ENVIRONMENT DARKNET_SRC=${PROJECT_BINARY_DIR}/darknet-src EMULATED_NOISE=1
    EMULATED_GUARD=sometimes)
endfunction()

ddp_gpu_program(compare gpu/compare.c)
target_link_options(${label}_compare PRIVATE -Wl,--wrap=rand_normal)
if(label STREQUAL gpu)
  ddp_gpu_test(layers timeout=600 ${CMAKE_CURRENT_SOURCE_DIR}/gpu/layers.py $<TARGET_FILE:gpu_compare> layers)
  ddp_gpu_test(nets timeout=600 ${CMAKE_CURRENT_SOURCE_DIR}/gpu/layers.py $<TARGET_FILE:gpu_compare> nets)
else()
  set(layers ${CMAKE_CURRENT_SOURCE_DIR}/gpu/layers.py $<TARGET_FILE:emulated_compare>)
  ddp_gpu_test(layers "timeout=600 cost=100" ${layers} layers -with updates=3) # a step is slow there
  ddp_gpu_test(nets cost=100 ${layers} slow-nets -with updates=3)
  ddp_gpu_test(layers_tf32 "" ${layers} smooth-layers -with "tf32=1 smooth=1 again=0 updates=3")
  emulated_test(order ${layers} conv-batchnorm crop yolo region detection iseg rnn) # inputs and deltas come from pinned memory

  # cuDNN refuses an algorithm that it lists: when asked for its workspace, where the algorithms are timed and (Forward:5) where not, or
  # when it is run; then all that there are.
  function(ddp_refused_test name)
    string(REPLACE ";" "," calls "${ARGN}")
    ddp_gpu_test(${name} "" ${layers} conv)
    set_property(TEST emulated.${name} APPEND PROPERTY ENVIRONMENT EMULATED_FAIL=${calls})
  endfunction()
  ddp_refused_test(refused_algorithm cudnnGetConvolutionForwardWorkspaceSize:1 cudnnGetConvolutionForwardWorkspaceSize:5
    cudnnGetConvolutionBackwardDataWorkspaceSize:1 cudnnGetConvolutionBackwardFilterWorkspaceSize:1)
  ddp_refused_test(refused_run cudnnConvolutionForward:1 cudnnConvolutionBackwardData:1 cudnnConvolutionBackwardFilter:1)
  set(six 1 2 3 4 5 6)
  list(TRANSFORM six PREPEND cudnnGetConvolutionForwardWorkspaceSize:)
  ddp_refused_test(refused_algorithms ${six})
  set_tests_properties(emulated.refused_algorithms PROPERTIES PASS_REGULAR_EXPRESSION
    "BAD .*cuDNN has no algorithm for the forward pass of a convolution that needs at most [0-9]+ MB of workspace")
endif()

# Layers in bf16: to the bit where rounding loses nothing, within its rounding elsewhere.
ddp_gpu_program(bf16 gpu/bf16.c)
target_link_options(${label}_bf16 PRIVATE -Wl,--wrap=rand_normal)
ddp_gpu_test(bf16 "" ${CMAKE_COMMAND} -E env --unset=EMULATED_NOISE
  ${CMAKE_CURRENT_SOURCE_DIR}/gpu/layers.py $<TARGET_FILE:${label}_bf16> bf16 bf16-fused)
if(label STREQUAL emulated)
  emulated_test(bf16.order ${CMAKE_CURRENT_SOURCE_DIR}/gpu/layers.py $<TARGET_FILE:emulated_bf16>
    bf16-conv bf16-route bf16-shortcut-stride bf16-dropout fused-relu fused-read-twice)
  # cuDNN lists no algorithm in bf16 for the first of three: it stays in floats
  ddp_gpu_test(bf16.refused "" ${CMAKE_COMMAND} -E env --unset=EMULATED_NOISE
    ${CMAKE_CURRENT_SOURCE_DIR}/gpu/layers.py $<TARGET_FILE:emulated_bf16> bf16-conv)
  set_property(TEST emulated.bf16.refused APPEND PROPERTY ENVIRONMENT EMULATED_FAIL=cudnnGetConvolutionForwardAlgorithm_v7:3)
  set_tests_properties(emulated.bf16.refused PROPERTIES PASS_REGULAR_EXPRESSION "ok .* 2 layers in bf16 passed")
endif()
ddp_gpu_test(layers_bf16 timeout=600 ${CMAKE_CURRENT_SOURCE_DIR}/gpu/layers.py $<TARGET_FILE:${label}_compare> bf16-layers
  -with "bf16=1 smooth=2 again=0$<$<STREQUAL:${label},emulated>: updates=3>")

# Reductions in bf16 have blocks enough for a GPU.
if(label STREQUAL emulated)
  ddp_gpu_program(blocks gpu/blocks.c)
  target_link_options(emulated_blocks PRIVATE -Wl,--wrap=rand_normal)
  set(blocks_of "rm -f blocks-yolov4.cfg && $<TARGET_FILE:darknet-emulated> ddp cfg yolov4 -classes 80 -o blocks-yolov4.cfg")
  ddp_gpu_test(blocks.resnet50 "" $<TARGET_FILE:emulated_blocks> ${PROJECT_BINARY_DIR}/darknet-src/cfg/resnet50.cfg 224 64)
  ddp_gpu_test(blocks.yolov4 "" sh -c "${blocks_of} && $<TARGET_FILE:emulated_blocks> blocks-yolov4.cfg 416 16")
endif()

ddp_gpu_program(heads gpu/heads.c)
target_link_options(${label}_heads PRIVATE -Wl,--wrap=rand_normal)
ddp_gpu_test(heads "" $<TARGET_FILE:${label}_heads>)
if(label STREQUAL emulated)
  emulated_test(heads.order $<TARGET_FILE:emulated_heads> yolo yolo-ciou)
endif()

# The families of the reference data (../reference/reference.cmake), within the same limits as on the CPU.
ddp_gpu_program(reference reference/reference.c)
target_sources(${label}_reference PRIVATE reference/forks_backward.c)
target_link_options(${label}_reference PRIVATE ${forks_backward})
set(families ${reference_families})
if(label STREQUAL emulated) # where they take longest; their layers and keys are in the others
  list(REMOVE_ITEM families yolov3-spp yolov4 yolov4-custom)
endif()
foreach(family IN LISTS families)
  ddp_gpu_test(reference.${family} "" ${CMAKE_CURRENT_SOURCE_DIR}/reference/run.py $<TARGET_FILE:${label}_reference> ${family})
  set_property(TEST ${label}.reference.${family} APPEND PROPERTY ENVIRONMENT PYTHONPATH=${CMAKE_CURRENT_SOURCE_DIR}/python
    DARKNET=$<TARGET_FILE:${program}>)
  ddp_needs_reference(${label}.reference.${family})
endforeach()

if(DDP_WITH_MPI)
  ddp_gpu_program(parity parity/parity.c)
  target_link_options(${label}_parity PRIVATE -Wl,--wrap=rand_normal)
  ddp_gpu_program(sums gpu/sums.c)
  ddp_gpu_test(parity "timeout=600 cost=100" ${CMAKE_CURRENT_SOURCE_DIR}/gpu/parity.py -jobs 2 $<TARGET_FILE:${label}_parity>)

  # The program as users run it, on GPU 0.
  function(ddp_gpu_run name how script)
    if(NOT EXISTS ${script}) # of an algorithm that was taken out
      return()
    endif()
    ddp_gpu_test(run.${name} "${how} again" ${script} ${ARGN})
    set_property(TEST ${label}.run.${name} APPEND PROPERTY ENVIRONMENT DARKNET_GPU=0
      DARKNET=$<TARGET_FILE:${program}>)
  endfunction()
  set(run ${CMAKE_CURRENT_SOURCE_DIR}/run)
  ddp_gpu_run(exact "" ${run}/exact.py Exact.test_a_detector NotExact.test_a_detector)
  ddp_gpu_run(resume "" ${run}/resume.py Signals.test_on_another_number_of_ranks)
  ddp_gpu_run(checkpoints "" ${run}/checkpoints.py Checkpoints.test_a_damaged_one_is_skipped)
  ddp_gpu_run(ranks "" ${run}/ranks.py Seeds Loss)
  ddp_gpu_run(compress "" ${run}/compress.py Results.test_one_rank_sends_nothing_and_rounds_nothing Overflow
    Results.test_layers_that_ran_on_no_rank_and_updates_of_several_batches)
  ddp_gpu_run(compressions "" ${run}/compressions.py Results.test_a_gpu_computes_what_a_cpu_does Results.test_steps_that_are_dropped_leave_nothing_behind
    Resumed.test_a_run_that_has_nothing_left_to_train_saves_what_it_has_read
    Resumed.test_from_a_checkpoint_to_the_same_weights Resumed.test_on_another_number_of_ranks_errors_are_added_up)
  ddp_gpu_run(channels "" ${run}/channels.py Channels.test_exact_runs_too)
  ddp_gpu_run(gloo timeout=600 ${run}/gloo.py Results.test_the_weights_are_those_of_mpi Results.test_exact_is_what_one_process_gives
    Results.test_gradients_of_16_bits Results.test_sharded_optimizers
    ByHand.test_ranks_that_are_started_one_by_one Resumed Killed OnGpus)
  ddp_gpu_run(layer_drop "" ${ddp_algorithms}/layer_drop/tests/run/layer_drop.py Results.test_exact_on_any_number_of_ranks Results.test_a_gpu_computes_what_a_cpu_does)
  ddp_gpu_run(local_sgd "" ${ddp_algorithms}/local_sgd/tests/run/local_sgd.py Results.test_a_gpu_computes_what_a_cpu_does Results.test_what_it_sends
    Results.test_it_goes_with_sixteen_bits_and_with_skipped_steps Saved.test_a_numbered_save_waits_for_the_averaging_and_is_resumed_from)
  ddp_gpu_run(shard timeout=600 ${ddp_algorithms}/zero1/tests/run/shard.py Results.test_on_a_gpu Results.test_bench_times_it Results.test_what_is_said_of_it
    Results.test_frozen_layers_averages_and_clipped_weights Results.test_numbers_that_are_not_finite_end_the_run
    Saved.test_a_run_goes_on_with_it_and_without_on_other_ranks)
  # Times that noise changes make no trace.
  ddp_gpu_run(trace "" ${CMAKE_COMMAND} -E env --unset=EMULATED_NOISE ${run}/trace.py Trace.test_all_ranks_in_one_file)
  ddp_gpu_run(failures "" ${CMAKE_CURRENT_SOURCE_DIR}/gpu/failures.py)
  if(label STREQUAL gpu)
    add_library(gpu_fail MODULE ${CMAKE_CURRENT_SOURCE_DIR}/gpu/fail.c)
    target_link_libraries(gpu_fail PRIVATE ddp_flags darknet_cuda)
    target_include_directories(gpu_fail SYSTEM PRIVATE ${DDP_NCCL_INCLUDE})
    add_dependencies(gpu_programs gpu_fail)
    set_property(TEST gpu.run.failures APPEND PROPERTY ENVIRONMENT GPU_FAIL=$<TARGET_FILE:gpu_fail>)
    if(TARGET CUDA::cupti AND CUDAToolkit_VERSION VERSION_GREATER_EQUAL 13)
      add_library(gpu_trace MODULE ${CMAKE_CURRENT_SOURCE_DIR}/gpu/trace.c)
      target_link_libraries(gpu_trace PRIVATE ddp_flags CUDA::cupti)
      add_dependencies(gpu_programs gpu_trace)
      ddp_gpu_test(trace "" ${CMAKE_CURRENT_SOURCE_DIR}/gpu/trace.py ${PROJECT_BINARY_DIR})
    endif()
  endif()

  foreach(how IN ITEMS nccl.any nccl.ordered mpi.ordered nccl.any.bf16 nccl.any.fp16 mpi.ordered.bf16
      nccl.any.fp32.3 nccl.ordered.fp32.2 nccl.any.bf16.3 mpi.ordered.fp32.3 nccl.halves nccl.halves.fp32.3 mpi.halves mpi.halves.fp32.2
      gloo.ordered gloo.ordered.bf16 gloo.halves)
    string(REPLACE "." ";" words ${how})
    foreach(n IN ITEMS 2 3)
      ddp_gpu_test(sums.${how}.n${n} "" ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${n} $<TARGET_FILE:${label}_sums>
        ${words})
    endforeach()
    if(label STREQUAL emulated)
      emulated_test(sums.${how} ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2 $<TARGET_FILE:emulated_sums> ${words})
    endif()
  endforeach()
  ddp_gpu_test(sums.blocking "" ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2 $<TARGET_FILE:${label}_sums> nccl any)
  set_property(TEST ${label}.sums.blocking APPEND PROPERTY ENVIRONMENT DARKNET_DDP_NCCL_BLOCKING=1)
  # Ranks of this machine, as if on hosts of so many each.
  add_library(gpu_host MODULE ${CMAKE_CURRENT_SOURCE_DIR}/preload/host.c)
  target_include_directories(gpu_host SYSTEM PRIVATE ${MPI_C_INCLUDE_DIRS})
  target_link_libraries(gpu_host PRIVATE ddp_flags ${CMAKE_DL_LIBS})
  add_dependencies(${label}_programs gpu_host)
  foreach(hosts IN ITEMS 2,2 1,1,1,1 2,2,2,2 2,1 1,2 8 3,2,3 1,1,1,1,1,1,1,1,1,1)
    string(REPLACE "," ";" ranks ${hosts})
    list(JOIN ranks "+" n)
    math(EXPR n "${n}")
    foreach(how IN ITEMS ordered.levels ordered.direct halves.levels)
      string(REPLACE "." ";" words ${how})
      list(INSERT words 1 fp32 1)
      set(name sums.hosts.${hosts}.${how})
      ddp_gpu_test(${name} "" ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${n} $<TARGET_FILE:${label}_sums> nccl ${words})
      set_property(TEST ${label}.${name} APPEND PROPERTY ENVIRONMENT HOST_RANKS=${hosts} LD_PRELOAD=$<TARGET_FILE:gpu_host>)
    endforeach()
  endforeach()
  if(label STREQUAL emulated)
    ddp_gpu_test(run.levels again ${CMAKE_CURRENT_SOURCE_DIR}/gpu/levels.py)
    set_property(TEST emulated.run.levels APPEND PROPERTY ENVIRONMENT DARKNET=$<TARGET_FILE:${program}> GPU_HOST=$<TARGET_FILE:gpu_host>)
  endif()
  file(GLOB compressions CONFIGURE_DEPENDS ${ddp_algorithms}/*/tests/gpu/*.c)
  foreach(file IN LISTS compressions)
    get_filename_component(name ${file} NAME_WE)
    ddp_gpu_program(compress_${name} ${file})
    target_sources(${label}_compress_${name} PRIVATE gpu/compress.c)
    if(label STREQUAL emulated) # in each order of streams: what is pulled and pushed waits for its queue
      emulated_test(compress.host.${name} $<TARGET_FILE:emulated_compress_${name}> host)
    else()
      ddp_gpu_test(compress.host.${name} "" $<TARGET_FILE:gpu_compress_${name}> host)
    endif()
    foreach(how IN ITEMS nccl mpi)
      ddp_gpu_test(compress.${how}.${name}.n3 "" ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 3 $<TARGET_FILE:${label}_compress_${name}> ${how})
      if(label STREQUAL emulated)
        emulated_test(compress.${how}.${name} ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2 $<TARGET_FILE:emulated_compress_${name}> ${how})
      endif()
    endforeach()
  endforeach()
  if(label STREQUAL emulated) # NCCL has no memory, or registers none, on one rank of two
    foreach(call IN ITEMS ncclMemAlloc ncclCommRegister)
      ddp_gpu_test(sums.${call} "" ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2 $<TARGET_FILE:emulated_sums> nccl any)
      set_property(TEST emulated.sums.${call} APPEND PROPERTY ENVIRONMENT EMULATED_FAIL=${call}:3:1)
    endforeach()
  endif()
  if(label STREQUAL emulated) # the last sum of the first step never arrives: 1 is of attaching, 2 of gradients
    ddp_gpu_program(lost gpu/lost.c)
    foreach(how IN ITEMS resize train infer save)
      ddp_gpu_test(lost.${how} "" ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2 $<TARGET_FILE:emulated_lost>
        ${PROJECT_BINARY_DIR}/darknet-src/cfg/tiny.cfg ${how})
      set_property(TEST emulated.lost.${how} APPEND PROPERTY ENVIRONMENT EMULATED_FAIL=ncclAllReduce/async:3
        EMULATED_ORDER=compute-late EMULATED_DEVICES=2)
      set_tests_properties(emulated.lost.${how} PROPERTIES PASS_REGULAR_EXPRESSION "noticed: .*NCCL: ")
    endforeach()
  endif()
endif()
