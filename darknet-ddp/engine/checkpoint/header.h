/* checkpoint/header.h: formats and parses the header of a state file, which is text. Only
 * checkpoint/state_file.c uses it. */
#ifndef DDP_CHECKPOINT_HEADER_H
#define DDP_CHECKPOINT_HEADER_H

#include "checkpoint/checkpoint.h"

enum { DDP_HEADER_BYTES = 16384 }; /* most bytes of a header */

/* Sizes of what follows the header. */
typedef struct ddp_header_body {
    uint64_t cfg_bytes; /* bytes of the cfg */
    uint64_t arrays;    /* number of arrays */
    uint64_t bytes;     /* bytes of the cfg and of all arrays with their records */
} ddp_header_body;

/* Write a header to text[0..DDP_HEADER_BYTES). Returns its length in bytes. */
size_t ddp_header_format(char *text, const ddp_checkpoint_metadata *metadata,
                         const ddp_header_body *body);

/* Parse the header at the start of text[0..size), which may be any bytes, and set *length to its
 * length in bytes. Fails with DDP_ERR_FORMAT, and leaves *metadata and *body as they are. */
ddp_status ddp_header_parse(const char *text, size_t size, ddp_checkpoint_metadata *metadata,
                            ddp_header_body *body, size_t *length, ddp_error *err) DDP_MUST_CHECK;

#endif
