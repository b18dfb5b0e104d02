/* checkpoint/state_format.h: what stands before an array's floats in a state file. Of
 * checkpoint/checkpoint.c, which writes them, and checkpoint/read.c. */
#ifndef DDP_CHECKPOINT_STATE_FORMAT_H
#define DDP_CHECKPOINT_STATE_FORMAT_H

#include <stdint.h>

enum { DDP_RECORD_PART_BYTES = 32, DDP_RECORD_NAME_BYTES = 16 };

typedef struct ddp_state_array_header {
    uint32_t layer, zero;
    uint64_t count;
    char part[DDP_RECORD_PART_BYTES], name[DDP_RECORD_NAME_BYTES];
} ddp_state_array_header;

_Static_assert(sizeof(ddp_state_array_header) == 64, "the record is written as it is in memory");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are little endian");

#endif
