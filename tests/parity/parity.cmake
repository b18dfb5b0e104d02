# parity.NAME: every cfg that Darknet ships, on 2 ranks and in one process. parity.c says what must be equal.
#
# Inputs are the smallest on which a network still makes sense: BatchNorm of a mini-batch wants several values a
# channel, so the last layers keep 2x2 pixels and mini-batches have 2 images. Learning rates move parameters and do not
# blow up on random labels. Nor do layers need the filters that a real data set does: most networks have a fourth of them, and
# buckets a sixteenth of their size, so that there are as many as otherwise.
file(GLOB parity_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/parity/*.c)
add_executable(parity ${parity_sources})
target_link_libraries(parity PRIVATE ddp_framework darknet_core ddp_flags)
target_link_options(parity PRIVATE $<$<NOT:$<CONFIG:Debug>>:-Ofast> -Wl,--wrap=rand_normal)

ddp_quick_program(parity quick)

# ddp_parity_test(NAME RANKS CFG key=value...): run in Darknet's folder, since cfgs name files in data/. Its class is ${parity_class}.
set(parity_class usual)
function(ddp_parity_test name ranks cfg)
  ddp_add_test(parity.${name} parity ${parity_class} ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:parity>
    ${cfg} ${ARGN})
  set_tests_properties(parity.${name} PROPERTIES WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/darknet-src)
endfunction()

set(thin thin=4 bucket_mib=1.5)
set(less_thin thin=2 bucket_mib=6)
# Those that keep all of their filters.
set(whole cifar.test go go.test gru resnet18 rnn rnn.train tiny writing yolov1-tiny)

# What a cfg needs instead of the usual options; order=darknet where the network bears it (parity.c).
set(small width=64 height=64 batch=4 subdivisions=2 learning_rate=0.001)
set(plain order=darknet batch=4 subdivisions=4)
set(parity_alexnet width=67 height=67 batch=4 subdivisions=4 learning_rate=0.0002)
set(parity_cifar width=16 height=16 batch=4 subdivisions=2 learning_rate=0.001)
set(parity_cifar.test ${parity_cifar})
set(parity_darknet width=128 height=128 batch=8 subdivisions=4 learning_rate=0.001)
set(parity_extraction22k width=32 height=32 batch=8 subdivisions=2 learning_rate=0.001)
set(parity_extraction.conv width=64 height=64 batch=4 subdivisions=4 learning_rate=0.001)
set(parity_go width=9 height=9 batch=4 subdivisions=2 learning_rate=0.001)
set(parity_go.test ${parity_go})
set(parity_jnet-conv ${plain} ${less_thin} width=64 height=64 add_cost=1 learning_rate=0.0001) # ships without a loss
set(parity_rnn batch=16 subdivisions=2 time_steps=3 learning_rate=0.001)
set(parity_rnn.train ${parity_rnn})
set(parity_strided batch=4 subdivisions=4 width=64 height=64 crop=64 learning_rate=0.0001)
set(parity_t1.test batch=4 subdivisions=4 width=64 height=64 learning_rate=0.0001)
set(parity_vgg-16 width=32 height=32 crop=32 batch=4 subdivisions=4 learning_rate=0.0002)
set(parity_vgg-conv ${plain} width=32 height=32 add_cost=1 learning_rate=0.0001) # ships without a loss
set(parity_writing ${plain} width=32 height=32 learning_rate=0.0001)
set(parity_yolov1-tiny width=128 height=128 batch=8 subdivisions=4 learning_rate=0.0001)
set(parity_yolov1 width=128 height=128 batch=4 subdivisions=2 learning_rate=0.0001)

foreach(name IN ITEMS yolo9000 yolov2 yolov2-tiny yolov2-tiny-voc yolov2-voc)
  set(parity_${name} width=64 height=64 batch=4 subdivisions=2 learning_rate=0.0001)
endforeach()

foreach(name IN ITEMS resnext101-32x4d resnext152-32x4d) # have 32 groups of 2 channels
  set(parity_${name} ${small} ${less_thin})
endforeach()

# Impossible on a CPU: Darknet has no backward pass for [gru] there (src/gru_layer.c). -ddp must refuse it; the test then
# counts as skipped.
set(parity_gru refused=1)

file(GLOB shipped CONFIGURE_DEPENDS ${PROJECT_BINARY_DIR}/darknet-src/cfg/*.cfg)
foreach(cfg IN LISTS shipped)
  get_filename_component(name ${cfg} NAME)
  string(REGEX REPLACE "\\.cfg$" "" name ${name})
  if(NOT DEFINED parity_${name})
    set(parity_${name} ${small})
  endif()
  if(NOT name IN_LIST whole AND NOT parity_${name} MATCHES "thin=")
    list(APPEND parity_${name} ${thin})
  endif()
  ddp_parity_test(${name} 2 cfg/${name}.cfg ${parity_${name}})
endforeach()

# What no shipped cfg has.
set(parity_class quick)
set(own ${PROJECT_SOURCE_DIR}/cfg)
foreach(name IN ITEMS layers adam rnn crnn forks)
  ddp_parity_test(own.${name} 2 ${own}/${name}.cfg)
endforeach()
foreach(n IN ITEMS 2 3 4) # one mini-batch, cut into n
  ddp_parity_test(split.plain.n${n} ${n} ${own}/plain.cfg order=darknet)
endforeach()
set(parity_class usual)
ddp_parity_test(split.alexnet 2 cfg/alexnet.cfg width=67 height=67 batch=4 subdivisions=1 learning_rate=0.0001 order=darknet ${thin})
ddp_parity_test(split.writing 2 cfg/writing.cfg width=32 height=32 batch=8 subdivisions=1 learning_rate=0.0001 order=darknet)

# More ranks.
set(few batch=12 subdivisions=12 learning_rate=0.001)
foreach(n IN ITEMS 3 4)
  ddp_parity_test(ranks.tiny.n${n} ${n} cfg/tiny.cfg width=64 height=64 ${few} ${thin})
  ddp_parity_test(ranks.yolov3-tiny.n${n} ${n} cfg/yolov3-tiny.cfg width=96 height=96 ${few} ${thin})
  ddp_parity_test(ranks.resnet18.n${n} ${n} cfg/resnet18.cfg width=64 height=64 ${few} ${thin})
  ddp_parity_test(ranks.layers.n${n} ${n} ${own}/layers.cfg batch=48 subdivisions=12)
  ddp_parity_test(ranks.plain.n${n} ${n} ${own}/plain.cfg subdivisions=12)
endforeach()

# Darknet's own order of sums with BatchNorm, at a rate so low that no activation changes sides.
ddp_parity_test(order.cifar 2 cfg/cifar.cfg width=16 height=16 batch=8 subdivisions=4 learning_rate=0.0001 order=darknet ${thin})

# Buckets of 0.01, 1 and 25 MiB, deferred ones, with and without overlap, must give the same bits.
ddp_parity_test(buckets.resnet18 2 cfg/resnet18.cfg ${small} ${less_thin} variants=1)
ddp_parity_test(buckets.yolov3-tiny 2 cfg/yolov3-tiny.cfg ${small} ${thin} variants=1)
ddp_parity_test(buckets.layers.n3 3 ${own}/layers.cfg batch=24 subdivisions=6 variants=1)

# Gradients of 16 bits: what ranks make of them is what one process does that rounds each rank's, and each sum of the tree.
foreach(wire IN ITEMS bf16 fp16)
  ddp_parity_test(wire.${wire}.resnet18 2 cfg/resnet18.cfg ${small} ${thin} wire=${wire} variants=1)
  ddp_parity_test(wire.${wire}.layers.n3 3 ${own}/layers.cfg batch=24 subdivisions=6 wire=${wire} variants=1)
  ddp_parity_test(wire.${wire}.yolov3-tiny.n4 4 cfg/yolov3-tiny.cfg width=96 height=96 ${few} ${thin} wire=${wire})
endforeach()

# Options that change what an update is.
ddp_parity_test(sync_every.plain 2 ${own}/plain.cfg subdivisions=4 sync_every=3 order=darknet)
ddp_parity_test(sync_every.adam 2 ${own}/adam.cfg sync_every=3 order=darknet)
ddp_parity_test(batch_rank.plain 2 ${own}/plain.cfg rank_mode=1 order=darknet learning_rate=0.002)
ddp_parity_test(batch_rank.resnet18.n3 3 cfg/resnet18.cfg ${small} ${thin} rank_mode=1)

# BatchNorm over all ranks: a mini-batch that is cut over them is normalised as one process does, which has it whole.
# smooth=1: elu for leaky, since rounding decides on which side of leaky's kink a value is. The rate moves a scale by far
# more than the distance of two floats.
ddp_parity_test(sync_bn.cifar 2 cfg/cifar.cfg width=16 height=16 batch=8 subdivisions=1 learning_rate=0.001 sync_bn=1 smooth=1 ${thin})
foreach(n IN ITEMS 2 4) # of 4, each has one image at a time
  ddp_parity_test(sync_bn.resnet18.n${n} ${n} cfg/resnet18.cfg width=64 height=64 batch=8 subdivisions=1 learning_rate=0.0001 updates=2 sync_bn=1 ${thin})
  ddp_parity_test(sync_bn.yolov3-tiny.n${n} ${n} cfg/yolov3-tiny.cfg width=64 height=64 batch=4 subdivisions=1 learning_rate=0.0001 updates=3 sync_bn=1 ${thin})
endforeach()
ddp_parity_test(sync_bn.layers.n3 3 ${own}/layers.cfg batch=12 subdivisions=1 sync_bn=1)
ddp_parity_test(sync_bn.forks 2 ${own}/forks.cfg batch=4 subdivisions=1 sync_bn=1)

# Frozen layers: stopbackward=1 in the middle.
ddp_parity_test(frozen.yolov3-tiny 2 cfg/yolov3-tiny.cfg ${small} ${thin} frozen=8)
ddp_parity_test(frozen.resnet18 2 cfg/resnet18.cfg ${small} ${thin} frozen=14)
ddp_parity_test(frozen.layers.n3 3 ${own}/layers.cfg batch=24 subdivisions=6 frozen=4)

# Layers that backward skips: on one rank, on all, in one mini-batch of each rank; from the third update on.
set(skipping ${thin} batch=8 subdivisions=4 skip_from=2)
set(args 2 cfg/yolov3-tiny.cfg width=64 height=64 learning_rate=0.001 ${skipping} skip_layer=9)
ddp_parity_test(skip.one_rank ${args} skip_rank=1)
ddp_parity_test(skip.all_ranks ${args})
ddp_parity_test(skip.early ${args} skip_mini_batch=0)
ddp_parity_test(skip.late ${args} skip_mini_batch=1)
ddp_parity_test(skip.one_rank_early ${args} skip_rank=0 skip_mini_batch=0)
ddp_parity_test(skip.one_rank_late ${args} skip_rank=0 skip_mini_batch=1)
set(args 2 cfg/resnet18.cfg width=64 height=64 learning_rate=0.001 ${skipping} skip_layer=9)
ddp_parity_test(skip.one_rank.resnet18 ${args} skip_rank=1)
ddp_parity_test(skip.all_ranks.resnet18 ${args})
ddp_parity_test(skip.one_rank.layers.n4 4 ${own}/layers.cfg batch=32 subdivisions=8 skip_layer=5 skip_rank=2)
ddp_parity_test(skip.always.layers.n4 4 ${own}/layers.cfg batch=32 subdivisions=8 skip_layer=5)
