# reference.NAME: networks of YOLOv4's time against numbers that another program computed of the same weights and pictures:
# the families one by one, the cases of single keys by what they are of.
set(forks_backward -Wl,--wrap=backward_batchnorm_layer,--wrap=backward_batchnorm_layer_gpu)
add_executable(reference reference/reference.c reference/forks_backward.c)
target_link_options(reference PRIVATE ${forks_backward})
target_link_libraries(reference PRIVATE darknet_core ddp_flags)

# ddp_reference_test(NAME CASE...)
function(ddp_reference_test name)
  ddp_add_test(reference.${name} reference usual ${CMAKE_CURRENT_SOURCE_DIR}/reference/run.py $<TARGET_FILE:reference> ${ARGN})
  set_property(TEST reference.${name} APPEND PROPERTY ENVIRONMENT PYTHONPATH=${CMAKE_CURRENT_SOURCE_DIR}/python
    DARKNET=$<TARGET_FILE:darknet>)
  ddp_needs_reference(reference.${name})
endfunction()

# ddp_family_test(FAMILY): reference.ranks.FAMILY, the family on several ranks.
function(ddp_family_test family)
  ddp_add_test(reference.ranks.${family} reference "usual again" ${CMAKE_CURRENT_SOURCE_DIR}/reference/ranks.py $<TARGET_FILE:parity> ${family})
  set_property(TEST reference.ranks.${family} APPEND PROPERTY ENVIRONMENT PYTHONPATH=${CMAKE_CURRENT_SOURCE_DIR}/python
    DARKNET=$<TARGET_FILE:darknet>)
  ddp_needs_reference(reference.ranks.${family})
endfunction()

set(reference_families yolov3-tiny yolov3-tiny_3l yolov3-spp yolov3-tiny-prn csresnext50-panet-spp yolov4-tiny yolov4 yolov4-custom
  yolov4-csp yolov4x-mish yolov7 enet-coco efficientnet_b0)
foreach(family IN LISTS reference_families)
  ddp_reference_test(${family} ${family})
  if(DDP_WITH_MPI)
    ddp_family_test(${family})
  endif()
endforeach()
ddp_reference_test(activations act-mish act-swish act-hard_mish act-hard_mish-nobn act-relu6)
ddp_reference_test(route route-g2-0 route-g2-1 route-g2-two)
ddp_reference_test(scale se se-wh sam sam-reused)
ddp_reference_test(convolutional dilation2 groups-depthwise)
ddp_reference_test(shortcut shortcut-leaky shortcut-less shortcut-two shortcut-w-channel-softmax shortcut-w-feature-relu)
ddp_reference_test(maxpool spp pool-2)
ddp_reference_test(yolo.iou y-iou y-giou y-diou y-ciou y-mse y-mse-norm1 y-ciou-norm.07 y-maxdelta1-ciou y-threshkind-giou)
ddp_reference_test(yolo.anchors y-thresh.2 y-thresh.213-ciou y-ignore.35 y-truth.6 y-truth.6-ciou-thresh)
ddp_reference_test(yolo.objectness y-obj.4 y-obj.4-ciou y-smooth y-smooth-thresh.2 y-smooth-truth.55-ciou)
ddp_reference_test(yolo.classes y-cls.5 y-cls.5-counters y-focal y-lse.1)
ddp_reference_test(yolo.coordinates y-sxy1.05 y-sxy2 y-new y-new-ciou)
ddp_reference_test(yolo.like y-like-v4 y-like-csp)
