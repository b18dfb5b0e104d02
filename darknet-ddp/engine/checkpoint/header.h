/* checkpoint/header.h: the text at the head of a state file. For checkpoint/state_file.c alone. */
#ifndef DDP_CHECKPOINT_HEADER_H
#define DDP_CHECKPOINT_HEADER_H

#include "checkpoint/checkpoint.h"

enum { DDP_HEADER_BYTES = 16384 }; /* most bytes of a header, and room for one */

/* Sizes of what follows the header: the cfg's bytes, the number of arrays, and the bytes of the cfg
 * and all arrays together, with the record before each. The hash at the end is not counted. */
typedef struct ddp_header_body {
    uint64_t cfg_bytes, arrays, bytes;
} ddp_header_body;

/* Write the header to text[0..DDP_HEADER_BYTES). Returns its length in bytes. */
size_t ddp_header_format(char *text, const ddp_checkpoint_metadata *metadata,
                         const ddp_header_body *body);

/* Parse the header at the start of text[0..size), which may be any bytes, and set *length to its
 * bytes. Fails with DDP_ERR_FORMAT, which says what is wrong. */
ddp_status ddp_header_parse(const char *text, size_t size, ddp_checkpoint_metadata *metadata,
                            ddp_header_body *body, size_t *length, ddp_error *err) DDP_MUST_CHECK;

#endif
