# cmake -DOUT=FILE -DOURS=DIR -DDARKNET=DIR -DCOMPILER=TEXT -P sources.cmake: write FILE, the values of glue/sources.h.

# checksum(OUT DIR PATTERN...): of names and contents of the files below DIR.
function(checksum out dir)
  list(TRANSFORM ARGN PREPEND ${dir}/)
  file(GLOB_RECURSE files RELATIVE ${dir} ${ARGN})
  list(SORT files)
  set(all "")
  foreach(name IN LISTS files)
    file(SHA256 ${dir}/${name} hash)
    string(APPEND all "${name} ${hash}\n")
  endforeach()
  string(SHA256 hash "${all}")
  string(SUBSTRING ${hash} 0 16 hash)
  set(${out} ${hash} PARENT_SCOPE)
endfunction()

checksum(ours ${OURS} *.c *.cpp *.h *.cu *.def *.html)
checksum(darknet ${DARKNET} src/*.c src/*.h src/*.cu include/*.h examples/*.c)
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [[
#include "glue/sources.h"

const char ddp_source_checksum[] = "@ours@";
const char ddp_darknet_checksum[] = "@darknet@";
const char ddp_compiler[] = "@COMPILER@";
]])
