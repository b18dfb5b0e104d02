# Weights for networks that nobody trained, for run.export.
add_executable(random_weights ${CMAKE_CURRENT_SOURCE_DIR}/onnx/random_weights.c)
target_link_libraries(random_weights PRIVATE ddp_framework darknet_core ddp_flags)
target_link_options(random_weights PRIVATE $<$<NOT:$<CONFIG:Debug>>:-Ofast>)
ddp_needs_reference(run.export)
set_property(TEST run.export APPEND PROPERTY ENVIRONMENT RANDOM_WEIGHTS=$<TARGET_FILE:random_weights>)
