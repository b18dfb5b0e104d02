# upstream.NAME: weights files pass between this Darknet and the one without patches/. weights_dump.c is compiled twice,
# against each one's own darknet.h, whose structs differ. For a CPU and not optimised: it only parses and copies.

get_directory_property(darknet_src DIRECTORY ${PROJECT_SOURCE_DIR}/patches DEFINITION darknet_orig)
ddp_makefile_sources(sources OBJ src c) # of the Makefile in ${darknet_src}
add_library(upstream_darknet STATIC ${sources})
target_compile_options(upstream_darknet PRIVATE -w -O0 -fno-sanitize=all)
target_include_directories(upstream_darknet PRIVATE ${darknet_src}/include ${darknet_src}/src)
target_include_directories(upstream_darknet SYSTEM INTERFACE ${darknet_src}/include)
target_link_libraries(upstream_darknet PUBLIC Threads::Threads m)

foreach(side IN ITEMS upstream patched)
  add_executable(weights_dump_${side} upstream/weights_dump.c)
  target_link_libraries(weights_dump_${side} PRIVATE ddp_flags)
endforeach()
target_link_libraries(weights_dump_upstream PRIVATE upstream_darknet)
target_link_libraries(weights_dump_patched PRIVATE darknet_core)

ddp_add_test(upstream.weights upstream usual ${CMAKE_CURRENT_SOURCE_DIR}/upstream/weights.py)
set_property(TEST upstream.weights APPEND PROPERTY ENVIRONMENT DARKNET=$<TARGET_FILE:darknet>
  DARKNET_SRC=${PROJECT_BINARY_DIR}/darknet-src PROJECT_CFG=${PROJECT_SOURCE_DIR}/cfg
  PATCHED=$<TARGET_FILE:weights_dump_patched> UPSTREAM=$<TARGET_FILE:weights_dump_upstream>)
