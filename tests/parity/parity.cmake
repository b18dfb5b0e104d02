file(GLOB parity_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/parity/*.c)
add_executable(parity ${parity_sources})
target_link_libraries(parity PRIVATE ddp_glue darknet_core ddp_flags)
target_link_options(parity PRIVATE $<$<NOT:$<CONFIG:Debug>>:-Ofast>)
