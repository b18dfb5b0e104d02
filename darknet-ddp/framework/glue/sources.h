/* glue/sources.h: checksums of the source code that this program was built from, and its compiler.
 * glue/sources.cmake defines these texts during the build. */
#ifndef DDP_GLUE_SOURCES_H
#define DDP_GLUE_SOURCES_H

extern const char ddp_source_checksum[];  /* checksum of code in darknet-ddp/, 16 hex digits */
extern const char ddp_darknet_checksum[]; /* checksum of Darknet's source, patched */
/* the C compiler with its version and flags, the processor and the build type, as one text */
extern const char ddp_compiler[];

#endif
