/* glue/sources.h: checksums of the source that this program was built of. glue/sources.cmake writes
 * the values while it is built. */
#ifndef DDP_GLUE_SOURCES_H
#define DDP_GLUE_SOURCES_H

extern const char ddp_source_checksum[];  /* checksum of darknet-ddp/ */
extern const char ddp_darknet_checksum[]; /* checksum of Darknet's source, patched */
extern const char ddp_compiler[];         /* the compilers and their flags */

#endif
