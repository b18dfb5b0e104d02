# Fuzzing: a harness fuzz_NAME for each file fuzz_NAME.c, and its corpus, corpus/NAME (of cfgs also ../corpus/cfg).
# Here each harness replays its corpus, as the test fuzz.NAME. With clang and -DDDP_SANITIZE=fuzzer-no-link,address,... it is linked
# with libFuzzer and looks for more; scripts/fuzz does that.
add_library(fuzz_replay STATIC ${CMAKE_CURRENT_LIST_DIR}/replay.c)
target_link_libraries(fuzz_replay PRIVATE ddp_flags)
add_library(fuzz_guarded STATIC ${CMAKE_CURRENT_LIST_DIR}/guarded.c)
target_link_libraries(fuzz_guarded PRIVATE ddp_flags darknet_core)
set(guarded_symbols malloc calloc realloc free strdup fopen fclose)
list(TRANSFORM guarded_symbols PREPEND "-Wl,--wrap=")

file(GLOB fuzz_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/fuzz_*.c)
foreach(file IN LISTS fuzz_sources)
  get_filename_component(target ${file} NAME_WE)
  string(REGEX REPLACE "^fuzz_" "" name ${target})
  add_executable(${target} ${file})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_LIST_DIR})
  target_link_libraries(${target} PRIVATE ddp_framework ddp_flags)
  if(NOT name MATCHES "^(state|options)$") # it runs Darknet's code
    target_link_libraries(${target} PRIVATE fuzz_guarded darknet_core)
    target_link_options(${target} PRIVATE ${guarded_symbols})
  endif()
  if(DDP_SANITIZE MATCHES "fuzzer")
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    target_link_libraries(${target} PRIVATE fuzz_replay)
    set(folders ${CMAKE_CURRENT_LIST_DIR}/corpus/${name})
    ddp_add_test(fuzz.${name} fuzz 120 ${target} ${folders})
  endif()
endforeach()
